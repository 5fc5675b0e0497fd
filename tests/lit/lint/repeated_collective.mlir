// RUN: sdy-opt %s --lint=repeated-collective --lint-config=- --split-input-file --verify-diagnostics

sdy.mesh @mesh = <["data"=4]>

// A weight that is sharded along the axis of the data is gathered for the forward and for the backward pass.
// The two are merged, as XLA merges them, so nothing is repeated.
func.func @forward_and_backward(
    %x: tensor<512x256xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>},
    %w: tensor<256x128xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>},
    %g: tensor<512x128xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>})
    -> (tensor<512x128xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>},
        tensor<512x256xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>}) {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<512x256xf32>, tensor<256x128xf32>) -> tensor<512x128xf32>
  %1 = stablehlo.dot_general %g, %w, contracting_dims = [1] x [1] : (tensor<512x128xf32>, tensor<256x128xf32>) -> tensor<512x256xf32>
  return %0, %1 : tensor<512x128xf32>, tensor<512x256xf32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=2]>

// The operands are equal because both are transposes of %a. A chain is one finding.
func.func @chain(%a: tensor<512x512xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}) {
  %0 = stablehlo.transpose %a, dims = [1, 0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}, {"x"}]>]>} : (tensor<512x512xf32>) -> tensor<512x512xf32>
  %1 = sdy.all_gather [{"y"}, {}] %0 out_sharding=<@mesh, [{}, {"x"}]> : tensor<512x512xf32>
  %2 = sdy.all_to_all [{"x"}: 1->0] %1 out_sharding=<@mesh, [{"x"}, {}]> : tensor<512x512xf32>
  // expected-note@+1 {{the first result is for this use}}
  %3 = stablehlo.custom_call @use(%2) {has_side_effect = true} : (tensor<512x512xf32>) -> tensor<8xf32>
  %4 = stablehlo.transpose %a, dims = [1, 0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}, {"x"}]>]>} : (tensor<512x512xf32>) -> tensor<512x512xf32>
  %5 = sdy.all_gather [{"y"}, {}] %4 out_sharding=<@mesh, [{}, {"x"}]> : tensor<512x512xf32>
  %6 = sdy.all_to_all [{"x"}: 1->0] %5 out_sharding=<@mesh, [{"x"}, {}]> : tensor<512x512xf32>
  // expected-warning@+1 {{all_to_all along "x" of f32[512,256] after all_gather run again on the same value: 512.0 KiB on the wire}}
  %7 = stablehlo.custom_call @use(%6) {has_side_effect = true} : (tensor<512x512xf32>) -> tensor<8xf32>
  return
}
