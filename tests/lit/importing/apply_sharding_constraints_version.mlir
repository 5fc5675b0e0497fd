// Since jaxlib 0.12.0.1, a constraint on a function data-flow edge replaces it in its other users.
// RUN: sdy-opt %s -sdy-apply-sharding-constraints | filecheck %s
// RUN: sdy-opt %s -sdy-apply-sharding-constraints --sdy-version=jaxlib-0.11.2 | filecheck %s --check-prefix=BEFORE

sdy.mesh @mesh = <["x"=2]>

// The caller's argument need not have the sharding that the callee wants.
// CHECK-LABEL: func.func private @f(
// CHECK-NEXT:    %0 = sdy.func_data_flow_edge %arg0 : tensor<8xf32>
// CHECK-NEXT:    %1 = sdy.sharding_constraint %0 <@mesh, [{"x"}]> : tensor<8xf32>
// CHECK-NEXT:    stablehlo.abs %1 : tensor<8xf32>
// BEFORE-LABEL: func.func private @f(
// BEFORE-NEXT:    %0 = sdy.func_data_flow_edge %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : tensor<8xf32>
// BEFORE-NEXT:    stablehlo.abs %0 : tensor<8xf32>
// BEFORE-NEXT:    sdy.sharding_constraint %0 <@mesh, [{"x"}]> {{.*}} : tensor<8xf32>
func.func private @f(%a: tensor<8xf32>) -> tensor<8xf32> {
  %0 = sdy.func_data_flow_edge %a : tensor<8xf32>
  %1 = stablehlo.abs %0 : tensor<8xf32>
  %2 = sdy.sharding_constraint %0 <@mesh, [{"x"}]> : tensor<8xf32>
  return %1 : tensor<8xf32>
}

// Unreduced axes do not propagate, so the edge gets them.
// CHECK-LABEL: func.func private @unreduced(
// CHECK-NEXT:    %0 = sdy.func_data_flow_edge %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{?}], unreduced={"x"}>]>}
// CHECK-NEXT:    %1 = sdy.sharding_constraint %0 <@mesh, [{}], unreduced={"x"}>
// CHECK-NEXT:    return %1
func.func private @unreduced(%a: tensor<8xf32>) -> tensor<8xf32> {
  %0 = sdy.func_data_flow_edge %a : tensor<8xf32>
  %1 = sdy.sharding_constraint %0 <@mesh, [{}], unreduced={"x"}> : tensor<8xf32>
  return %0 : tensor<8xf32>
}
