// RUN: sdy-opt %s -sdy-export-pipeline=inline-meshes=false | filecheck %s
// RUN: sdy-opt %s -sdy-export-pipeline=avoid-export-for-partitioning=true | filecheck %s --check-prefix=PROPAGATED
// RUN: sdy-opt %s -sdy-export-pipeline='update-non-divisible-input-output-shardings=false inline-meshes=false' | filecheck %s --check-prefix=UNEVEN
// RUN: sdy-opt %s -sdy-export-pipeline=keep-sharding-rules=true | filecheck %s --check-prefix=RULES
// RUN: sdy-opt %s -sdy-export-pipeline --dump-pass-pipeline 2>&1 | filecheck %s --check-prefix=PASSES

// PASSES:      builtin.module(func.func(sdy-constant-or-scalar-merger),
// PASSES-SAME: func.func(sdy-sink-data-flow-edges{sink-debug-propagation-edge-sharding=false sink-debug-sharding-origins=false}),
// PASSES-SAME: sdy-remove-sharding-groups,func.func(sdy-sharding-constraint-to-reshard),
// PASSES-SAME: sdy-update-non-divisible-input-output-shardings,sdy-remove-sub-axes-in-input-output-shardings,
// PASSES-SAME: sdy-close-shardings,sdy-save-module,
// PASSES-SAME: func.func(sdy-verify-unreduced-axes),func.func(sdy-insert-explicit-reshards{enable-full-version=false{{.*}}}),
// PASSES-SAME: canonicalize{{{.*}} enable-patterns={sdy-collective} {{.*}} region-simplify=aggressive {{.*}} top-down=false},
// PASSES-SAME: sdy-save-module,func.func(sdy-drop-sharding-rules),sdy-inline-meshes)

sdy.mesh @mesh = <["x"=2, "y"=2]>

// Edges, groups, open dimensions and rules are removed. A constraint becomes a reshard.
// CHECK-LABEL: func.func @main(
// CHECK-SAME:    %arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}
// CHECK-NEXT:    %0 = stablehlo.negate %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>}
// CHECK-NEXT:    %1 = stablehlo.optimization_barrier {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} %0
// CHECK-NEXT:    %2 = sdy.reshard %1 <@mesh, [{}, {"y"}]>
// CHECK-NEXT:    return %2
// PROPAGATED-LABEL: func.func @main(
// PROPAGATED:         sdy.sharding_group %arg0 group_id=0
// PROPAGATED:         sdy.sharding_constraint {{.*}} <@mesh, [{}, {"y"}]>
// RULES:              stablehlo.negate {{.*}}sdy.sharding_rule
func.func @main(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", ?}, {?}]>}) -> tensor<8x8xf32> {
  sdy.sharding_group %a group_id=0 : tensor<8x8xf32>
  %0 = stablehlo.negate %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x", ?}, {?}]>]>, sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([i, j]) {i=8, j=8}>} : tensor<8x8xf32>
  %1 = stablehlo.optimization_barrier %0 : tensor<8x8xf32>
  %2 = sdy.data_flow_edge %1 sharding=<@mesh, [{"x", ?}, {?}]> : tensor<8x8xf32>
  %3 = sdy.sharding_constraint %2 <@mesh, [{}, {"y"}]> : tensor<8x8xf32>
  return %3 : tensor<8x8xf32>
}

// Three elements cannot be divided evenly between two devices.
// CHECK-LABEL:  func.func private @uneven(%arg0: tensor<3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>})
// UNEVEN-LABEL: func.func private @uneven(%arg0: tensor<3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>})
func.func private @uneven(%a: tensor<3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", ?}]>}) {
  return
}

// Copies of a constant with equal shardings are merged.
// CHECK-LABEL: func.func private @constants
// CHECK-NEXT:    %0 = sdy.constant
// CHECK-NEXT:    return %0, %0
func.func private @constants() -> (tensor<8xf32>, tensor<8xf32>) {
  %0 = sdy.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} dense<1.0> : tensor<8xf32>
  %1 = sdy.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} dense<1.0> : tensor<8xf32>
  return %0, %1 : tensor<8xf32>, tensor<8xf32>
}
