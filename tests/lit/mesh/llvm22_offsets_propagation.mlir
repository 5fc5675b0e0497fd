// RUN: sdy-opt %s --mesh-version=22 -verify-diagnostics -pass-pipeline='builtin.module(func.func(sharding-propagation))'

shard.grid @line(shape = 4)

func.func @exp(%a: tensor<8x16xf32>) -> tensor<8x16xf32> {
  %s = shard.sharding @line split_axes = [[0]] sharded_dims_offsets = [0, 1, 4, 7, 8] : !shard.sharding
  // expected-error @+1 {{shardings with sharded dims offsets are not propagated}}
  %0 = shard.shard %a to %s annotate_for_users : tensor<8x16xf32>
  %1 = tosa.exp %0 : (tensor<8x16xf32>) -> tensor<8x16xf32>
  return %1 : tensor<8x16xf32>
}
