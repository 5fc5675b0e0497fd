// Since jaxlib 0.12.0.1, a constraint on a function data-flow edge replaces it in its other users, and values with an
// open sharding get that of their constraint.
// RUN: sdy-opt %s -sdy-apply-sharding-constraints | filecheck %s
// RUN: sdy-opt %s -sdy-apply-sharding-constraints --sdy-version=jaxlib-0.11.2 | filecheck %s --check-prefix=BEFORE

sdy.mesh @mesh = <["x"=2]>
sdy.mesh @other = <["z"=3]>

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

// A sharding that says nothing counts as none, also if it has another mesh than the constraint.
// CHECK-LABEL: func.func @open(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}
// BEFORE-LABEL: func.func @open(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@other, [{?}]>}
func.func @open(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@other, [{?}]>}) -> tensor<8xf32> {
  %0 = sdy.sharding_constraint %a <@mesh, [{"x"}]> : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// So if several results are constrained, each gets its sharding. Before, the first constraint left the others open.
// CHECK-LABEL: func.func @results(
// CHECK-NEXT:    custom_call @foo(%arg0) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>, <@mesh, [{}]>]>}
// BEFORE-LABEL: func.func @results(
// BEFORE-NEXT:    custom_call @foo(%arg0) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>, <@mesh, [{?}]>]>}
func.func @results(%a: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %0:2 = stablehlo.custom_call @foo(%a) : (tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
  %1 = sdy.sharding_constraint %0#0 <@mesh, [{"x"}]> : tensor<8xf32>
  %2 = sdy.sharding_constraint %0#1 <@mesh, [{}]> : tensor<8xf32>
  return %1, %2 : tensor<8xf32>, tensor<8xf32>
}

// The end of a chain replaces an open value too.
// CHECK-LABEL: func.func @chain(
// CHECK:         stablehlo.abs %1
// BEFORE-LABEL: func.func @chain(
// BEFORE:         stablehlo.abs %arg0
func.func @chain(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}]>}) -> tensor<8xf32> {
  %0 = sdy.sharding_constraint %a <@mesh, [{"x"}]> : tensor<8xf32>
  %1 = sdy.sharding_constraint %0 <@mesh, [{}]> : tensor<8xf32>
  %2 = stablehlo.abs %a : tensor<8xf32>
  return %2 : tensor<8xf32>
}

// A priority, even 0, a replicated or unreduced axis, and the sharding of a scalar say something.
// CHECK-LABEL: func.func @sharded(
// CHECK-SAME:    [{?}p0]>
// CHECK-SAME:    [{?}], replicated={"x"}>
// CHECK-SAME:    [{?}], unreduced={"x"}>
// CHECK-SAME:    []>
func.func @sharded(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}p0]>},
                   %b: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}], replicated={"x"}>},
                   %c: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}], unreduced={"x"}>},
                   %d: tensor<f32> {sdy.sharding = #sdy.sharding<@mesh, []>}) {
  %0 = sdy.sharding_constraint %a <@mesh, [{"x"}]> : tensor<8xf32>
  %1 = sdy.sharding_constraint %b <@mesh, [{}]> : tensor<8xf32>
  %2 = sdy.sharding_constraint %c <@mesh, [{}]> : tensor<8xf32>
  %3 = sdy.sharding_constraint %d <@mesh, [], unreduced={"x"}> : tensor<f32>
  return
}

// Unless it is one of several results, whose shardings are in one attribute.
// CHECK-LABEL: func.func @scalars(
// CHECK-NEXT:    optimization_barrier {sdy.sharding = #sdy.sharding_per_value<[<@mesh, []>, <@mesh, [], unreduced={"x"}>]>}
// BEFORE-LABEL: func.func @scalars(
// BEFORE-NEXT:    optimization_barrier {sdy.sharding = #sdy.sharding_per_value<[<@mesh, []>, <@mesh, []>]>}
func.func @scalars(%a: tensor<f32>) {
  %0:2 = stablehlo.optimization_barrier %a, %a : tensor<f32>, tensor<f32>
  %1 = sdy.sharding_constraint %0#0 <@mesh, []> : tensor<f32>
  %2 = sdy.sharding_constraint %0#1 <@mesh, [], unreduced={"x"}> : tensor<f32>
  return
}
