// RUN: sdy-opt %s --lint=axis-order-permute --lint-config=- --split-input-file --verify-diagnostics

sdy.mesh @mesh = <["x"=2, "y"=4]>

// The caller writes P(("x", "y")), the function P(("y", "x")): the same shards on other devices.
func.func @axes(%a: tensor<512x512xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}, {}]>}) -> tensor<512x512xf32> {
  %0 = sdy.sharding_constraint %a <@mesh, [{"y", "x"}, {}]> : tensor<512x512xf32>
  // expected-warning@+1 {{only changes an order: dimension 0 is sharded along "x", "y" before and along "y", "x" after it; 96.0 KiB on the wire}}
  %1 = stablehlo.negate %0 : tensor<512x512xf32>
  return %1 : tensor<512x512xf32>
}

// -----

sdy.mesh @mesh = <["x"=4]>
sdy.mesh @reversed = <["x"=4], device_ids=[3, 2, 1, 0]>

// The meshes have the same axis, and other devices along it.
func.func @devices(%a: tensor<512x512xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<512x512xf32> {
  %0 = sdy.collective_permute %a out_sharding=<@reversed, [{"x"}, {}]> : tensor<512x512xf32>
  // expected-warning@+1 {{only changes an order: the devices of @mesh and @reversed have different orders; 256.0 KiB on the wire}}
  %1 = stablehlo.negate %0 {sdy.sharding = #sdy.sharding_per_value<[<@reversed, [{"x"}, {}]>]>} : tensor<512x512xf32>
  return %1 : tensor<512x512xf32>
}
