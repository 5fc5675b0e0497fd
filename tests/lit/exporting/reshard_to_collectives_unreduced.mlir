// RUN: sdy-opt %s -sdy-reshard-to-collectives | filecheck %s

// Unreduced axes: left as the target has them.

sdy.mesh @mesh = <["x"=2, "y"=2, "z"=2]>

// What is yet to be summed remains so, at every step.
// CHECK-LABEL: func.func @kept
// CHECK-NEXT: %0 = sdy.all_slice [{}, {"y"}] %arg0 out_sharding=<@mesh, [{"x"}, {"y"}], unreduced={"z"}>
// CHECK-NEXT: %1 = sdy.all_gather [{"x"}, {}] %0 out_sharding=<@mesh, [{}, {"y"}], unreduced={"z"}>
// CHECK-NEXT: return %1
func.func @kept(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}], unreduced={"z"}>}) -> tensor<8x8xf32> {
  %0 = sdy.reshard %a <@mesh, [{}, {"y"}], unreduced={"z"}> : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// A target that is not split is closed and no more: its unreduced axes are not looked at.
// CHECK-LABEL: func.func @dropped_when_gathered
// CHECK-NEXT: %0 = sdy.all_gather [{"x"}, {}] %arg0 out_sharding=<@mesh, [{}, {}]>
// CHECK-NEXT: return %0
func.func @dropped_when_gathered(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}], unreduced={"z"}>}) -> tensor<8x8xf32> {
  %0 = sdy.reshard %a <@mesh, [{}, {}], unreduced={"z"}> : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// If no dimension changes, nothing is done, even if unreduced axes do change: the sum would have been an
// all-reduce before.
// CHECK-LABEL: func.func @not_turned_into_a_sum
// CHECK-NEXT: return %arg0
func.func @not_turned_into_a_sum(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}], unreduced={"z"}>}) -> tensor<8x8xf32> {
  %0 = sdy.reshard %a <@mesh, [{"x"}, {}]> : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}
