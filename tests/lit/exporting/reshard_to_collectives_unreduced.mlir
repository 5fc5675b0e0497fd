// RUN: sdy-opt %s -sdy-reshard-to-collectives | filecheck %s
// RUN: sdy-opt %s -sdy-reshard-to-collectives=keep-unreduced-axes | filecheck %s --check-prefix=KEEP

// Unreduced axes: equal in source and target.

sdy.mesh @mesh = <["x"=2, "y"=2, "z"=2]>

// Unreduced axes are kept by every collective.
// CHECK-LABEL: func.func @kept
// CHECK-NEXT: %0 = sdy.all_slice [{}, {"y"}] %arg0 out_sharding=<@mesh, [{"x"}, {"y"}], unreduced={"z"}>
// CHECK-NEXT: %1 = sdy.all_gather [{"x"}, {}] %0 out_sharding=<@mesh, [{}, {"y"}], unreduced={"z"}>
// CHECK-NEXT: return %1
func.func @kept(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}], unreduced={"z"}>}) -> tensor<8x8xf32> {
  %0 = sdy.reshard %a <@mesh, [{}, {"y"}], unreduced={"z"}> : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// A replicated target is used without its unreduced axes, unless `keep-unreduced-axes` is set.
// KEEP-LABEL: func.func @dropped_when_gathered
// KEEP-NEXT: %0 = sdy.all_gather [{"x"}, {}] %arg0 out_sharding=<@mesh, [{}, {}], unreduced={"z"}>
// CHECK-LABEL: func.func @dropped_when_gathered
// CHECK-NEXT: %0 = sdy.all_gather [{"x"}, {}] %arg0 out_sharding=<@mesh, [{}, {}]>
// CHECK-NEXT: return %0
func.func @dropped_when_gathered(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}], unreduced={"z"}>}) -> tensor<8x8xf32> {
  %0 = sdy.reshard %a <@mesh, [{}, {}], unreduced={"z"}> : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// If no dimension changes, the reshard is removed, even if unreduced axes differ: an all-reduce would have
// removed them before.
// CHECK-LABEL: func.func @not_turned_into_a_sum
// CHECK-NEXT: return %arg0
func.func @not_turned_into_a_sum(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}], unreduced={"z"}>}) -> tensor<8x8xf32> {
  %0 = sdy.reshard %a <@mesh, [{"x"}, {}]> : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}
