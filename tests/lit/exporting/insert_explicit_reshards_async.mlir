// RUN: sdy-opt %s -sdy-insert-explicit-reshards=enable-full-version=true 2>/dev/null | FileCheck %s

// The body of an asynchronous operation has one operation and no reshards. A sharding that is compatible with that of
// the operand stays.

sdy.mesh @mesh = <["x"=2]>

// CHECK-LABEL: func.func @compatible
// CHECK: stablehlo.slice %arg1 [0:8] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>}
func.func @compatible(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> !stablehlo.future<tensor<8xf32>> {
  %0 = "stablehlo.async_start"(%a) ({
  ^bb0(%b: tensor<8xf32>):
    %1 = stablehlo.slice %b [0:8] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : (tensor<8xf32>) -> tensor<8xf32>
    stablehlo.return %1 : tensor<8xf32>
  }) : (tensor<8xf32>) -> !stablehlo.future<tensor<8xf32>>
  return %0 : !stablehlo.future<tensor<8xf32>>
}

// One that is not is removed.
// CHECK-LABEL: func.func @incompatible
// CHECK: stablehlo.slice %arg1 [0:8] : (tensor<8xf32>) -> tensor<8xf32>
func.func @incompatible(%a: tensor<8xf32>) -> !stablehlo.future<tensor<8xf32>> {
  %0 = "stablehlo.async_start"(%a) ({
  ^bb0(%b: tensor<8xf32>):
    %1 = stablehlo.slice %b [0:8] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : (tensor<8xf32>) -> tensor<8xf32>
    stablehlo.return %1 : tensor<8xf32>
  }) : (tensor<8xf32>) -> !stablehlo.future<tensor<8xf32>>
  return %0 : !stablehlo.future<tensor<8xf32>>
}
