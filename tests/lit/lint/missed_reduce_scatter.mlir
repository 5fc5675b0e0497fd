// RUN: sdy-opt %s --lint=missed-reduce-scatter --lint-config=- --split-input-file --verify-diagnostics

sdy.mesh @mesh = <["data"=2, "fsdp"=4]>

// A gradient of a weight that is sharded along "fsdp", from data that is sharded along both axes.
func.func @gradient(
    %x: tensor<4096x512xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data", "fsdp"}, {}]>},
    %g: tensor<4096x512xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data", "fsdp"}, {}]>})
    -> (tensor<512x512xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"fsdp"}, {}]>}) {
  // expected-warning@+2 {{all_reduce {"data", "fsdp"} of tensor<512x512xf32> is sliced along "fsdp" next: a reduce_scatter along "fsdp" would send 768.0 KiB less of 1.75 MiB}}
  // expected-note@+1 {{the result is sliced for this use}}
  %0 = stablehlo.dot_general %x, %g, contracting_dims = [0] x [0] : (tensor<4096x512xf32>, tensor<4096x512xf32>) -> tensor<512x512xf32>
  return %0 : tensor<512x512xf32>
}

// -----

sdy.mesh @mesh = <["data"=2, "fsdp"=4]>

// An elementwise operation can run on the slice.
func.func @through_scale(%g: tensor<512x512xf32>) -> tensor<512x512xf32> {
  // expected-warning@+1 {{a reduce_scatter along "data" would send 512.0 KiB less of 1.00 MiB}}
  %0 = sdy.all_reduce {"data"} %g out_sharding=<@mesh, [{}, {}]> : tensor<512x512xf32>
  %1 = stablehlo.multiply %0, %0 : tensor<512x512xf32>
  %2 = sdy.all_slice [{"data"}, {}] %1 out_sharding=<@mesh, [{"data"}, {}]> : tensor<512x512xf32>
  // expected-note@+1 {{the result is sliced for this use}}
  %3 = stablehlo.negate %2 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"data"}, {}]>]>} : tensor<512x512xf32>
  return %3 : tensor<512x512xf32>
}
