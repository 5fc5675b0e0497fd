// RUN: sdy-opt %s --explain='#0' | filecheck %s

// A side of a collective is named by the weight that it is a part or a copy of, and what jax.checkpoint keeps apart by a
// barrier by what comes before.

// CHECK:      #0 all_reduce along {"x"} of the dot_general at train.py:4
// CHECK:      "x" shards dimension 0 of w (the convert at train.py:3)
// CHECK-NEXT: from the convert (dimension 0), which it passes on (data-flow edge of optimization_barrier)
// CHECK-NEXT: train.py:3
// CHECK-NEXT: from w (dimension 0), forward along convert train.py:3
// CHECK-NEXT: annotated: the input w

#cast = loc("jit(step)/convert"("step"("train.py":3:1)))
#remat = loc("jit(step)/checkpoint/remat2"("step"("train.py":9:1)))
#dot = loc("jit(step)/dot_general"("step"("train.py":4:1)))

sdy.mesh @mesh = <["x"=4]>
func.func public @main(
    %x: tensor<8x16xf32> loc("x"),
    %w: tensor<16x32xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>} loc("w")) -> tensor<8x32xf32> {
  %0 = stablehlo.convert %w : (tensor<16x32xbf16>) -> tensor<16x32xf32> loc(#cast)
  %1 = stablehlo.optimization_barrier %0 : tensor<16x32xf32> loc(#remat)
  %2 = stablehlo.dot_general %x, %1, contracting_dims = [1] x [0] : (tensor<8x16xf32>, tensor<16x32xf32>) -> tensor<8x32xf32> loc(#dot)
  return %2 : tensor<8x32xf32>
}
