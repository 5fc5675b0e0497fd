// RUN: split-file %s %t
// RUN: sdy-opt %t/gradient.mlir --explain='%%dh' | filecheck %s --check-prefix=GRADIENT
// RUN: sdy-opt %t/within.mlir --explain='%%dh' | filecheck %s --check-prefix=WITHIN

// Only the backward rule of a custom_vjp constrains a gradient alone.
// GRADIENT: possible, at a cost: jax.lax.with_sharding_constraint(the gradient from the dot_general at
// GRADIENT: model.py:6, P('x')) in the backward rule of a jax.custom_vjp

//--- gradient.mlir
sdy.mesh @mesh = <["x"=4]>
func.func @main(
    %w: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>},
    %x: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>},
    %d: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<4x8xf32>, tensor<8x8xf32>, tensor<4x8xf32>) {
  %h = stablehlo.tanh %x : tensor<4x8xf32> loc("jit(step)/jvp()/tanh"("layer"("model.py":5:5)))
  %y = stablehlo.dot_general %h, %w, contracting_dims = [1] x [0] : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
      loc("jit(step)/jvp()/dot_general"("layer"("model.py":6:5)))
  %dw = stablehlo.dot_general %h, %d, contracting_dims = [0] x [0] : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
      loc("jit(step)/transpose(jvp())/dot_general"("layer"("model.py":6:5)))
  %dh = stablehlo.dot_general %d, %w, contracting_dims = [1] x [1] : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
      loc("jit(step)/transpose(jvp())/dot_general"("layer"("model.py":6:5)))
  %dx = stablehlo.multiply %dh, %h : tensor<4x8xf32> loc("jit(step)/transpose(jvp())/mul"("layer"("model.py":5:5)))
  return %dx, %dw, %y : tensor<4x8xf32>, tensor<8x8xf32>, tensor<4x8xf32>
}

// Nothing constrains what a gradient is computed from.
// WITHIN-NOT: with_sharding_constraint
// WITHIN:     help: shard the input %x as P()
// WITHIN-NOT: with_sharding_constraint

//--- within.mlir
sdy.mesh @mesh = <["x"=4]>
func.func @main(
    %w: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>},
    %x: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>},
    %d: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  %h = stablehlo.tanh %x : tensor<4x8xf32> loc("jit(step)/jvp()/tanh"("layer"("model.py":5:5)))
  %y = stablehlo.dot_general %h, %w, contracting_dims = [1] x [0] : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
      loc("jit(step)/jvp()/dot_general"("layer"("model.py":6:5)))
  %dh = stablehlo.dot_general %d, %w, contracting_dims = [1] x [1] : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
      loc("jit(step)/transpose(jvp())/dot_general"("layer"("model.py":6:5)))
  %g = stablehlo.negate %dh : tensor<4x8xf32> loc("jit(step)/transpose(jvp())/neg"("layer"("model.py":6:5)))
  %dx = stablehlo.multiply %g, %h : tensor<4x8xf32> loc("jit(step)/transpose(jvp())/mul"("layer"("model.py":5:5)))
  return %dx, %y : tensor<4x8xf32>, tensor<4x8xf32>
}
