// A comment that names no rule, or has another form, is a warning, and allows nothing.
// RUN: sdy-opt %s --lint --lint-config=- 2>&1 | filecheck %s
// RUN: not sdy-opt %s --lint --lint-config=- --werror

// CHECK: allow_errors.mlir:7:23: warning: unknown lint rule 'uneven-shards'
// CHECK: help: did you mean 'uneven-sharding'?
// sdy-lint: allow(   uneven-shards)

// CHECK: allow_errors.mlir:11:14: warning: this comment allows no rules
// CHECK: help: write `{{// sdy-lint: allow}}(RULE, RULE)`
// sdy-lint: ignore uneven-sharding
func.func @main() {
  return
}
