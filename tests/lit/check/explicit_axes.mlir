// With explicit axes, JAX constrains the result of each operation, and values are resharded. What is written in the
// program is an out_sharding or a reshard; JAX derives the shardings of elementwise operations.
// RUN: sdy-opt %s --check | filecheck %s
// RUN: sdy-opt %s --lint | filecheck %s --check-prefix=LINT
// RUN: sdy-opt %s --explain=#0 | filecheck %s --check-prefix=EXPLAIN
// RUN: sdy-opt %s --explain=model.py:10 | filecheck %s --check-prefix=LINE
// RUN: sdy-opt %s --explain=model.py:11 | filecheck %s --check-prefix=DERIVED
// RUN: sdy-opt %s --advise | filecheck %s --check-prefix=ADVISE

// CHECK:      1. write P('data', 'model') in the reshard at model.py:10 (now P('data')): -512.0 KiB sent,
// CHECK-NEXT: -1.50 MiB memory; 1 result is sharded otherwise, too
// CHECK-NEXT: why: model.py:10: 512.0 KiB (100%) sent, all_gather along model: resharded from
// CHECK-NEXT: P('data', 'model') to P('data') for tanh at model.py:11

// LINT-NOT: P.UNCONSTRAINED
// LINT-NOT: overridden-constraint

// EXPLAIN: reshard requires P('data')  model.py:10
// EXPLAIN: "model" shards dimension 1 of the dot_general at model.py:9
// EXPLAIN-NEXT: out_sharding of the dot_general, which its input got before propagation

// The line and the value have the change of all results with it, not that of the constraint alone, which saves nothing.
// It is said once.
// LINE:      model.py:10: 512.0 KiB (100%) sent in all_gather along model
// LINE-NEXT: help: write P('data', 'model') in the reshard at model.py:10
// LINE-NEXT: tried: -512.0 KiB sent, -1.50 MiB memory; this line sends 0 B in place of 512.0 KiB
// LINE-NEXT: why: resharded from P('data', 'model') to P('data') for tanh at model.py:11
// LINE:      "model" does not shard dimension 1
// LINE-NOT:  help:

// What JAX derives for an elementwise operation is written nowhere: the answer goes back to what is written.
// DERIVED:   tanh: f32[256,4096] is sharded P('data')  %3
// DERIVED-NEXT: "data" shards dimension 0, from reshard on the dot_general  model.py:10

// ADVISE: 1. write P('data', 'model') in the reshard at model.py:10
// ADVISE-NOT: remove the

#dot = loc("jit(layer)/dot_general"("layer"("model.py":9:8)))
#reshard = loc("jit(layer)/reshard"("layer"("model.py":10:8)))
#tanh = loc("jit(layer)/tanh"("layer"("model.py":11:8)))

sdy.mesh @mesh = <["data"=4, "model"=2]>
func.func public @main(
    %x: tensor<256x512xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>} loc("x"),
    %up: tensor<512x4096xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>} loc("up"))
    -> (tensor<256x4096xf32> {jax.result_info = "result"}) {
  %0 = stablehlo.dot_general %x, %up, contracting_dims = [1] x [0] : (tensor<256x512xf32>, tensor<512x4096xf32>) -> tensor<256x4096xf32> loc(#dot)
  %1 = sdy.sharding_constraint %0 <@mesh, [{"data"}, {"model"}]> : tensor<256x4096xf32> loc(#dot)
  %2 = sdy.sharding_constraint %1 <@mesh, [{"data"}, {}]> : tensor<256x4096xf32> loc(#reshard)
  %3 = stablehlo.tanh %2 : tensor<256x4096xf32> loc(#tanh)
  %4 = sdy.sharding_constraint %3 <@mesh, [{"data"}, {}]> : tensor<256x4096xf32> loc(#tanh)
  return %4 : tensor<256x4096xf32>
}
