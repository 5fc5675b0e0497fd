// RUN: sdy-opt %s --lint=replicated-value --lint-config=- --split-input-file --verify-diagnostics

sdy.mesh @mesh = <["data"=8]>

// A weight of 64 MiB on each of 8 devices, and a product of the same size that each of them computes. Both are
// tried alone.
// expected-warning@+1 {{argument 1 of @main, f32[4096,4096], is replicated: 64.0 MiB on each of 8 devices}}
func.func @main(%x: tensor<4096x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, %w: tensor<4096x4096xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, %y: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>}) -> (tensor<4096x4096xf32>, tensor<8x8xf32>) {
  // expected-warning@+1 {{the result, f32[4096,4096], is replicated: 64.0 MiB on each of 8 devices}}
  %0 = stablehlo.dot_general %x, %x, contracting_dims = [1] x [1] : (tensor<4096x16xf32>, tensor<4096x16xf32>) -> tensor<4096x4096xf32>
  %1 = stablehlo.add %0, %w : tensor<4096x4096xf32>
  return %1, %y : tensor<4096x4096xf32>, tensor<8x8xf32>
}
