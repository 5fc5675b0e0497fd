// RUN: sdy-opt %s -sdy-import-pipeline | filecheck %s
// RUN: sdy-opt %s -sdy-import-pipeline=dedup-functions-fully=true | filecheck %s --check-prefix=DEDUP
// RUN: sdy-opt %s -sdy-import-pipeline=dedup-functions-fully=true --dump-pass-pipeline 2>&1 | filecheck %s --check-prefix=PASSES

// PASSES:      builtin.module(symbol-dce,sdy-lift-inlined-meshes{use-single-device-mesh-names=false},sdy-remove-size-one-axes,
// PASSES-SAME: sdy-propagate-sharding-from-func-to-call,sdy-constant-or-scalar-splitter,symbol-dce,
// PASSES-SAME: sdy-manual-axes-cleanup,sdy-save-module,sdy-add-data-flow-edges,
// PASSES-SAME: sdy-apply-sharding-constraints{debug-propagation-edge-sharding=false debug-sharding-origins=false},
// PASSES-SAME: sdy-sharding-group-import)

// CHECK: sdy.mesh @mesh = <["x"=2, "one"=1]>
sdy.mesh @mesh = <["x"=2, "one"=1]>

// Unreachable functions are removed first.
// CHECK-NOT: @unused
func.func private @unused() {
  return
}

// Meshes are lifted, and axes of size one are removed.
// CHECK-LABEL: func.func @arguments(
// CHECK-SAME:    %arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}
// CHECK-SAME:    %arg1: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}
func.func @arguments(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<mesh<["x"=2, "one"=1]>, [{"x"}]>},
                     %b: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"one"}]>}) {
  return
}

// Every use gets its own constant before edges are inserted.
// CHECK-LABEL: func.func @constants
func.func @constants() -> (tensor<8xf32>, tensor<8xf32>) {
  // CHECK-NEXT: %[[FIRST:.*]] = sdy.constant
  // CHECK-NEXT: %[[SECOND:.*]] = sdy.constant
  // CHECK-NEXT: %[[BARRIER:.*]]:2 = stablehlo.optimization_barrier
  // CHECK-NEXT: %[[FIRST_EDGE:.*]] = sdy.data_flow_edge %[[BARRIER]]#0
  // CHECK-NEXT: %[[SECOND_EDGE:.*]] = sdy.data_flow_edge %[[BARRIER]]#1
  // CHECK-NEXT: return %[[FIRST_EDGE]], %[[SECOND_EDGE]]
  %0 = stablehlo.constant dense<1.0> : tensor<8xf32>
  %1:2 = stablehlo.optimization_barrier %0, %0 : tensor<8xf32>, tensor<8xf32>
  return %1#0, %1#1 : tensor<8xf32>, tensor<8xf32>
}

// Constraints and groups are imported only if calls are not inlined later.
// CHECK-LABEL: func.func @constraints
// DEDUP-LABEL: func.func @constraints
func.func @constraints(%a: tensor<8xf32>) -> tensor<8xf32> {
  // CHECK-NEXT: stablehlo.negate %arg0 : tensor<8xf32>
  // CHECK:      group_id=7
  // DEDUP-NEXT: stablehlo.negate %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>}
  // DEDUP:      group_id=0
  %0 = stablehlo.negate %a : tensor<8xf32>
  %1 = sdy.sharding_constraint %0 <@mesh, [{"x"}]> : tensor<8xf32>
  sdy.sharding_group %1 group_id = 7 : tensor<8xf32>
  return %1 : tensor<8xf32>
}
