// RUN: sdy-opt %S/../../../examples/mlp.mlir --advise --report-rows=0 | filecheck %s

// "data" shards the contracting dimension of x then, and weights[0] is not: this plan slices the weight and adds
// partial products, where XLA rather gathers x. So the change is not called conflict-free.

// CHECK:      shard x as P()
// CHECK:      conflict-free: no activation is resharded
// CHECK:      shard x as P(None, 'data')
// CHECK:      depends on the partitioner: products take slices of 512.0 KiB of arguments
