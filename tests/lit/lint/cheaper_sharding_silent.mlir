// RUN: sdy-opt %s --lint=cheaper-sharding --lint-config=- --split-input-file --verify-diagnostics

sdy.mesh @mesh = <["fsdp"=8]>

// FSDP: weights are gathered for each use.
func.func @fsdp(
    %x: tensor<4096x256xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"fsdp"}, {}]>},
    %up: tensor<256x1024xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"fsdp"}, {}]>},
    %down: tensor<1024x256xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"fsdp"}, {}]>})
    -> (tensor<4096x256xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"fsdp"}, {}]>}) {
  %0 = stablehlo.dot_general %x, %up, contracting_dims = [1] x [0] : (tensor<4096x256xf32>, tensor<256x1024xf32>) -> tensor<4096x1024xf32>
  %1 = stablehlo.tanh %0 : tensor<4096x1024xf32>
  %2 = stablehlo.dot_general %1, %down, contracting_dims = [1] x [0] : (tensor<4096x1024xf32>, tensor<1024x256xf32>) -> tensor<4096x256xf32>
  return %2 : tensor<4096x256xf32>
}
