// RUN: sdy-opt %s --lint=replicated-value --lint-config=- --split-input-file --verify-diagnostics

sdy.mesh @mesh = <["data"=8, "model"=2]>

// %w is sharded along one of two axes, and a gathered weight is meant to be whole while it is used.
func.func @gathered(%w: tensor<4096x4096xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>}) -> tensor<4096x4096xf32> {
  %0 = sdy.all_gather [{"data"}, {}] %w out_sharding=<@mesh, [{}, {}]> : tensor<4096x4096xf32>
  %1 = stablehlo.negate %0 : tensor<4096x4096xf32>
  return %1 : tensor<4096x4096xf32>
}

// Compilers fuse constants and broadcasts into their uses.
func.func @fused(%a: tensor<f32>) -> tensor<4096x4096xf32> {
  %0 = stablehlo.broadcast_in_dim %a, dims = [] : (tensor<f32>) -> tensor<4096x4096xf32>
  return %0 : tensor<4096x4096xf32>
}

// No axis divides 4095 or 4097.
func.func @odd(%w: tensor<4095x4097xf32>) -> tensor<4095x4097xf32> {
  return %w : tensor<4095x4097xf32>
}

// -----

sdy.mesh @mesh = <["x"=8]>

// In a manual computation, also in a function that it calls, types are local: this is one of 8 shards.
func.func @main(%a: tensor<32768x1024xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<32768x1024xf32> {
  %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{"x"}, {}]>] manual_axes={"x"} (%b: tensor<4096x1024xf32>) {
    %1 = func.call @body(%b) : (tensor<4096x1024xf32>) -> tensor<4096x1024xf32>
    sdy.return %1 : tensor<4096x1024xf32>
  } : (tensor<32768x1024xf32>) -> tensor<32768x1024xf32>
  return %0 : tensor<32768x1024xf32>
}

func.func private @body(%b: tensor<4096x1024xf32>) -> tensor<4096x1024xf32> {
  %0 = stablehlo.negate %b : tensor<4096x1024xf32>
  return %0 : tensor<4096x1024xf32>
}
