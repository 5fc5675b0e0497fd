// RUN: sdy-opt %s --lint=unused-mesh-axis --lint-config=- --split-input-file --verify-diagnostics

// Propagation shards nothing along "model": the constraint on %0 names "data" only.
// expected-warning@+1 {{no value is sharded along axis "model" of @mesh: the 2 devices along it do the same work}}
sdy.mesh @mesh = <["data"=4, "model"=2]>

func.func @main(%a: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = sdy.sharding_constraint %a <@mesh, [{"data"}, {?}]> : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}
