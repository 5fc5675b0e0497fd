// RUN: sdy-opt %s -sdy-merge-all-reduces | filecheck %s
// RUN: sdy-opt %s -sdy-merge-all-reduces=slices-before=transposes | filecheck %s --check-prefix=TRANSPOSES

sdy.mesh @mesh = <["x"=4, "y"=2]>

// Terms of a sum are added before they are all-reduced. The whole term is added afterwards.
// CHECK-LABEL: func.func @sum(
// CHECK:         %[[A:.*]] = stablehlo.dot_general {{.*}}<@mesh, [{}, {}], unreduced={"x"}>
// CHECK:         %[[B:.*]] = stablehlo.dot_general {{.*}}<@mesh, [{}, {}], unreduced={"x"}>
// CHECK-NEXT:    %[[T:.*]] = stablehlo.transpose %[[B]], dims = [1, 0] {{.*}}unreduced={"x"}
// CHECK-NEXT:    %[[P:.*]] = stablehlo.add %[[A]], %[[T]] {{.*}}unreduced={"x"}
// CHECK-NEXT:    %[[R:.*]] = sdy.all_reduce {"x"} %[[P]] out_sharding=<@mesh, [{}, {}]>
// CHECK-NEXT:    %[[S:.*]] = stablehlo.add %arg3, %[[R]]
// CHECK-NEXT:    return %[[S]]
func.func @sum(%a: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}, %b: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %c: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %d: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) -> tensor<8x8xf32> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>} : (tensor<8x16xf32>, tensor<16x8xf32>) -> tensor<8x8xf32>
  %1 = sdy.all_reduce {"x"} %0 out_sharding=<@mesh, [{}, {}]> : tensor<8x8xf32>
  %2 = stablehlo.dot_general %a, %c, contracting_dims = [1] x [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>} : (tensor<8x16xf32>, tensor<16x8xf32>) -> tensor<8x8xf32>
  %3 = sdy.all_reduce {"x"} %2 out_sharding=<@mesh, [{}, {}]> : tensor<8x8xf32>
  %4 = stablehlo.transpose %3, dims = [1, 0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>} : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %5 = stablehlo.add %1, %d {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>} : tensor<8x8xf32>
  %6 = stablehlo.add %5, %4 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>} : tensor<8x8xf32>
  return %6 : tensor<8x8xf32>
}

// Not merged: a sum with another use, and all-reduces along other axes.
// CHECK-LABEL: func.func @others(
// CHECK-COUNT-2: sdy.all_reduce
// CHECK:         stablehlo.add
// CHECK-NOT:     unreduced
func.func @others(%a: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}, %b: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %c: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}]>}, %d: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>} : (tensor<8x16xf32>, tensor<16x8xf32>) -> tensor<8x8xf32>
  %1 = sdy.all_reduce {"x"} %0 out_sharding=<@mesh, [{}, {}]> : tensor<8x8xf32>
  %2 = stablehlo.dot_general %c, %d, contracting_dims = [1] x [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>} : (tensor<8x16xf32>, tensor<16x8xf32>) -> tensor<8x8xf32>
  %3 = sdy.all_reduce {"y"} %2 out_sharding=<@mesh, [{}, {}]> : tensor<8x8xf32>
  %4 = stablehlo.add %1, %3 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>} : tensor<8x8xf32>
  return %4, %1 : tensor<8x8xf32>, tensor<8x8xf32>
}

// A maximum is not a sum.
// CHECK-LABEL: func.func @maxima(
// CHECK-COUNT-2: sdy.all_reduce
func.func @maxima(%a: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}, %b: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}) -> tensor<8xf32> {
  %cst = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%a init: %cst) applies stablehlo.maximum across dimensions = [1] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}]>]>} : (tensor<8x16xf32>, tensor<f32>) -> tensor<8xf32>
  %1 = sdy.all_reduce {"x"} %0 out_sharding=<@mesh, [{}]> : tensor<8xf32>
  %2 = stablehlo.reduce(%b init: %cst) applies stablehlo.maximum across dimensions = [1] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}]>]>} : (tensor<8x16xf32>, tensor<f32>) -> tensor<8xf32>
  %3 = sdy.all_reduce {"x"} %2 out_sharding=<@mesh, [{}]> : tensor<8xf32>
  %4 = stablehlo.add %1, %3 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}]>]>} : tensor<8xf32>
  return %4 : tensor<8xf32>
}

