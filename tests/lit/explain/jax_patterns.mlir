// RUN: sdy-opt %s --explain="p['layers'][*]['w']" | filecheck %s
// RUN: sdy-opt %s --explain="p['bias'][*]" | filecheck %s --check-prefix=SAME
// RUN: sdy-opt %s --explain="result[*]" | filecheck %s --check-prefix=RESULTS
// RUN: sdy-opt %s --explain=train.py:3:8 --explain='train.py:3 all' | filecheck %s --check-prefix=LINE
// RUN: sdy-opt %s --explain='result 0' | filecheck %s --check-prefix=RESULT
// RUN: not sdy-opt %s --explain="p['layers']" 2>&1 | filecheck %s --check-prefix=PART
// RUN: not sdy-opt %s --explain=w 2>&1 | filecheck %s --check-prefix=KEY
// RUN: not sdy-opt %s --explain=loss 2>&1 | filecheck %s --check-prefix=OTHER
// RUN: not sdy-opt %s --explain=train.py 2>&1 | filecheck %s --check-prefix=FILE

// A name with [*] is that of all layers, as reports show it. Equal answers are given once.
// CHECK:      p['layers'][0]['w']: f32[8,8] is sharded P(None, 'x')
// CHECK:      p['layers'][1]['w']: f32[8,8] is sharded P(None, 'x')
// SAME:        p['bias'][0]: f32[8] is sharded P('x')
// SAME:        the answer is the same for 1 more value of this name
// RESULTS:     result[0]: f32[4,8] is sharded P(None, 'x')
// RESULTS:     result[1]: f32[8,8] is sharded P(None, 'x')
// RESULT:      result[0]: f32[4,8] is sharded

// The column of a line may be given. Copies of a value are listed once. A loop-carried value says what it starts with.
// LINE:       result 1 of the while: f32[4,8] is sharded P(None, 'x') %2#1 of @main
// LINE:       the loop carries it, from the dot_general at train.py:2 on
// LINE:       2 values of train.py:3, with their names for --explain

// What is no name is answered with names of which it is a part, or with one for each argument of Python.
// PART:       help: choose from p['layers'][*]['w']{{$}}
// KEY:        help: choose from p['layers'][*]['w']{{$}}
// OTHER:      help: choose from tokens, p['layers'][0]['w'], result[0], result[1]
// FILE:       error: the line of this file is missing
// FILE:       help: write train.py:LINE, such as train.py:12

sdy.mesh @mesh = <["x"=4]>
func.func public @main(
    %arg0: tensor<4x8xf32> loc("tokens"),
    %arg1: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>} loc("p['layers'][0]['w']"),
    %arg2: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>} loc("p['layers'][1]['w']"),
    %arg3: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>} loc("p['bias'][0]"),
    %arg4: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>} loc("p['bias'][1]"))
    -> (tensor<4x8xf32> {jax.result_info = "result[0]"}, tensor<8x8xf32> {jax.result_info = "result[1]"},
        tensor<8xf32>, tensor<8xf32>) {
  %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0] : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32> loc(#step)
  %1 = stablehlo.dot_general %0, %arg2, contracting_dims = [1] x [0] : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32> loc(#step)
  %limit = stablehlo.constant dense<3> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %2:2 = stablehlo.while(%i = %one, %carried = %1) : tensor<i32>, tensor<4x8xf32>
    cond {
      %4 = stablehlo.compare LT, %i, %limit : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %4 : tensor<i1>
    } do {
      %5 = stablehlo.add %i, %one : tensor<i32>
      %6 = stablehlo.tanh %carried : tensor<4x8xf32>
      stablehlo.return %5, %6 : tensor<i32>, tensor<4x8xf32>
    } loc(#loop)
  %3 = stablehlo.add %arg1, %arg2 : tensor<8x8xf32>
  return %2#1, %3, %arg3, %arg4 : tensor<4x8xf32>, tensor<8x8xf32>, tensor<8xf32>, tensor<8xf32>
}
func.func private @unused(%a: tensor<4xf32>) -> tensor<4xf32> {
  return %a : tensor<4xf32>
}
#step = loc("jit(step)/dot_general"("step"("train.py":2:4)))
#loop = loc("jit(step)/while"("step"("train.py":3:8)))
