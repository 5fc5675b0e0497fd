// RUN: sdy-opt %s -sdy-basic-propagate | FileCheck %s

// Nothing propagates through a call of X64Combine that feeds an rng_bit_generator. As in C++, this stays so after
// propagation has erased the dead rng_bit_generator.
sdy.mesh @mesh = <["x"=2]>

// CHECK: func.func @main(%arg0: tensor<2xui32>)
// CHECK-NEXT: %0 = stablehlo.custom_call @X64Combine(%arg0, %arg0) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x", ?}]>]>}
// CHECK-NEXT: %1 = stablehlo.negate %0
func.func @main(%a: tensor<2xui32>) -> tensor<2xui64> {
  %0 = stablehlo.custom_call @X64Combine(%a, %a) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{?}]>]>} : (tensor<2xui32>, tensor<2xui32>) -> tensor<2xui64>
  %state, %bits = stablehlo.rng_bit_generator %0, algorithm = DEFAULT : (tensor<2xui64>) -> (tensor<2xui64>, tensor<16xui32>)
  %1 = stablehlo.negate %0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : tensor<2xui64>
  return %1 : tensor<2xui64>
}
