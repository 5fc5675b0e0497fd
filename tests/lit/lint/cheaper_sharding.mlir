// RUN: sdy-opt %s --lint=cheaper-sharding --lint-config=- --split-input-file --verify-diagnostics

sdy.mesh @mesh = <["data"=2, "model"=4]>

// A cache of keys that each device along "model" copies, although the heads are computed along it.
func.func @cache(
    %cache: tensor<4x1024x16x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}, {}, {}]>},
    %query: tensor<4x1x16x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}, {"model"}, {}]>},
    %key: tensor<4x1x16x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}, {"model"}, {}]>}, %at: tensor<i32>)
    -> (tensor<4x16x1x1024xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {"model"}, {}, {}]>},
        tensor<4x1024x16x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}, {}, {}]>}) {
  // A callback without values has no price.
  stablehlo.custom_call @callback() {has_side_effect = true} : () -> ()
  %zero = stablehlo.constant dense<0> : tensor<i32>
  // expected-warning@+2 {{shard the input %arg0 as P('data', None, 'model'), and result 1 of @cache likewise (now P('data')): -3.00 MiB sent}}
  // expected-note@+1 {{3.00 MiB (100%) sent, all_gather along model: resharded from P('data', None, 'model') to P('data') for result 1}}
  %0 = stablehlo.dynamic_update_slice %cache, %key, %zero, %at, %zero, %zero : (tensor<4x1024x16x32xf32>, tensor<4x1x16x32xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<4x1024x16x32xf32>
  %1 = stablehlo.dot_general %query, %0, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3] : (tensor<4x1x16x32xf32>, tensor<4x1024x16x32xf32>) -> tensor<4x16x1x1024xf32>
  return %1, %0 : tensor<4x16x1x1024xf32>, tensor<4x1024x16x32xf32>
}

// -----

sdy.mesh @mesh = <["data"=4, "model"=4]>

// Weights of Megatron with their axes exchanged. Reported are the places of a check.
func.func @megatron(
    %x: tensor<1024x512xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>},
    %up: tensor<512x2048xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}]>},
    %down: tensor<2048x512xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>})
    -> (tensor<1024x512xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>}) {
  // expected-warning@+2 {{shard the input %arg2 as P('model') (now P(None, 'model')): -1.88 MiB sent}}
  // expected-note@+1 {{3.00 MiB (89%) sent, all_reduce along model: dot_general contracts a dimension}}
  %0 = stablehlo.dot_general %x, %up, contracting_dims = [1] x [0] : (tensor<1024x512xf32>, tensor<512x2048xf32>) -> tensor<1024x2048xf32>
  %1 = stablehlo.tanh %0 : tensor<1024x2048xf32>
  // expected-warning@+2 {{shard result 0 of @megatron as P('data', 'model') (now P('data')): -384.0 KiB sent}}
  // expected-note@+1 {{384.0 KiB (11%) sent, all_gather along model: resharded from P('data', 'model') to P('data') for result 0}}
  %2 = stablehlo.dot_general %1, %down, contracting_dims = [1] x [0] : (tensor<1024x2048xf32>, tensor<2048x512xf32>) -> tensor<1024x512xf32>
  return %2 : tensor<1024x512xf32>
}

// -----

sdy.mesh @mesh = <["fsdp"=8]>

// The embeddings are sharded along their columns, and so are the activations: their batch lost "fsdp".
func.func @lost_batch(
    %tokens: tensor<64x128xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"fsdp"}, {}]>},
    %table: tensor<65536x256xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"fsdp"}]>},
    %w: tensor<256x256xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"fsdp"}, {}]>}) -> tensor<64x128x256xf32> {
  %0 = stablehlo.reshape %tokens : (tensor<64x128xi32>) -> tensor<64x128x1xi32>
  %1 = "stablehlo.gather"(%table, %0) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 2>, slice_sizes = array<i64: 1, 256>}> : (tensor<65536x256xf32>, tensor<64x128x1xi32>) -> tensor<64x128x256xf32>
  %2 = stablehlo.dot_general %1, %w, contracting_dims = [2] x [0] : (tensor<64x128x256xf32>, tensor<256x256xf32>) -> tensor<64x128x256xf32>
  %3 = stablehlo.tanh %2 : tensor<64x128x256xf32>
  // expected-warning@+2 {{shard the input %arg1 as P('fsdp') (now P(None, 'fsdp')): -13.8 MiB sent, -7.00 MiB memory; 1 result is sharded otherwise, too}}
  // expected-note@+1 {{14.0 MiB (67%) sent, all_reduce along fsdp: result 0 of @lost_batch}}
  %4 = stablehlo.dot_general %3, %w, contracting_dims = [2] x [0] : (tensor<64x128x256xf32>, tensor<256x256xf32>) -> tensor<64x128x256xf32>
  return %4 : tensor<64x128x256xf32>
}

