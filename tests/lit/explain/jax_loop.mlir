// RUN: sdy-opt %s --explain=model.py:4 | filecheck %s
// RUN: sdy-opt %s --explain='%%r#1' | filecheck %s --check-prefix=RESULT
// RUN: sdy-opt %s --explain='model.py:4 all' | filecheck %s --check-prefix=ALL
// RUN: sdy-opt %s --explain="#0" | filecheck %s --check-prefix=COLLECTIVE

// Of the line of a loop, its result comes before what the loop saves for the backward pass (here %r#2), and before what
// the body computes. Values are described by their operations, axes with the same steps are explained once, and the
// others can be listed.

// CHECK:      {{^}}result 1 of the while: f32[8,16] is sharded P(('x', 'y'), 'z') %r#1
// CHECK-NEXT: ├─ the loop carries it, from h on
// CHECK-NEXT: ├─ "x", "y" shard dimension 0, from the input h, along while
// CHECK-NEXT: ├─ "z" shards dimension 1, from the input w, along convert, dot_general
// CHECK-NEXT: └─ so are 3 more values of this line: dot_general, tanh, negate
// CHECK-NEXT: {{^}}result 2 of the while
// CHECK:      so is 1 more value of this line: dynamic_update_slice
// CHECK:      … and 1 more value; --explain='model.py:4 all' lists them; --explain='%r#1' explains one in full

// RESULT:     {{^}}result 1 of the while: f32[8,16] is sharded P(('x', 'y'), 'z') model.py:4
// RESULT-NEXT: in sdy: %r#1: tensor<8x16xf32>
// RESULT:     ├─ "x", "y" shard dimension 0
// RESULT-NEXT: from h (dimension 0), which the loop carries (data-flow edge of while) model.py:4
// RESULT-NEXT: annotated: the input h
// RESULT-NEXT: "z" shards dimension 1
// RESULT-NEXT: from the convert (dimension 0), between operands along dot_general model.py:4

// ALL:      9 values of model.py:4, with their names for --explain
// ALL-NEXT: result 1 of the while: f32[8,16] P(('x', 'y'), 'z') '%r#1'
// ALL-NEXT: result 2 of the while: f32[3,8,16] P(None, ('x', 'y'), 'z') '%r#2'

// COLLECTIVE:      #0 all_slice along {"z"} of h: a device sends 0 B
// COLLECTIVE-NEXT: resharded: P(('x', 'y')) → P(('x', 'y'), 'z')
// COLLECTIVE:      the loop carries it as P(('x', 'y'), 'z')
// COLLECTIVE-NEXT: "z" shards dimension 1 of result 1 of the while at model.py:4
// COLLECTIVE:      annotated: the input w
// COLLECTIVE-NEXT: "z" does not shard dimension 1 of h
// COLLECTIVE:      dimension 1 of h is closed
// COLLECTIVE:      see --explain="h" for the sharding of what it moves

#scan = loc("jit(step)/jvp()/while"("step"("model.py":4:1)))
#body = loc("jit(step)/jvp()/while/body/dot_general"("step"("model.py":4:1)))
#gradient = loc("jit(step)/transpose(jvp())/mul"("step"("model.py":6:1)))

sdy.mesh @mesh = <["x"=2, "y"=2, "z"=2]>
func.func public @main(
    %h: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}, {}]>} loc("h"),
    %w: tensor<16x16xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{"z"}, {}]>} loc("w")) -> (tensor<8x16xf32>, tensor<3x8x16xf32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %saved = stablehlo.constant dense<0.0> : tensor<3x8x16xf32>
  %r:3 = stablehlo.while(%i = %zero, %y = %h, %s = %saved) : tensor<i32>, tensor<8x16xf32>, tensor<3x8x16xf32>
   cond {
    %three = stablehlo.constant dense<3> : tensor<i32>
    %p = stablehlo.compare LT, %i, %three : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %none = stablehlo.constant dense<0> : tensor<i32>
    %j = stablehlo.add %i, %one : tensor<i32>
    %0 = stablehlo.convert %w : (tensor<16x16xbf16>) -> tensor<16x16xf32> loc(#body)
    %1 = stablehlo.dot_general %y, %0, contracting_dims = [1] x [0] : (tensor<8x16xf32>, tensor<16x16xf32>) -> tensor<8x16xf32> loc(#body)
    %2 = stablehlo.tanh %1 : tensor<8x16xf32> loc(#body)
    %3 = stablehlo.negate %2 : tensor<8x16xf32> loc(#body)
    %4 = stablehlo.reshape %3 : (tensor<8x16xf32>) -> tensor<1x8x16xf32> loc(#body)
    %5 = stablehlo.dynamic_update_slice %s, %4, %i, %none, %none : (tensor<3x8x16xf32>, tensor<1x8x16xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<3x8x16xf32> loc(#body)
    stablehlo.return %j, %3, %5 : tensor<i32>, tensor<8x16xf32>, tensor<3x8x16xf32>
  } loc(#scan)
  %6 = stablehlo.multiply %r#2, %r#2 : tensor<3x8x16xf32> loc(#gradient)
  return %r#1, %6 : tensor<8x16xf32>, tensor<3x8x16xf32>
}
