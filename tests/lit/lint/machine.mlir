// A machine is that of the changes that check, lint and explain try.
// RUN: sdy-opt %s --check --topology=tpu-v5e | filecheck %s --check-prefix=FIRST
// RUN: sdy-opt %s --lint --lint-fail-on=never --topology=tpu-v5e 2>&1 | filecheck %s --check-prefix=LINT
// RUN: sdy-opt %s --explain=%%1 --topology=tpu-v5e | filecheck %s --check-prefix=EXPLAIN
// RUN: not sdy-opt %s --lint --topology=tpu-v5 2>&1 | filecheck %s --check-prefix=ERROR

// The constraint gathers the activation, although what uses it takes a part of it.
// FIRST:   write P('data', 'model') in the with_sharding_constraint on %1
// FIRST:   6.00 MiB (50%) sent, all_gather along model
// LINT:    a value is resharded from P('data', 'model') to P('data') and back
// LINT:    help: write P('data', 'model') in the with_sharding_constraint on %1
// EXPLAIN: "model" does not shard dimension 1
// EXPLAIN: help: write P('data', 'model') in the with_sharding_constraint on %1
// ERROR:   sdy-opt: unknown machine 'tpu-v5'
// ERROR:   help: did you mean 'tpu-v5e' or 'tpu-v5p'?
sdy.mesh @mesh = <["data"=2, "model"=4]>

func.func public @main(
    %x: tensor<1024x2048xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>},
    %in: tensor<2048x4096xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>},
    %out: tensor<4096x2048xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}]>}) -> tensor<1024x2048xf32> {
  %0 = stablehlo.dot_general %x, %in, contracting_dims = [1] x [0]
      : (tensor<1024x2048xf32>, tensor<2048x4096xf32>) -> tensor<1024x4096xf32>
  %1 = stablehlo.tanh %0 : tensor<1024x4096xf32>
  %2 = sdy.sharding_constraint %1 <@mesh, [{"data"}, {}]> : tensor<1024x4096xf32>
  %3 = stablehlo.dot_general %2, %out, contracting_dims = [1] x [0]
      : (tensor<1024x4096xf32>, tensor<4096x2048xf32>) -> tensor<1024x2048xf32>
  return %3 : tensor<1024x2048xf32>
}
