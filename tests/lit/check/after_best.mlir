// RUN: split-file %s %t
// RUN: sdy-opt %t/state.mlir --check | filecheck %s --check-prefix=STATE
// RUN: sdy-opt %t/state.mlir --check=%t/state.json
// RUN: filecheck %s --check-prefix=JSON --input-file=%t/state.json
// RUN: sdy-opt %t/state.mlir --check --report=%t/state.html
// RUN: filecheck %s --check-prefix=HTML --input-file=%t/state.html
// RUN: sdy-opt %t/parameter.mlir --check | filecheck %s --check-prefix=PARAMETER

// Changes of other lines may be of the same arguments as the best one, so that their figures cannot be added. They say what
// they save after the best one. Here it is the moments that cost, so that the parameter is as good as it was.
//
// STATE:      1. shard the state of the optimizer as its parameters: write P('data', 'model') for state['nu']['w']
// STATE:      2. shard the input params['e'] as P('data', 'model'), and state['nu']['e'], result 1 of @main and 1
// STATE-NEXT: more likewise (now P('model', 'data'), and P() for state['nu']['e']): -1.06 MiB sent, -2.00 MiB
// STATE-NEXT: memory; after the best change it saves nothing
// HTML:      <p class="tried">best together: 1, shard result 4 of @main
// HTML-SAME: <p class="tried">shard the state of the optimizer as its parameters
// HTML-SAME: <p class="tried">shard the input params
// JSON:      "after_best_change": null
// JSON:      "after_best_change": {"wire_bytes": [458752, 458752], "peak_bytes": [{{[0-9]+}}, {{[0-9]+}}]}
//--- state.mlir
sdy.mesh @mesh = <["data"=4, "model"=2]>
func.func @main(
    %w: tensor<512x256xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {"model"}]>} loc("params['w']"),
    %e: tensor<256x1024xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {"data"}]>} loc("params['e']"),
    %mw: tensor<512x256xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>} loc("state['nu']['w']"),
    %me: tensor<256x1024xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>} loc("state['nu']['e']"),
    %gw: tensor<512x256xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {"model"}]>} loc("gradients['w']"),
    %ge: tensor<256x1024xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {"model"}]>} loc("gradients['e']"),
    %x: tensor<64x256xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>} loc("x"))
    -> (tensor<512x256xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {"model"}]>},
        tensor<256x1024xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {"data"}]>},
        tensor<512x256xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>},
        tensor<256x1024xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>},
        tensor<64x1024xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {"model"}]>}) {
  %nw = stablehlo.add %mw, %gw : tensor<512x256xf32>
  %ne = stablehlo.add %me, %ge : tensor<256x1024xf32>
  %0 = stablehlo.subtract %w, %nw : tensor<512x256xf32>
  %1 = stablehlo.subtract %e, %ne : tensor<256x1024xf32>
  %2 = stablehlo.dot_general %x, %e, contracting_dims = [1] x [0] : (tensor<64x256xf32>, tensor<256x1024xf32>) -> tensor<64x1024xf32>
  return %0, %1, %nw, %ne, %2 : tensor<512x256xf32>, tensor<256x1024xf32>, tensor<512x256xf32>, tensor<256x1024xf32>, tensor<64x1024xf32>
}

// The product gathers less of a parameter whose columns are sharded, and its moments are sharded with it. What is left for
// the state are the moments of the other parameter.
//
// PARAMETER:      1. shard the input params['e'] as P('data', 'model'), and state['nu']['e'], result 1 of @main and 1
// PARAMETER:      2. shard the state of the optimizer as its parameters: write P('data', 'model') for state['nu']['w']
// PARAMETER:      -1.47 MiB sent, -2.75 MiB memory; after the best change: -288.0 KiB sent, -896.0 KiB memory
//--- parameter.mlir
sdy.mesh @mesh = <["data"=4, "model"=2]>
func.func @main(
    %w: tensor<512x256xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {"model"}]>} loc("params['w']"),
    %e: tensor<256x1024xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model", "data"}, {}]>} loc("params['e']"),
    %mw: tensor<512x256xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>} loc("state['nu']['w']"),
    %me: tensor<256x1024xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>} loc("state['nu']['e']"),
    %gw: tensor<512x256xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {"model"}]>} loc("gradients['w']"),
    %ge: tensor<256x1024xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {"model"}]>} loc("gradients['e']"),
    %x: tensor<64x256xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>} loc("x"))
    -> (tensor<512x256xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {"model"}]>},
        tensor<256x1024xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model", "data"}, {}]>},
        tensor<512x256xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>},
        tensor<256x1024xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>},
        tensor<64x1024xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {"model"}]>}) {
  %nw = stablehlo.add %mw, %gw : tensor<512x256xf32>
  %ne = stablehlo.add %me, %ge : tensor<256x1024xf32>
  %0 = stablehlo.subtract %w, %nw : tensor<512x256xf32>
  %1 = stablehlo.subtract %e, %ne : tensor<256x1024xf32>
  %2 = stablehlo.dot_general %x, %e, contracting_dims = [1] x [0] : (tensor<64x256xf32>, tensor<256x1024xf32>) -> tensor<64x1024xf32>
  return %0, %1, %nw, %ne, %2 : tensor<512x256xf32>, tensor<256x1024xf32>, tensor<512x256xf32>, tensor<256x1024xf32>, tensor<64x1024xf32>
}
