// The lines that JAX rejects if axes are explicit. Gradients need nothing.
// RUN: sdy-opt %s --explicit | filecheck %s
// RUN: echo 'func.func @main(%%a: tensor<8xf32>) -> tensor<8xf32> { return %%a : tensor<8xf32> }' | sdy-opt --explicit | filecheck %s --check-prefix=NONE

// CHECK:      3 lines need an out_sharding or a reshard if axes are explicit; JAX derives the rest
// CHECK-NEXT: 1. model.py:5  dot_general: out_sharding=P('data')
// CHECK-NEXT:    both operands are sharded along "model" where it contracts them
// CHECK-NEXT: 2. model.py:6  with_sharding_constraint: jax.reshard(…, P('model')) in its place
// CHECK-NEXT:    the value is sharded P('data'), which a constraint on explicit axes only checks
// CHECK-NEXT: 3. model.py:7  add: jax.reshard(…, P('model')) of an operand
// CHECK-NEXT:    dimension 0 of its operands is sharded along "model" and "data"
// CHECK-NOT:  4.

// NONE: no line needs an out_sharding or a reshard: JAX derives all shardings from those of the arguments

#dot = loc("jit(f)/dot_general"("f"("model.py":5:8)))
#constraint = loc("jit(f)/sharding_constraint"("f"("model.py":6:8)))
#add = loc("jit(f)/add"("f"("model.py":7:8)))
#gradient = loc("jit(f)/transpose(jvp())/dot_general"("f"("model.py":8:8)))

sdy.mesh @mesh = <["data"=4, "model"=2]>
func.func public @main(
    %x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {"model"}]>} loc("x"),
    %w: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}]>} loc("w")) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32> loc(#dot)
  %1 = sdy.sharding_constraint %0 <@mesh, [{"model"}, {}]> : tensor<8x8xf32> loc(#constraint)
  %2 = stablehlo.add %1, %0 : tensor<8x8xf32> loc(#add)
  %3 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32> loc(#gradient)
  return %2, %3 : tensor<8x8xf32>, tensor<8x8xf32>
}
