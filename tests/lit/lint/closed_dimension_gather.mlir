// RUN: sdy-opt %s --lint=closed-dimension-gather --lint-config=- --split-input-file --verify-diagnostics

sdy.mesh @mesh = <["data"=2, "model"=4]>

// None in a PartitionSpec closes dimension 1. The tanh then runs on all of it, though it could run on shards.
func.func @activation(%x: tensor<512x1024xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {"model"}]>}) -> tensor<512x1024xf32> {
  // expected-warning@+1 {{this constraint to P('data') closes dimension 1, which forces a gather: if it is open, the program sends 768.0 KiB less of 768.0 KiB}}
  %0 = sdy.sharding_constraint %x <@mesh, [{"data"}, {}]> : tensor<512x1024xf32>
  %1 = stablehlo.tanh %0 : tensor<512x1024xf32>
  return %1 : tensor<512x1024xf32>
}

// -----

sdy.mesh @mesh = <["data"=4, "model"=4]>

// Both dimensions are closed. Each of them open saves a part of what both save together, which is told once.
func.func @both(%x: tensor<512x1024xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {"model"}]>}) -> tensor<512x1024xf32> {
  // expected-warning@+1 {{this constraint to P() closes dimensions 0 and 1, which forces a gather: if they are open, the program sends 1.88 MiB less of 1.88 MiB}}
  %0 = sdy.sharding_constraint %x <@mesh, [{}, {}]> : tensor<512x1024xf32>
  %1 = stablehlo.tanh %0 : tensor<512x1024xf32>
  return %1 : tensor<512x1024xf32>
}
