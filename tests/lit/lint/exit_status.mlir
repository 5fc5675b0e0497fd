// Warnings and remarks leave the exit status at 0, unless --lint-fail-on names their severity.
// RUN: sdy-opt %s --lint --lint-config=-
// RUN: sdy-opt %s --lint --lint-config=- --lint-fail-on=error
// RUN: not sdy-opt %s --lint --lint-config=- --lint-fail-on=warning
// RUN: not sdy-opt %s --lint=uneven-sharding --lint-config=- --lint-fail-on=remark
// RUN: not sdy-opt %s --lint=size-one-axis --lint-config=- --lint-fail-on=remark
// RUN: sdy-opt %s --lint=size-one-axis --lint-config=- --lint-fail-on=warning
// --werror makes warnings errors, of lint as of everything else.
// RUN: not sdy-opt %s --lint --lint-config=- --werror 2>&1 | filecheck %s
// A configuration can raise severities, and says at which one a run fails; the flag takes precedence.
// RUN: not sdy-opt %s --lint --lint-config=%S/Inputs/strict.toml 2>&1 | filecheck %s --check-prefix=STRICT
// RUN: sdy-opt %s --lint --lint-config=%S/Inputs/strict.toml --lint-fail-on=never
sdy.mesh @mesh = <["x"=4, "one"=1]>

// CHECK: error: dimension 0 of argument 0 of @main {{.*}} [uneven-sharding] [--werror]
// STRICT: error: axis "one" of @mesh has size 1: {{.*}} [size-one-axis]
// STRICT: remark: dimension 0 of argument 0 of @main {{.*}} [uneven-sharding]
func.func @main(%a: tensor<10x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"one"}]>}) {
  return
}
