// Comments allow findings, and the summary counts them.
// RUN: sdy-opt %s --lint=uneven-sharding,size-one-axis --lint-config=- 2>&1 | filecheck %s
// RUN: sdy-opt %s --lint=uneven-sharding,size-one-axis --lint-config=- 2>/dev/null | filecheck %s --check-prefix=SUMMARY

// For the whole file:
// sdy-lint: allow-file(size-one-axis)
sdy.mesh @mesh = <["x"=4, "one"=1]>

// CHECK-NOT: {{of @(same_line|line_above|argument)}}
// On the line itself.
func.func @same_line(%a: tensor<10x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"one"}]>}) {  // sdy-lint: allow(uneven-sharding)
  return
}

// On the line above, also with other comments and rules.
// sdy-lint: allow(unused-mesh-axis, uneven-sharding)
// Another comment.
func.func @line_above(%a: tensor<10x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  return
}

// An argument may have a line of its own.
func.func @argument(
    %a: tensor<8x8xf32>,
    // sdy-lint: allow(uneven-sharding)
    %b: tensor<10x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  return
}

// This comment allows another rule.
// CHECK: allow.mlir:33:1: warning: dimension 0 of argument 0 of @other_rule
// sdy-lint: allow(redundant-compute)
func.func @other_rule(%a: tensor<10x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  return
}

// SUMMARY:      1  uneven-sharding
// SUMMARY-NEXT: 1 finding of 2 rules; 4 allowed