// -----

sdy.mesh @mesh = <["data"=4, "model"=2]>

// A constraint whose axes are exchanged.
func.func @exchanged(%x: tensor<512x512xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {"model"}]>})
    -> (tensor<512x512xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {"model"}]>}) {
  // expected-warning@+2 {{write P('data', 'model') in the with_sharding_constraint on %0}}
  // expected-note@+1 {{256.0 KiB (100%) sent, 128.0 KiB of it in 2 all_to_all along data:(2)2}}
  %0 = stablehlo.tanh %x : tensor<512x512xf32>
  %1 = sdy.sharding_constraint %0 <@mesh, [{"model"}, {"data"}]> : tensor<512x512xf32>
  %2 = stablehlo.exponential %1 : tensor<512x512xf32>
  return %2 : tensor<512x512xf32>
}

// -----

sdy.mesh @mesh = <["data"=4, "model"=2]>

// A momentum that is not sharded like its weight.
func.func @momentum(
    %w: tensor<512x512xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>},
    %m: tensor<512x512xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>},
    %g: tensor<512x512xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>})
    -> (tensor<512x512xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>}, tensor<512x512xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) {
  // expected-warning@+2 {{shard the input %arg0 as P(('data', 'model')), and %arg1, %arg2 and 2 more likewise (now P('data'), and P() for %arg1): -768.0 KiB sent}}
  // expected-note@+1 {{768.0 KiB (100%) sent, all_gather along data: resharded from P('data') to P() for result 1}}
  %0 = stablehlo.add %m, %g : tensor<512x512xf32>
  %1 = stablehlo.subtract %w, %0 : tensor<512x512xf32>
  return %1, %0 : tensor<512x512xf32>, tensor<512x512xf32>
}

// -----

sdy.mesh @mesh = <["data"=4, "model"=2]>

// A weight that is sharded along the axis of the batch.
func.func @weight(
    %x: tensor<512x256xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>},
    %w1: tensor<256x1024xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>},
    %w2: tensor<1024x256xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}]>}) -> tensor<512x256xf32> {
  // expected-warning@+2 {{shard the input %arg1 as P(None, 'model') (now P('data')): -768.0 KiB sent}}
  // expected-note@+1 {{768.0 KiB (86%) sent, all_gather along data: resharded from P('data') to P(None, 'model') for dot_general}}
  %0 = stablehlo.dot_general %x, %w1, contracting_dims = [1] x [0] : (tensor<512x256xf32>, tensor<256x1024xf32>) -> tensor<512x1024xf32>
  %1 = stablehlo.tanh %0 : tensor<512x1024xf32>
  // expected-warning@+2 {{give the results out_shardings along "data", "model": write P('data', 'model') for result 0: -64.0 KiB sent}}
  // expected-note@+1 {{128.0 KiB (14%) sent, all_reduce along model: result 0 of @weight}}
  %2 = stablehlo.dot_general %1, %w2, contracting_dims = [1] x [0] : (tensor<512x1024xf32>, tensor<1024x256xf32>) -> tensor<512x256xf32>
  return %2 : tensor<512x256xf32>
}

// -----

sdy.mesh @mesh = <["data"=4, "model"=2]>

// A result that is gathered at the end.
func.func @result(%x: tensor<512x256xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>}, %w: tensor<256x512xf32>)
    -> (tensor<512x512xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) {
  // expected-warning@+2 {{shard result 0 of @result as P('data', 'model') (now P()): -768.0 KiB sent}}
  // expected-note@+1 {{768.0 KiB (100%) sent, all_gather along data: resharded from P('data') to P() for result 0}}
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<512x256xf32>, tensor<256x512xf32>) -> tensor<512x512xf32>
  return %0 : tensor<512x512xf32>
}