// Slices are all-reduced instead of the whole.
// CHECK-LABEL: func.func @slice(
// CHECK:         %[[S:.*]] = sdy.all_slice [{"y"}, {}] %0 out_sharding=<@mesh, [{"y"}, {}]>
// CHECK-NEXT:    sdy.all_reduce {"x"} %[[S]] out_sharding=<@mesh, [{"y"}, {}]>
func.func @slice(%a: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}, %b: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<8x8xf32> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>} : (tensor<8x16xf32>, tensor<16x8xf32>) -> tensor<8x8xf32>
  %1 = sdy.all_reduce {"x"} %0 out_sharding=<@mesh, [{}, {}]> : tensor<8x8xf32>
  %2 = sdy.all_slice [{"y"}, {}] %1 out_sharding=<@mesh, [{"y"}, {}]> : tensor<8x8xf32>
  return %2 : tensor<8x8xf32>
}

// Of an all-reduce along the axes of the slice and others, the first becomes a reduce-scatter.
// CHECK-LABEL: func.func @scatter(
// CHECK:         stablehlo.dot_general {{.*}}unreduced={"x", "y"}
// CHECK-NEXT:    %[[S:.*]] = sdy.reduce_scatter [{"y"}, {}] %0 out_sharding=<@mesh, [{"y"}, {}], unreduced={"x"}>
// CHECK-NEXT:    sdy.all_reduce {"x"} %[[S]] out_sharding=<@mesh, [{"y"}, {}]>
func.func @scatter(%a: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x", "y"}]>}, %b: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}, {}]>}) -> tensor<8x8xf32> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>} : (tensor<8x16xf32>, tensor<16x8xf32>) -> tensor<8x8xf32>
  %1 = sdy.all_reduce {"x", "y"} %0 out_sharding=<@mesh, [{}, {}]> : tensor<8x8xf32>
  %2 = sdy.all_slice [{"y"}, {}] %1 out_sharding=<@mesh, [{"y"}, {}]> : tensor<8x8xf32>
  return %2 : tensor<8x8xf32>
}

// The gradient of a table that is looked up and multiplied with, as a language model does whose embeddings are tied.
// CHECK-LABEL: func.func @tied(
// CHECK:         "stablehlo.scatter"
// CHECK:         unreduced={"x"}
// CHECK:         stablehlo.dot_general {{.*}}unreduced={"x"}
// CHECK-NEXT:    %[[P:.*]] = stablehlo.add {{.*}}unreduced={"x"}
// CHECK-NEXT:    %[[S:.*]] = sdy.reduce_scatter [{}, {"x"}] %[[P]] out_sharding=<@mesh, [{}, {"x"}]>
// CHECK-NEXT:    return %[[S]]
func.func @tied(%a: tensor<32x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %b: tensor<32x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %i: tensor<32x1xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<8x16xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<8x16xf32>
  %0 = "stablehlo.scatter"(%zero, %i, %a) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%l: tensor<f32>, %r: tensor<f32>):
    %s = stablehlo.add %l, %r : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>} : (tensor<8x16xf32>, tensor<32x1xi32>, tensor<32x16xf32>) -> tensor<8x16xf32>
  %1 = sdy.all_reduce {"x"} %0 out_sharding=<@mesh, [{}, {}]> : tensor<8x16xf32>
  %2 = stablehlo.dot_general %b, %a, contracting_dims = [0] x [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>} : (tensor<32x8xf32>, tensor<32x16xf32>) -> tensor<8x16xf32>
  %3 = sdy.all_reduce {"x"} %2 out_sharding=<@mesh, [{}, {}]> : tensor<8x16xf32>
  %4 = stablehlo.add %1, %3 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>} : tensor<8x16xf32>
  %5 = sdy.all_slice [{}, {"x"}] %4 out_sharding=<@mesh, [{}, {"x"}]> : tensor<8x16xf32>
  return %5 : tensor<8x16xf32>
}

// One element in four shards is summed; of four elements, each shard has one.
// CHECK-LABEL: func.func @few_elements(
// CHECK:         %[[P:.*]] = sdy.sharded_to_unreduced [{"x"}, {}] %{{.*}} out_sharding=<@mesh, [{}, {}], unreduced={"x"}> : tensor<1x8xf32>
// CHECK-NEXT:    sdy.all_reduce {"x"} %[[P]] out_sharding=<@mesh, [{}, {}]> : tensor<1x8xf32>
// CHECK:         sdy.all_gather
func.func @few_elements(%a: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<1x8xf32>, tensor<4x8xf32>) {
  %0 = stablehlo.slice %a [0:1, 0:8] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : (tensor<4x8xf32>) -> tensor<1x8xf32>
  %1 = sdy.all_gather [{"x"}, {}] %0 out_sharding=<@mesh, [{}, {}]> : tensor<1x8xf32>
  %2 = sdy.all_gather [{"x"}, {}] %a out_sharding=<@mesh, [{}, {}]> : tensor<4x8xf32>
  return %1, %2 : tensor<1x8xf32>, tensor<4x8xf32>
}

