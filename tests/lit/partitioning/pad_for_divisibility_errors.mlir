// RUN: sdy-opt %s -sdy-pad-for-divisibility -split-input-file -verify-diagnostics

// The inputs and outputs of a program must have even shards, because callers do not pad.

sdy.mesh @mesh = <["x"=2]>

// expected-error @+2 {{'func.func' op argument #0 has a non-divisible sharding. Shardy expects function IO to be divisible.}}
// expected-error @+1 {{failed to legalize operation 'func.func' that was explicitly marked illegal: "func.func"()}}
func.func @input(%a: tensor<7xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  return
}

// -----

sdy.mesh @mesh = <["x"=2]>

// expected-error @+2 {{'func.func' op result #0 has a non-divisible sharding. Shardy expects function IO to be divisible.}}
// expected-error @+1 {{failed to legalize operation 'func.func' that was explicitly marked illegal: "func.func"()}}
func.func @output(%a: tensor<7xf32>) -> (tensor<7xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  return %a : tensor<7xf32>
}

// -----

sdy.mesh @mesh = <["x"=2]>

// The result would have padding between its elements. -sdy-resolve-permutation-factors avoids this.
func.func @reshape(%a: tensor<3x2xf32>) {
  %0 = sdy.all_slice [{"x"}, {}] %a out_sharding=<@mesh, [{"x"}, {}]> : tensor<3x2xf32>
  // expected-error @+2 {{'stablehlo.reshape' op participating reshape dimensions are not divisible. Reshape sharding should have been resolved by resolve-permutation-factors.}}
  // expected-error @+1 {{failed to legalize operation 'stablehlo.reshape' that was explicitly marked illegal: %4 = "stablehlo.reshape"(%3)}}
  %1 = stablehlo.reshape %0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : (tensor<3x2xf32>) -> tensor<6xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2]>

// Both have 20 elements with their padding, but other ones.
func.func @reshape_with_equal_padding(%a: tensor<3x5xf32>) {
  %0 = sdy.all_slice [{"x"}, {}] %a out_sharding=<@mesh, [{"x"}, {}]> : tensor<3x5xf32>
  // expected-error @+2 {{'stablehlo.reshape' op participating reshape dimensions are not divisible. Reshape sharding should have been resolved by resolve-permutation-factors.}}
  // expected-error @+1 {{failed to legalize operation 'stablehlo.reshape' that was explicitly marked illegal: %4 = "stablehlo.reshape"(%3)}}
  %1 = stablehlo.reshape %0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"x"}]>]>} : (tensor<3x5xf32>) -> tensor<5x3xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2]>

func.func @huge(%a: tensor<9223372036854775807xi8>) {
  // expected-error @+1 {{'sdy.all_slice' op a dimension would have size 9223372036854775808 with its padding, which is too large}}
  %0 = sdy.all_slice [{"x"}] %a out_sharding=<@mesh, [{"x"}]> : tensor<9223372036854775807xi8>
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=3]>

// Each shard along "x" would have padding after its elements, and the whole tensor only at its end.
// -sdy-update-non-divisible-input-output-shardings avoids this.
func.func private @free_axis(%a: tensor<1x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x", "y"}]>}) {
  // expected-error @+1 {{'sdy.manual_computation' op dimension 1 is sharded into shards of different sizes, which cannot be padded here}}
  %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{}, {"x", "y"}]>] out_shardings=[<@mesh, [{"x"}]>] manual_axes={"x"} (%b: tensor<1x4xf32>) {
    %1 = stablehlo.slice %b [0:1, 0:1] : (tensor<1x4xf32>) -> tensor<1x1xf32>
    %2 = stablehlo.reshape %1 : (tensor<1x1xf32>) -> tensor<1xf32>
    sdy.return %2 : tensor<1xf32>
  } : (tensor<1x8xf32>) -> tensor<2xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=3]>

// The numbers depend on the state, so the state cannot have padding.
func.func private @padded_state(%a: tensor<2xui64> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  // expected-error @+1 {{'stablehlo.rng_bit_generator' op dimension 0 is sharded into shards of different sizes, which cannot be padded here}}
  %state, %bits = stablehlo.rng_bit_generator %a, algorithm = DEFAULT : (tensor<2xui64>) -> (tensor<2xui64>, tensor<5xui32>)
  return
}
