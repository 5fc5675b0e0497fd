// RUN: sdy-opt %s -sdy-insert-explicit-reshards=enable-full-version | filecheck %s
// RUN: sdy-opt %s -sdy-insert-explicit-reshards=enable-full-version --sdy-version=jaxlib-0.11.2 | filecheck %s --check-prefixes=ALL-REDUCED,KIND
// RUN: sdy-opt %s -sdy-insert-explicit-reshards=enable-full-version --sdy-version=jaxlib-0.10.2 | filecheck %s --check-prefixes=ALL-REDUCED,SUM
// RUN: sdy-opt %s -sdy-insert-explicit-reshards='enable-full-version mark-partial-result-with-unreduced-axes' | filecheck %s --check-prefix=MARKED

sdy.mesh @mesh = <["x"=4]>

// The body of a reduction decides how partial results are combined. In jaxlib 0.10.2, every all-reduce is one of
// sums in name, and partitioning looks for the reduction before it.
// CHECK-LABEL: func @maximum
// KIND-LABEL: func @maximum
// SUM-LABEL: func @maximum
// MARKED-LABEL: func @maximum
func.func @maximum(%a: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %init: tensor<f32>) -> tensor<16xf32> {
  // CHECK: sdy.all_reduce max {"x"} %0 out_sharding=<@mesh, [{}]>
  // KIND: sdy.all_reduce max {"x"} %0 out_sharding=<@mesh, [{}]>
  // SUM: sdy.all_reduce {"x"} %0 out_sharding=<@mesh, [{}]>
  // MARKED: stablehlo.reduce{{.*}} {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}], unreduced=max{"x"}>]>}
  // MARKED-NEXT: sdy.all_reduce max {"x"} %0 out_sharding=<@mesh, [{}]>
  %0 = stablehlo.reduce(%a init: %init) applies stablehlo.maximum across dimensions = [0] : (tensor<8x16xf32>, tensor<f32>) -> tensor<16xf32>
  return %0 : tensor<16xf32>
}

// There is no kind for products. The all-reduce only says that the results are partial.
// CHECK-LABEL: func @product
func.func @product(%a: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %init: tensor<f32>) -> tensor<16xf32> {
  // CHECK: sdy.all_reduce {"x"} %0 out_sharding=<@mesh, [{}]>
  %0 = stablehlo.reduce(%a init: %init) applies stablehlo.multiply across dimensions = [0] : (tensor<8x16xf32>, tensor<f32>) -> tensor<16xf32>
  return %0 : tensor<16xf32>
}

// No all-reduce combines pairs of a maximum and its index. Partitioning gathers them and reduces them again.
// CHECK-LABEL: func @argmax
// CHECK-NOT: sdy.all_reduce
// CHECK: return %0#0, %0#1
// ALL-REDUCED-LABEL: func @argmax
// ALL-REDUCED: sdy.all_reduce {"x"} %0#0 out_sharding=<@mesh, [{}]>
// ALL-REDUCED-NEXT: sdy.all_reduce {"x"} %0#1 out_sharding=<@mesh, [{}]>
func.func @argmax(%a: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %index: tensor<8x16xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %init: tensor<f32>, %zero: tensor<i32>) -> (tensor<16xf32>, tensor<16xi32>) {
  %0:2 = stablehlo.reduce(%a init: %init), (%index init: %zero) across dimensions = [0] : (tensor<8x16xf32>, tensor<8x16xi32>, tensor<f32>, tensor<i32>) -> (tensor<16xf32>, tensor<16xi32>)
    reducer(%x: tensor<f32>, %y: tensor<f32>) (%i: tensor<i32>, %j: tensor<i32>) {
      %1 = stablehlo.compare GE, %x, %y : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %2 = stablehlo.select %1, %x, %y : tensor<i1>, tensor<f32>
      %3 = stablehlo.select %1, %i, %j : tensor<i1>, tensor<i32>
      stablehlo.return %2, %3 : tensor<f32>, tensor<i32>
    }
  return %0#0, %0#1 : tensor<16xf32>, tensor<16xi32>
}

// Two maxima that are independent of each other have a kind.
// CHECK-LABEL: func @two_maxima
func.func @two_maxima(%a: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %b: tensor<8x16xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %init: tensor<f32>, %zero: tensor<i32>) -> (tensor<16xf32>, tensor<16xi32>) {
  // CHECK: sdy.all_reduce max {"x"} %0#0 out_sharding=<@mesh, [{}]>
  // CHECK-NEXT: sdy.all_reduce max {"x"} %0#1 out_sharding=<@mesh, [{}]>
  %0:2 = stablehlo.reduce(%a init: %init), (%b init: %zero) across dimensions = [0] : (tensor<8x16xf32>, tensor<8x16xi32>, tensor<f32>, tensor<i32>) -> (tensor<16xf32>, tensor<16xi32>)
    reducer(%x: tensor<f32>, %y: tensor<f32>) (%i: tensor<i32>, %j: tensor<i32>) {
      %1 = stablehlo.maximum %x, %y : tensor<f32>
      %2 = stablehlo.maximum %i, %j : tensor<i32>
      stablehlo.return %1, %2 : tensor<f32>, tensor<i32>
    }
  return %0#0, %0#1 : tensor<16xf32>, tensor<16xi32>
}

// CHECK-LABEL: func @scatter_minimum
func.func @scatter_minimum(%a: tensor<8xf32>, %i: tensor<4x1xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %u: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<8xf32> {
  // CHECK: sdy.all_reduce min {"x"} %0 out_sharding=<@mesh, [{}]>
  %0 = "stablehlo.scatter"(%a, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %1 = stablehlo.minimum %x, %y : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<8xf32>, tensor<4x1xi32>, tensor<4xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// A scatter of products is left to partitioning.
// CHECK-LABEL: func @scatter_product
// CHECK-NOT: sdy.all_reduce
// ALL-REDUCED-LABEL: func @scatter_product
// ALL-REDUCED: sdy.all_reduce {"x"} %0 out_sharding=<@mesh, [{}]>
func.func @scatter_product(%a: tensor<8xf32>, %i: tensor<4x1xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %u: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<8xf32> {
  %0 = "stablehlo.scatter"(%a, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %1 = stablehlo.multiply %x, %y : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<8xf32>, tensor<4x1xi32>, tensor<4xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
