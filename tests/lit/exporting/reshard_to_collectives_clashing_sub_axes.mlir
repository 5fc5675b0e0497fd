// RUN: sdy-opt %s -sdy-reshard-to-collectives | filecheck %s

// Sub-axes whose sizes are not powers of two. The reference computes wrong elements here, or fails.

sdy.mesh @mesh = <["six"=6]>
sdy.mesh @large = <["z"=4, "twelve"=12, "six"=6]>

// No split of "six" has both sub-axes, so they cannot shard the tensor at the same time.
// CHECK-LABEL: func.func @gather_first
// CHECK-NEXT: %0 = sdy.all_gather [{"six":(1)2}, {}] %arg0 out_sharding=<@mesh, [{}, {}]> : tensor<16x16xf32>
// CHECK-NEXT: %1 = sdy.all_slice [{}, {"six":(3)2}] %0 out_sharding=<@mesh, [{}, {"six":(3)2}]> : tensor<16x16xf32>
// CHECK-NEXT: return %1
func.func @gather_first(%a: tensor<16x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"six":(1)2}, {}]>}) -> tensor<16x16xf32> {
  %0 = sdy.reshard %a <@mesh, [{}, {"six":(3)2}]> : tensor<16x16xf32>
  return %0 : tensor<16x16xf32>
}

// A permute would have to change the numbers of shards of two dimensions, which it cannot.
// CHECK-LABEL: func.func @gather_and_slice
// CHECK-NEXT: %0 = sdy.all_gather [{}, {"z"}, {"twelve", "six":(1)2}] %arg0 out_sharding=<@large, [{"six":(2)3}, {}, {}]> : tensor<2x2x1xf32>
// CHECK-NEXT: %1 = sdy.all_slice [{}, {"twelve":(2)6}, {"z", "twelve":(1)2}] %0 out_sharding=<@large, [{"six":(2)3}, {"twelve":(2)6}, {"z", "twelve":(1)2}]> : tensor<2x2x1xf32>
// CHECK-NEXT: return %1
func.func @gather_and_slice(%a: tensor<2x2x1xf32> {sdy.sharding = #sdy.sharding<@large, [{"six":(2)3}, {"z"}, {"twelve", "six":(1)2}]>}) -> tensor<2x2x1xf32> {
  %0 = sdy.reshard %a <@large, [{"six":(2)3}, {"twelve":(2)6}, {"z", "twelve":(1)2}]> : tensor<2x2x1xf32>
  return %0 : tensor<2x2x1xf32>
}

// A permute replaces one sub-axis by the other, so the tensor is never sharded along both.
// CHECK-LABEL: func.func @replaced_at_once
// CHECK-NEXT: %0 = sdy.collective_permute %arg0 out_sharding=<@mesh, [{"six":(1)2}]> : tensor<12xf32>
// CHECK-NEXT: return %0
func.func @replaced_at_once(%a: tensor<12xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"six":(3)2}]>}) -> tensor<12xf32> {
  %0 = sdy.reshard %a <@mesh, [{"six":(1)2}]> : tensor<12xf32>
  return %0 : tensor<12xf32>
}
