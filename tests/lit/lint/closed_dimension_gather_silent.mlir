// RUN: sdy-opt %s --lint=closed-dimension-gather --lint-config=- --split-input-file --verify-diagnostics

sdy.mesh @mesh = <["data"=2, "model"=4]>

// The function returns the value as the constraint requires it: opening the constraint saves nothing.
func.func @returned(%x: tensor<512x1024xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {"model"}]>})
    -> (tensor<512x1024xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>}) {
  %0 = sdy.sharding_constraint %x <@mesh, [{"data"}, {}]> : tensor<512x1024xf32>
  return %0 : tensor<512x1024xf32>
}

// -----

sdy.mesh @mesh = <["data"=2, "model"=4]>

// Nothing is gathered: propagation does not shard the value along "model" at all.
func.func @no_gather(%x: tensor<512x1024xf32>) -> tensor<512x1024xf32> {
  %0 = sdy.sharding_constraint %x <@mesh, [{"data"}, {}]> : tensor<512x1024xf32>
  return %0 : tensor<512x1024xf32>
}
