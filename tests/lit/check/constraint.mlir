// A constraint is named where it is to blame for what is sent: without it, activations are sharded along "data", and
// only the weights are gathered. Places that the same change helps refer to it.
// RUN: split-file %s %t
// RUN: sdy-opt %t/program.mlir --check | filecheck %s

// CHECK:      1. model.py:5  960.0 KiB (56%)
// CHECK-NEXT: x and 1 more: P('data') → P() for dot_general
// CHECK-NEXT: tried: P('data') for constraint model.py:4 +2: -1.50 MiB sent, -2.50 MiB memory
// CHECK-NEXT: 2. model.py:8  768.0 KiB (44%)  all_gather along data
// CHECK-NEXT: more: P('data') → P() for add
// CHECK-NEXT: the change of 1 saves 768.0 KiB of this

//--- program.mlir
#shard = loc("shard"("model.py":1:4))
#first = loc("jit(step)/sharding_constraint"(callsite(#shard at "step"("model.py":4:4))))
#second = loc("jit(step)/sharding_constraint"(callsite(#shard at "step"("model.py":7:4))))
#third = loc("jit(step)/sharding_constraint"(callsite(#shard at "step"("model.py":10:4))))
#up = loc("jit(step)/dot_general"("step"("model.py":5:4)))
#add = loc("jit(step)/add"("step"("model.py":6:4)))
#last = loc("jit(step)/add"("step"("model.py":9:4)))
#down = loc("jit(step)/dot_general"("step"("model.py":8:4)))

sdy.mesh @mesh = <["data"=4]>
func.func @main(
    %x: tensor<1024x256xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>} loc("x"),
    %up: tensor<256x256xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>} loc("params['up']"),
    %down: tensor<256x256xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>} loc("params['down']"),
    %more: tensor<1024x256xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>} loc("more"))
    -> (tensor<1024x256xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>}) {
  %0 = sdy.sharding_constraint %x <@mesh, [{}, {}]> : tensor<1024x256xf32> loc(#first)
  %1 = stablehlo.dot_general %0, %up, contracting_dims = [1] x [0] : (tensor<1024x256xf32>, tensor<256x256xf32>) -> tensor<1024x256xf32> loc(#up)
  %2 = stablehlo.add %0, %1 : tensor<1024x256xf32> loc(#add)
  %sum = stablehlo.add %2, %more : tensor<1024x256xf32> loc(#down)
  %3 = sdy.sharding_constraint %sum <@mesh, [{}, {}]> : tensor<1024x256xf32> loc(#second)
  %4 = stablehlo.dot_general %3, %down, contracting_dims = [1] x [0] : (tensor<1024x256xf32>, tensor<256x256xf32>) -> tensor<1024x256xf32> loc(#down)
  %5 = stablehlo.add %3, %4 : tensor<1024x256xf32> loc(#last)
  %6 = sdy.sharding_constraint %5 <@mesh, [{}, {}]> : tensor<1024x256xf32> loc(#third)
  return %6 : tensor<1024x256xf32>
}
