// Since jaxlib 0.12.0.1, sharding constraints are applied before calls are inlined.
// RUN: sdy-opt %s -sdy-propagation-pipeline | filecheck %s
// RUN: sdy-opt %s -sdy-propagation-pipeline --sdy-version=jaxlib-0.11.2 | filecheck %s
// RUN: sdy-opt %s -sdy-propagation-pipeline --dump-pass-pipeline 2>&1 | filecheck %s --check-prefix=PASSES
// RUN: sdy-opt %s -sdy-propagation-pipeline --dump-pass-pipeline --sdy-version=jaxlib-0.11.2 2>&1 | filecheck %s --check-prefix=PASSES-BEFORE

// PASSES:      sdy-add-data-flow-edges,sdy-flatten-call-graph,symbol-dce,sdy-add-func-data-flow-edges,
// PASSES-SAME: sdy-apply-sharding-constraints{{{[^}]*}}},func.func(sdy-sink-func-data-flow-edges),
// PASSES-SAME: sdy-sharding-group-import,sdy-import-func-calls{{{[^}]*}}},symbol-dce,sdy-pre-order-funcs,
// PASSES-BEFORE:      sdy-add-data-flow-edges,sdy-flatten-call-graph,symbol-dce,sdy-import-func-calls{{{[^}]*}}},symbol-dce,
// PASSES-BEFORE-SAME: sdy-apply-sharding-constraints{{{[^}]*}}},sdy-sharding-group-import,sdy-pre-order-funcs,

sdy.mesh @mesh = <["x"=2]>

// In either order, the constraint in @f replaces its argument in the other users there.
// CHECK-LABEL: func.func private @f(
// CHECK-NEXT:    %0 = sdy.reshard %arg0 <@mesh, [{"x"}]>
// CHECK-NEXT:    %1 = stablehlo.abs %0
func.func @main(%a: tensor<8xf32>) -> tensor<8xf32> {
  %0 = call @f(%a) : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

func.func private @f(%a: tensor<8xf32>) -> tensor<8xf32> {
  %0 = stablehlo.abs %a : tensor<8xf32>
  %1 = sdy.sharding_constraint %a <@mesh, [{"x"}]> : tensor<8xf32>
  %2 = stablehlo.add %0, %1 : tensor<8xf32>
  return %2 : tensor<8xf32>
}
