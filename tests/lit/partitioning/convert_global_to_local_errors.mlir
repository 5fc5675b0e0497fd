// RUN: sdy-opt %s -sdy-convert-global-to-local -split-input-file -verify-diagnostics

// Operations that are not local, and that the pass cannot lower.

sdy.mesh @mesh = <["x"=2]>

// Shards of different sizes need padding first.
func.func @uneven(%a: tensor<8x3xf32>) -> tensor<8x3xf32> {
  // expected-error @+1 {{Failed to compute local type due to non-divisible sharding}}
  %0 = stablehlo.negate %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"x"}]>]>} : tensor<8x3xf32>
  return %0 : tensor<8x3xf32>
}

// -----

sdy.mesh @mesh = <["x"=2]>

// Elements move to other shards. (C++ reverses each shard by itself.)
func.func @reverse(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  // expected-error @+1 {{'stablehlo.reverse' op dimension 0 of operand 0 is sharded, and the operation needs elements of other shards}}
  %0 = stablehlo.reverse %a, dims = [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2]>

func.func @slice(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> (tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  // expected-error @+2 {{'stablehlo.slice' op dimension 0 is sharded but the slice is not a full slice and requires device communication.}}
  // expected-error @+1 {{failed to legalize operation 'stablehlo.slice' that was explicitly marked illegal}}
  %0 = stablehlo.slice %a [2:6] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : (tensor<8xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

sdy.mesh @mesh = <["x"=2]>

// The operand is sharded, and the result is not.
func.func @mismatch(%a: tensor<6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<3xf32> {
  // expected-error @+2 {{'stablehlo.slice' op dimension 0 has mismatched sharding axes ("x" vs ). This requires a reshard which should have been handled by previous passes.}}
  // expected-error @+1 {{failed to legalize operation 'stablehlo.slice' that was explicitly marked illegal}}
  %0 = stablehlo.slice %a [0:6:2] : (tensor<6xf32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}

// -----

sdy.mesh @mesh = <["x"=2]>

func.func @concatenate(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> (tensor<16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  // expected-error @+2 {{'stablehlo.concatenate' op dimension 0 is sharded but the concatenation is on this dimension.}}
  // expected-error @+1 {{failed to legalize operation 'stablehlo.concatenate' that was explicitly marked illegal}}
  %0 = stablehlo.concatenate %a, %a, dim = 0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : (tensor<8xf32>, tensor<8xf32>) -> tensor<16xf32>
  return %0 : tensor<16xf32>
}

// -----

sdy.mesh @mesh = <["x"=2]>

// High padding of 2 makes shards of 5 elements, so element 4 moves from the second shard to the first.
func.func @pad(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %v: tensor<f32>) -> (tensor<10xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  // expected-error @+2 {{'stablehlo.pad' op dimension 0 is sharded but the padding moves elements between shards and requires device communication.}}
  // expected-error @+1 {{failed to legalize operation 'stablehlo.pad' that was explicitly marked illegal}}
  %0 = stablehlo.pad %a, %v, low = [0], high = [2], interior = [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : (tensor<8xf32>, tensor<f32>) -> tensor<10xf32>
  return %0 : tensor<10xf32>
}

// -----

sdy.mesh @mesh = <["x"=2]>

// Partial sums that are used without an all-reduce too.
func.func @dot(%a: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}, %b: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
  // expected-error @+2 {{Expected sharded contracting dot to have one user and the user is an sdy.all_reduce.}}
  // expected-error @+1 {{failed to legalize operation 'stablehlo.dot' that was explicitly marked illegal}}
  %0 = stablehlo.dot %a, %b {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>} : (tensor<8x16xf32>, tensor<16x8xf32>) -> tensor<8x8xf32>
  %1 = sdy.all_reduce {"x"} %0 out_sharding=<@mesh, [{}, {}]> : tensor<8x8xf32>
  return %0, %1 : tensor<8x8xf32>, tensor<8x8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=2]>

// Partial sums along "x" that are added along "y".
func.func @dot(%a: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}, %b: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<8x8xf32> {
  // expected-error @+2 {{The axes of the sdy.all_reduce should match the sharded contracting dimensions of the dot.}}
  // expected-error @+1 {{failed to legalize operation 'stablehlo.dot' that was explicitly marked illegal}}
  %0 = stablehlo.dot %a, %b {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>} : (tensor<8x16xf32>, tensor<16x8xf32>) -> tensor<8x8xf32>
  %1 = sdy.all_reduce {"y"} %0 out_sharding=<@mesh, [{}, {}]> : tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2]>

// Windows of three with a stride of one reach into the next shard.
func.func @window(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %low: tensor<f32>) -> (tensor<6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  // expected-error @+2 {{In op stablehlo.reduce_window dimension 0 is sharded but is not a pass-through dimension.}}
  // expected-error @+1 {{failed to legalize operation 'stablehlo.reduce_window' that was explicitly marked illegal}}
  %0 = "stablehlo.reduce_window"(%a, %low) <{window_dimensions = array<i64: 3>}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %1 = stablehlo.maximum %p, %q : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : (tensor<8xf32>, tensor<f32>) -> tensor<6xf32>
  return %0 : tensor<6xf32>
}

// -----

sdy.mesh @mesh = <["x"=2]>

// A reshard that is not lowered to collectives.
func.func @reshard(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<8xf32> {
  // expected-error @+1 {{failed to legalize operation 'sdy.reshard' that was explicitly marked illegal}}
  %0 = sdy.reshard %a <@mesh, [{}]> : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2]>

// The callee takes the whole tensor, but is called with a shard.
func.func @call(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<8xf32> {
  // expected-error @+2 {{'func.call' op operand 0 has local type 'tensor<4xf32>', but 'tensor<8xf32>' in the callee: the shardings differ}}
  // expected-error @+1 {{failed to legalize operation 'func.call' that was explicitly marked illegal}}
  %0 = call @whole(%a) : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

func.func private @whole(%a: tensor<8xf32>) -> tensor<8xf32> {
  return %a : tensor<8xf32>
}

// -----

sdy.mesh @huge = <["x"=2097152]>

// Offsets are looked up in a table with an entry for each device.
func.func @devices(%a: tensor<2097152xf32>) -> (tensor<2097152xf32> {sdy.sharding = #sdy.sharding<@huge, [{"x"}]>}) {
  // expected-error @+2 {{'sdy.all_slice' op needs a table of all 2097152 devices; the limit is 1048576}}
  // expected-error @+1 {{failed to legalize operation 'sdy.all_slice' that was explicitly marked illegal}}
  %0 = sdy.all_slice [{"x"}] %a out_sharding=<@huge, [{"x"}]> : tensor<2097152xf32>
  return %0 : tensor<2097152xf32>
}

// -----

sdy.mesh @mesh = <["x"=16]>

// By the rule `([ij, k])->([ij, l])` with i=8 and j=2, "x" shards i and j.
func.func @reshape_along_permutation_factor(%a: tensor<16x7xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<56x2xf32> {
  // expected-error @+1 {{'stablehlo.reshape' op dimension 0 of operand 0 is sharded, and the operation needs elements of other shards}}
  %0 = stablehlo.reshape %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>} : (tensor<16x7xf32>) -> tensor<56x2xf32>
  return %0 : tensor<56x2xf32>
}
