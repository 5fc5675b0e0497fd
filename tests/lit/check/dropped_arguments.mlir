// jax.jit drops arguments of which only the shapes are used, such as those of an initializer.
// RUN: sdy-opt %s --check | filecheck %s
// CHECK:      nothing is sharded: jax.jit drops arguments that the program does not use, and
// CHECK-NEXT: their shardings; state jax.jit({{.*}}, out_shardings=NamedSharding(mesh, P('data')))
// RUN: sdy-opt %s --lint 2>&1 | filecheck %s --check-prefix=LINT
// LINT: help: jax.jit drops arguments that the program does not use; state jax.jit({{.*}}, out_shardings={{.*}})
// RUN: sdy-opt %s --advise | filecheck %s --check-prefix=ADVISE
// ADVISE: no advice: the program cannot be changed, because it has no mesh of several devices
func.func public @main() -> tensor<4096x1024xf32> {
  %cst = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4096x1024xf32>
  return %0 : tensor<4096x1024xf32>
}
