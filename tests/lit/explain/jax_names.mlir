// RUN: sdy-opt %s --explain='params["w"]' | filecheck %s
// RUN: sdy-opt %s --explain='result[0]' | filecheck %s --check-prefix=RESULT
// RUN: sdy-opt %s --show-sharding="params['w']" | filecheck %s --check-prefix=SHOW
// RUN: sdy-opt %s --show-sharding=tokens | filecheck %s --check-prefix=TOKENS
// RUN: not sdy-opt %s --explain="params['v']" 2>&1 | filecheck %s --check-prefix=UNKNOWN
// RUN: not sdy-opt %s --show-sharding="params['v']" 2>&1 | filecheck %s --check-prefix=UNKNOWN
// RUN: not sdy-opt %s --explain='state["w"]' 2>&1 | filecheck %s --check-prefix=KEY

// Arguments and results have the names that JAX gives them, and are asked for by them, in either quotes.

// CHECK:      params['w']: f32[8,16] is sharded P(None, 'x')
// CHECK-NEXT: ├─ in sdy: tensor<8x16xf32> [{}, {"x"}]
// CHECK-NEXT: "x" shards dimension 1
// CHECK-NEXT: annotated: the input params['w']

// RESULT:      result[0]: f32[4,16] is sharded P(None, 'x')
// RESULT-NEXT: ├─ in sdy: tensor<4x16xf32> [{?}, {"x", ?}]; ? is open: no annotation keeps further axes out
// RESULT:      annotated: the input params['w']

// SHOW:        tensor 8x16
// TOKENS:      tensor 4x8

// UNKNOWN:      error: no argument or result of this name in the program
// UNKNOWN-NEXT: params['v']
// UNKNOWN:      help: did you mean 'params['w']'?

// A name whose last key is known is that of the arguments and results with this key.
// KEY:      state["w"]
// KEY:      help: choose from params['w']

sdy.mesh @mesh = <["x"=4]>
func.func public @main(
    %arg0: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>} loc("tokens"),
    %arg1: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>} loc("params['w']"))
    -> (tensor<4x16xf32> {jax.result_info = "result[0]"}) {
  %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0] : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
  return %0 : tensor<4x16xf32>
}
