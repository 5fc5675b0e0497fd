// RUN: sdy-opt %s -sdy-propagation-pipeline | filecheck %s
// RUN: sdy-opt %s -sdy-propagation-pipeline=dedup-functions-fully=true | filecheck %s --check-prefix=DEDUP
// RUN: sdy-opt %s -sdy-propagation-pipeline --dump-pass-pipeline 2>&1 | filecheck %s --check-prefix=PASSES
// RUN: sdy-opt %s -sdy-propagation-pipeline=dedup-functions-fully=true --dump-pass-pipeline 2>&1 | filecheck %s --check-prefix=DEDUP-PASSES

// PASSES:      sdy-add-data-flow-edges,sdy-flatten-call-graph,symbol-dce,sdy-add-func-data-flow-edges,
// PASSES-SAME: sdy-apply-sharding-constraints{{{[^}]*}}},func.func(sdy-sink-func-data-flow-edges),sdy-sharding-group-import,
// PASSES-SAME: sdy-import-func-calls{add-data-flow-edges-on-named-computations=true},symbol-dce,sdy-pre-order-funcs,
// PASSES-SAME: sdy-user-priority-propagate{{{[^}]*}} keep-sharding-rules=true {{[^}]*}}},
// PASSES-SAME: sdy-export-named-computations,sdy-propagate-to-func-results,
// PASSES-SAME: sdy-unflatten-call-graph{dedup-functions-fully=false},symbol-dce,sdy-insert-func-call-reshards,
// PASSES-SAME: func.func(sdy-constant-or-scalar-merger)

// DEDUP-PASSES:      sdy-sharding-group-import,sdy-add-func-data-flow-edges,sdy-pre-order-funcs,
// DEDUP-PASSES-SAME: sdy-user-priority-propagate{{{[^}]*}}},
// DEDUP-PASSES-SAME: sdy-propagate-to-func-results,func.func(sdy-sink-func-data-flow-edges),
// DEDUP-PASSES-SAME: sdy-unflatten-call-graph{dedup-functions-fully=false},symbol-dce,sdy-insert-func-call-reshards,

sdy.mesh @mesh = <["x"=2, "y"=2]>

// The three calls of @f have two distinct shardings. By default each of them has its own function, and no reshard.
// CHECK-LABEL: func.func @main(
// CHECK-SAME:    -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>}, tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
// CHECK-NEXT:    %0 = call @f(%arg0) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>}
// CHECK-NEXT:    %1 = call @f_0(%arg1) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}]>]>}
// CHECK-NEXT:    %2 = call @f(%0) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>}
// CHECK-NEXT:    return %0, %1, %2
// CHECK:       func.func private @f(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>})
// CHECK:       func.func private @f_0(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>})
// CHECK-NOT:   func.func

// With full deduplication there is one function, unsharded where its calls conflict; call operands are resharded.
// DEDUP-LABEL: func.func @main(
// DEDUP-DAG:     %[[A:.*]] = sdy.reshard %arg0 <@mesh, [{}]>
// DEDUP-DAG:     %[[B:.*]] = sdy.reshard %arg1 <@mesh, [{}]>
// DEDUP:         %[[F_A:.*]] = call @f(%[[A]])
// DEDUP-NEXT:    call @f(%[[B]])
// DEDUP-NEXT:    call @f(%[[F_A]])
// DEDUP:       func.func private @f(%arg0: tensor<8xf32>)
// DEDUP-NOT:   func.func
func.func @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>},
                %b: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>}) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  %0 = call @f(%a) : (tensor<8xf32>) -> tensor<8xf32>
  %1 = call @f(%b) : (tensor<8xf32>) -> tensor<8xf32>
  %2 = call @f(%0) : (tensor<8xf32>) -> tensor<8xf32>
  return %0, %1, %2 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}
func.func private @f(%a: tensor<8xf32>) -> tensor<8xf32> {
  %0 = stablehlo.negate %a : tensor<8xf32>
  return %0 : tensor<8xf32>
}
