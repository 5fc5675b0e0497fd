// RUN: sdy-opt %s --lint=overridden-constraint --lint-config=- --split-input-file --verify-diagnostics

sdy.mesh @mesh = <["x"=4, "y"=2]>

// %a has no sharding of its own: it gets that of the first constraint, and is resharded to that of the second.
func.func @reshard(%a: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = sdy.sharding_constraint %a <@mesh, [{"x"}, {}]> : tensor<8x8xf32>
  %1 = sdy.sharding_constraint %0 <@mesh, [{}, {"x"}]> : tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}

// -----

sdy.mesh @mesh = <["x"=4, "y"=2]>

// The negation computes with %0, and so needs its sharding.
func.func @used(%a: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
  %0 = sdy.sharding_constraint %a <@mesh, [{"x"}, {}]> : tensor<8x8xf32>
  %1 = stablehlo.negate %0 : tensor<8x8xf32>
  %2 = sdy.sharding_constraint %0 <@mesh, [{}, {"x"}]> : tensor<8x8xf32>
  return %1, %2 : tensor<8x8xf32>, tensor<8x8xf32>
}

// -----

sdy.mesh @mesh = <["x"=4, "y"=2]>

// Dimension 1 of the first constraint is open, so the second one only adds to it.
func.func @refined(%a: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = sdy.sharding_constraint %a <@mesh, [{"x"}, {?}]> : tensor<8x8xf32>
  %1 = sdy.sharding_constraint %0 <@mesh, [{"x"}, {"y"}]> : tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}

// -----

sdy.mesh @mesh = <["x"=4, "y"=2]>

// From unreduced to sharded is a reduction.
func.func @reduced(%a: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = sdy.sharding_constraint %a <@mesh, [{}, {}], unreduced={"x"}> : tensor<8x8xf32>
  %1 = sdy.sharding_constraint %0 <@mesh, [{"x"}, {}]> : tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}

// -----

sdy.mesh @mesh = <["x"=4, "y"=2]>

// With explicit axes, JAX constrains what a jit returns: no statement of the program does.
func.func @jit(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<8x8xf32> {
  %0 = sdy.sharding_constraint %a <@mesh, [{}, {"x"}]> : tensor<8x8xf32> loc("jit(step)/jit"("model.py":3:4))
  %1 = sdy.sharding_constraint %0 <@mesh, [{}, {}]> : tensor<8x8xf32> loc("jit(step)/reshard"("model.py":4:4))
  return %1 : tensor<8x8xf32>
}
