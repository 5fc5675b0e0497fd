// RUN: sdy-opt %s -sdy-insert-explicit-reshards=enable-full-version=true | filecheck %s

sdy.mesh @mesh = <["x"=4, "y"=2]>

// The reduced dimension is sharded, so the result is all-reduced.
// CHECK-LABEL: func.func @reduce
// CHECK-NEXT: %0 = stablehlo.reduce(%arg0 init: %arg1) applies stablehlo.add across dimensions = [1] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}]>]>}
// CHECK-NEXT: %1 = sdy.all_reduce {"x"} %0 out_sharding=<@mesh, [{"y"}]>
// CHECK-NEXT: return %1
func.func @reduce(%a: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {"x"}]>}, %zero: tensor<f32>) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>}) {
  %0 = stablehlo.reduce(%a init: %zero) applies stablehlo.add across dimensions = [1] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}]>]>} : (tensor<8x16xf32>, tensor<f32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// The operand is larger, so the result is resharded after the all-reduce.
// CHECK-LABEL: func.func @result_follows
// CHECK-NEXT: %0 = stablehlo.reduce(%arg0 init: %arg1) applies stablehlo.add across dimensions = [1] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}]>]>}
// CHECK-NEXT: %1 = sdy.all_reduce {"x"} %0 out_sharding=<@mesh, [{}]>
// CHECK-NEXT: %2 = sdy.reshard %1 <@mesh, [{"x"}]>
// CHECK-NEXT: return %2
func.func @result_follows(%a: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}, %zero: tensor<f32>) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  %0 = stablehlo.reduce(%a init: %zero) applies stablehlo.add across dimensions = [1] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : (tensor<8x16xf32>, tensor<f32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// Every result of a variadic reduction is all-reduced.
// CHECK-LABEL: func.func @several
// CHECK-NEXT: %0:2 = stablehlo.reduce(%arg0 init: %arg2), (%arg1 init: %arg2) across dimensions = [1]
// CHECK-NEXT: reducer(%arg3: tensor<f32>, %arg5: tensor<f32>) (%arg4: tensor<f32>, %arg6: tensor<f32>)  {
// CHECK-NEXT: %3 = stablehlo.add %arg3, %arg5
// CHECK-NEXT: %4 = stablehlo.add %arg4, %arg6
// CHECK-NEXT: stablehlo.return %3, %4
// CHECK-NEXT: }
// CHECK-NEXT: %1 = sdy.all_reduce {"x"} %0#0 out_sharding=<@mesh, [{}]>
// CHECK-NEXT: %2 = sdy.all_reduce {"x"} %0#1 out_sharding=<@mesh, [{}]>
// CHECK-NEXT: return %1, %2
func.func @several(%a: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}, %b: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}, %zero: tensor<f32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0:2 = stablehlo.reduce(%a init: %zero), (%b init: %zero) across dimensions = [1] : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<f32>, tensor<f32>) -> (tensor<4xf32>, tensor<4xf32>)
    reducer(%c: tensor<f32>, %d: tensor<f32>) (%e: tensor<f32>, %f: tensor<f32>) {
    %1 = stablehlo.add %c, %d : tensor<f32>
    %2 = stablehlo.add %e, %f : tensor<f32>
    stablehlo.return %1, %2 : tensor<f32>, tensor<f32>
  }
  return %0#0, %0#1 : tensor<4xf32>, tensor<4xf32>
}

// A scalar result is all-reduced too.
// CHECK-LABEL: func.func @to_a_scalar
// CHECK-NEXT: %0 = stablehlo.reduce(%arg0 init: %arg1) applies stablehlo.maximum across dimensions = [0]
// CHECK-NEXT: %1 = sdy.all_reduce {"x", "y"} %0 out_sharding=<@mesh, []>
// CHECK-NEXT: return %1
func.func @to_a_scalar(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}]>}, %zero: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.reduce(%a init: %zero) applies stablehlo.maximum across dimensions = [0] : (tensor<8xf32>, tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}
