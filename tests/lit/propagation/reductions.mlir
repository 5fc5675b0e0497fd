// RUN: sdy-opt %s -sdy-user-priority-propagate | filecheck %s

// Propagation does not propagate unreduced axes; a value keeps its own, with their kind of reduction.

sdy.mesh @mesh = <["x"=2, "y"=2, "z"=2]>

// Both are kept while the priority defers "x", and when the shardings of the addition are updated.
// CHECK-LABEL: func.func @main(
// CHECK-SAME: %arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", ?}, {"y", ?}], unreduced=max{"z"}>}
// CHECK-SAME: %arg1: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", ?}, {"y", ?}]>}
// CHECK-NEXT: stablehlo.add {{.*}}[<@mesh, [{"x", ?}, {"y", ?}], unreduced=min{"z"}>]
func.func @main(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", ?}p1, {?}], unreduced=max{"z"}>},
                %b: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {"y", ?}]>}) -> tensor<8x8xf32> {
  %0 = stablehlo.add %a, %b {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{?}, {?}], unreduced=min{"z"}>]>} : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}
