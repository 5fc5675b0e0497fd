// A configuration selects rules, sets their limits, and allows them in files of the model.
// RUN: sdy-opt %s --lint --lint-config=%S/Inputs/project.toml 2>/dev/null | filecheck %s
// In pyproject.toml, the tables are below [tool.sdy-lint].
// RUN: sdy-opt %s --lint --lint-config=%S/Inputs/pyproject.toml 2>/dev/null | filecheck %s
// --lint=RULE takes precedence over the selection, not over the limits.
// RUN: sdy-opt %s --lint=size-one-axis,repeated-collective --lint-config=%S/Inputs/project.toml 2>/dev/null | filecheck %s --check-prefix=FLAG
// CHECK:      1  repeated-collective  12 B on the wire
// CHECK-NEXT: 1 finding of {{[0-9]+}} rules{{.*}}; 1 allowed

// FLAG:      1  repeated-collective
// FLAG-NEXT: 1  size-one-axis
// FLAG-NEXT: 2 findings of 2 rules{{.*}}; 1 allowed
sdy.mesh @mesh = <["x"=4, "one"=1]>

func.func @main(%a: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %b: tensor<f32> {sdy.sharding = #sdy.sharding<@mesh, []>}, %c: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>},
                %d: tensor<1xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"one"}]>}) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %0 = sdy.all_gather [{"x"}] %a out_sharding=<@mesh, [{}]> : tensor<4xf32>
  %1 = stablehlo.negate %0 : tensor<4xf32>
  %2 = sdy.all_gather [{"x"}] %a out_sharding=<@mesh, [{}]> : tensor<4xf32>
  %3 = stablehlo.abs %2 : tensor<4xf32>
  %4 = sdy.all_gather [{"x"}] %c out_sharding=<@mesh, [{}]> : tensor<4xf32>
  %5 = stablehlo.negate %4 : tensor<4xf32>
  %6 = sdy.all_gather [{"x"}] %c out_sharding=<@mesh, [{}]> : tensor<4xf32>
  %7 = stablehlo.abs %6 : tensor<4xf32> loc("jit(step)/attention"("/home/me/attention.py":12:4))
  return %1, %3, %5, %7 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
