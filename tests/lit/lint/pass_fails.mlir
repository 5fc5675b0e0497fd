// If the program cannot be propagated, the errors of the pass are shown. Rules on the program as it is read still run.
// RUN: not sdy-opt %s --lint --lint-config=- 2>%t.err >%t.out
// RUN: filecheck %s --input-file=%t.err
// RUN: filecheck %s --check-prefix=SUMMARY --input-file=%t.out
// RUN: not sdy-opt %s --advise 2>&1 | filecheck %s --check-prefix=ADVISE
sdy.mesh @mesh = <["x"=4]>

// CHECK: error: Shardy propagation only supports ranked tensors with a static shape
// CHECK: warning: dimension 0 of argument 0 of @main has size 10
// SUMMARY:      1  uneven-sharding
// SUMMARY-NEXT: 1 finding of 14 rules; a pass failed, so that the rules on the program with collectives did not run
// SUMMARY-NEXT: {{^}}--help-lint=RULE explains a rule
// ADVISE-NOT: no advice
// ADVISE:     error: Shardy propagation only supports ranked tensors with a static shape
func.func @main(%a: tensor<10x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %b: tensor<?xf32>) -> tensor<?xf32> {
  %0 = stablehlo.negate %b : tensor<?xf32>
  return %0 : tensor<?xf32>
}
