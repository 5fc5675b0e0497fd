// RUN: sdy-opt %s --check | filecheck %s

// Devices exchange halos for a slice of a weight, and gather the slice. What helps most is another sharding of what it is multiplied with.

// CHECK:      {{^}}1. shard the input h as P(None, 'batch') (now P('batch')): -576.0 KiB sent
// CHECK-NEXT:    why: gru.py:6: {{.*}} all_gather along batch: resharded from
// CHECK-NEXT:      P('batch', 'model') to P(None, 'model') for dot_general

// An explanation of the weight says what its uses send of it.
// RUN: sdy-opt %s --explain="w['u']" | filecheck %s --check-prefix=EXPLAIN

// EXPLAIN: a use needs another sharding: #{{[0-9]+}} collective_permute along {"model"} sends 64.0 KiB of it
// EXPLAIN: see --explain=#

#slice = loc("jit(f)/slice"("gru"("gru.py":6:5)))
#product = loc("jit(f)/dot_general"("gru"("gru.py":6:5)))
sdy.mesh @mesh = <["batch"=4, "model"=2]>
func.func public @main(
    %h: tensor<128x512xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"batch"}, {}]>} loc("h"),
    %u: tensor<512x1536xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"batch"}, {"model"}]>} loc("w['u']"))
    -> (tensor<128x1024xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"batch"}, {"model"}]>}) {
  %0 = stablehlo.slice %u [0:512, 0:1024] : (tensor<512x1536xf32>) -> tensor<512x1024xf32> loc(#slice)
  %1 = stablehlo.dot_general %h, %0, contracting_dims = [1] x [0] : (tensor<128x512xf32>, tensor<512x1024xf32>) -> tensor<128x1024xf32> loc(#product)
  return %1 : tensor<128x1024xf32>
}
