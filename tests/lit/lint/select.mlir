// One rule, several, or all but some.
// RUN: sdy-opt %s --lint=size-one-axis --lint-config=- 2>/dev/null | filecheck %s --check-prefix=ONE
// RUN: sdy-opt %s --lint=size-one-axis,uneven-sharding --lint-config=- 2>/dev/null | filecheck %s --check-prefix=TWO
// RUN: sdy-opt %s --lint=-size-one-axis --lint-config=- 2>/dev/null | filecheck %s --check-prefix=BUT
// An unknown rule is a usage error.
// RUN: not sdy-opt %s --lint=size-1-axis 2>&1 | filecheck %s --check-prefix=UNKNOWN
sdy.mesh @mesh = <["x"=4, "one"=1]>

// ONE:      1  size-one-axis
// ONE-NEXT: 1 finding of 1 rule

// TWO:      1  size-one-axis
// TWO-NEXT: 1  uneven-sharding
// TWO-NEXT: 2 findings of 2 rules

// BUT:      1  uneven-sharding
// BUT-NEXT: 1 finding of

// UNKNOWN:      sdy-opt: for the --lint option: unknown rule 'size-1-axis'
// UNKNOWN-NEXT: help: did you mean 'size-one-axis'?
func.func @main(%a: tensor<10x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"one"}]>}) {
  return
}
