// RUN: sdy-opt %s -sdy-resolve-permutation-factors | filecheck %s

sdy.mesh @mesh = <["x"=2, "y"=2]>

// A barrier is removed. Explicit reshards have looked through it, so only the function needs its sharding.
// CHECK-LABEL: func.func @barrier
// CHECK-NEXT: %0 = sdy.reshard %arg0 <@mesh, [{"y"}]> : tensor<8xf32>
// CHECK-NEXT: %1 = stablehlo.negate %arg0
// CHECK-NEXT: return %0, %1
func.func @barrier(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>}, tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  %0 = sdy.propagation_barrier %a allowed_direction=NONE {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}]>]>} : tensor<8xf32>
  %1 = stablehlo.negate %0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : tensor<8xf32>
  return %0, %1 : tensor<8xf32>, tensor<8xf32>
}

// The body of an asynchronous operation consists of one operation: the operand is replicated outside.
// CHECK-LABEL: func.func @asynchronous
// CHECK-NEXT: %0 = sdy.reshard %arg0 <@mesh, [{}]> : tensor<8xf32>
// CHECK-NEXT: %1 = "stablehlo.async_start"(%0) ({
// CHECK-NEXT: ^bb0(%arg1: tensor<8xf32>):
// CHECK-NEXT: %3 = stablehlo.slice %arg1 [0:8]
func.func @asynchronous(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<8xf32> {
  %0 = "stablehlo.async_start"(%a) ({
  ^bb0(%b: tensor<8xf32>):
    %2 = stablehlo.slice %b [0:8] : (tensor<8xf32>) -> tensor<8xf32>
    stablehlo.return %2 : tensor<8xf32>
  }) : (tensor<8xf32>) -> !stablehlo.future<tensor<8xf32>>
  %1 = "stablehlo.async_done"(%0) : (!stablehlo.future<tensor<8xf32>>) -> tensor<8xf32>
  return %1 : tensor<8xf32>
}

// A reshard of a barrier is one of its input: explicit reshards have looked through the barrier.
// CHECK-LABEL: func.func @reshard_of_barrier
// CHECK-NEXT: %0 = sdy.reshard %arg0 <@mesh, [{"y"}]> : tensor<8xf32>
// CHECK-NEXT: return %0
func.func @reshard_of_barrier(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>}) {
  %0 = sdy.propagation_barrier %a allowed_direction=NONE {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}], unreduced={"y"}>]>} : tensor<8xf32>
  %1 = sdy.reshard %0 <@mesh, [{"y"}]> : tensor<8xf32>
  return %1 : tensor<8xf32>
}
