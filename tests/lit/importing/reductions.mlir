// RUN: sdy-opt %s -sdy-remove-size-one-axes -sdy-apply-sharding-constraints | filecheck %s
// RUN: sdy-opt %s -sdy-manual-axes-cleanup | filecheck %s --check-prefix=MANUAL
// RUN: sdy-opt %s -sdy-inline-meshes -sdy-lift-inlined-meshes | filecheck %s --check-prefix=MESHES

// Passes that rewrite shardings keep the kind of the reduction along unreduced axes.

sdy.mesh @mesh = <["x"=2, "y"=2, "one"=1]>

// An axis of size 1 is removed. Where no unreduced axis remains, no kind does.
// CHECK-LABEL: func.func @keep(
// CHECK-SAME: %arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", ?}p1], unreduced=max{"y"}>}
// CHECK-SAME: %arg1: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}
// MESHES-LABEL: func.func @keep(
// MESHES-SAME: #sdy.sharding<@mesh, [{"x", ?}p1], unreduced=max{"y", "one"}>
func.func @keep(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", ?}p1], unreduced=max{"y", "one"}>}, %b: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced=min{"one"}>}) -> tensor<8xf32> {
  return %a : tensor<8xf32>
}

// A constraint gives its unreduced axes and their kind to the data-flow edge of its operand.
// CHECK-LABEL: func.func @edge(
// CHECK: sdy.data_flow_edge %{{.*}} sharding=<@mesh, [{?}], unreduced=min{"y"}>
func.func @edge(%a: tensor<8xf32>) -> tensor<8xf32> {
  %0 = stablehlo.optimization_barrier %a : tensor<8xf32>
  %1 = sdy.data_flow_edge %0 : tensor<8xf32>
  %2 = sdy.sharding_constraint %1 <@mesh, [{"x"}], unreduced=min{"y"}> : tensor<8xf32>
  return %2 : tensor<8xf32>
}

// MANUAL-LABEL: func.func @manual(
// MANUAL-NEXT: sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{}], replicated={"x"}, unreduced=max{"y"}>]
func.func @manual(%a: tensor<8xf32>) -> tensor<8xf32> {
  %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{}], unreduced=max{"y"}>] out_shardings=[<@mesh, [{}], unreduced=max{"y"}>] manual_axes={"x"} (%b: tensor<8xf32>) {
    sdy.return %b : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