// Of a transposed sum, too, as the gradient of a weight is that a program gathers.
// CHECK-LABEL: func.func @transposed_slice(
// CHECK:         stablehlo.dot_general {{.*}}unreduced={"x"}
// CHECK-NEXT:    %[[S:.*]] = sdy.reduce_scatter [{}, {"x"}] %0 out_sharding=<@mesh, [{}, {"x"}]> : tensor<8x16xf32>
// CHECK-NEXT:    %[[T:.*]] = stablehlo.transpose %[[S]], dims = [1, 0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>}
// CHECK-NEXT:    return %[[T]]
func.func @transposed_slice(%a: tensor<8x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}, %b: tensor<32x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<16x8xf32> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>} : (tensor<8x32xf32>, tensor<32x16xf32>) -> tensor<8x16xf32>
  %1 = sdy.all_reduce {"x"} %0 out_sharding=<@mesh, [{}, {}]> : tensor<8x16xf32>
  %2 = stablehlo.transpose %1, dims = [1, 0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>} : (tensor<8x16xf32>) -> tensor<16x8xf32>
  %3 = sdy.all_slice [{"x"}, {}] %2 out_sharding=<@mesh, [{"x"}, {}]> : tensor<16x8xf32>
  return %3 : tensor<16x8xf32>
}

// Dimensions move as three transposes say, in whole.
// CHECK-LABEL: func.func @rotated_slice(
// CHECK:         %[[S:.*]] = sdy.all_slice [{"y"}, {}, {}] %0 out_sharding=<@mesh, [{"y"}, {}, {}]> : tensor<8x16x4xf32>
// CHECK-NEXT:    sdy.all_reduce {"x"} %[[S]] out_sharding=<@mesh, [{"y"}, {}, {}]>
// CHECK-NEXT:    stablehlo.transpose {{.*}}, dims = [1, 2, 0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}, {"y"}]>]>}
// CHECK-NEXT:    stablehlo.transpose {{.*}}, dims = [2, 1, 0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}, {}, {}]>]>}
func.func @rotated_slice(%a: tensor<8x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}, %b: tensor<32x16x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}, {}]>}) -> tensor<8x4x16xf32> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}, {}]>]>} : (tensor<8x32xf32>, tensor<32x16x4xf32>) -> tensor<8x16x4xf32>
  %1 = sdy.all_reduce {"x"} %0 out_sharding=<@mesh, [{}, {}, {}]> : tensor<8x16x4xf32>
  %2 = stablehlo.transpose %1, dims = [1, 2, 0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}, {}]>]>} : (tensor<8x16x4xf32>) -> tensor<16x4x8xf32>
  %3 = stablehlo.transpose %2, dims = [2, 1, 0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}, {}]>]>} : (tensor<16x4x8xf32>) -> tensor<8x4x16xf32>
  %4 = sdy.all_slice [{"y"}, {}, {}] %3 out_sharding=<@mesh, [{"y"}, {}, {}]> : tensor<8x4x16xf32>
  return %4 : tensor<8x4x16xf32>
}

// A slice is done before a conversion, too.
// CHECK-LABEL: func.func @converted_slice(
// CHECK:         %[[S:.*]] = sdy.reduce_scatter [{"x"}, {}] %0 out_sharding=<@mesh, [{"x"}, {}]> : tensor<8x16xbf16>
// CHECK-NEXT:    stablehlo.convert %[[S]] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>}
// TRANSPOSES-LABEL: func.func @converted_slice(
// TRANSPOSES:         sdy.all_reduce
// TRANSPOSES:         sdy.all_slice
func.func @converted_slice(%a: tensor<8x32xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}, %b: tensor<32x16xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<8x16xf32> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>} : (tensor<8x32xbf16>, tensor<32x16xbf16>) -> tensor<8x16xbf16>
  %1 = sdy.all_reduce {"x"} %0 out_sharding=<@mesh, [{}, {}]> : tensor<8x16xbf16>
  %2 = stablehlo.convert %1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>} : (tensor<8x16xbf16>) -> tensor<8x16xf32>
  %3 = sdy.all_slice [{"x"}, {}] %2 out_sharding=<@mesh, [{"x"}, {}]> : tensor<8x16xf32>
  return %3 : tensor<8x16xf32>
}
