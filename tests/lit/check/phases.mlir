// RUN: sdy-opt %s --check | filecheck %s
// RUN: sdy-opt %s --report=- | filecheck %s --check-prefix=REPORT

// A gather that both passes need is of the forward pass, in which it is needed first, and has its line. What is
// computed from gradients outside of differentiated functions, is the update.

// CHECK: why: model.py:12: {{.*}} all_reduce along y, update: result
// CHECK: why: model.py:8: {{.*}} all_reduce along y, backward: dot_general

// REPORT: in the update, dot_general contracts a dimension of factor['w']

#forward = loc("jit(step)/jvp()/dot_general"("layer"("model.py":6:5)))
#backward = loc("jit(step)/transpose(jvp())/dot_general"("layer"("model.py":8:5)))
#gradient = loc("jit(step)/transpose(jvp())/dot_general"("layer"("model.py":9:5)))
#scaled = loc("jit(step)/dot_general"("step"("model.py":12:5)))

sdy.mesh @mesh = <["x"=4, "y"=2]>
func.func public @main(
    %a: tensor<64x256xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>} loc("batch"),
    %w: tensor<256x256xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>} loc("params['w']"),
    %q: tensor<256x256xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>} loc("factor['w']"))
    -> (tensor<256x256xf32>, tensor<64x256xf32>) {
  %y = stablehlo.dot_general %a, %w, contracting_dims = [1] x [0] : (tensor<64x256xf32>, tensor<256x256xf32>) -> tensor<64x256xf32> loc(#forward)
  %b = stablehlo.dot_general %y, %w, contracting_dims = [1] x [1] : (tensor<64x256xf32>, tensor<256x256xf32>) -> tensor<64x256xf32> loc(#backward)
  %g = stablehlo.dot_general %a, %y, contracting_dims = [0] x [0] : (tensor<64x256xf32>, tensor<64x256xf32>) -> tensor<256x256xf32> loc(#gradient)
  %scaled = stablehlo.dot_general %g, %q, contracting_dims = [1] x [0] : (tensor<256x256xf32>, tensor<256x256xf32>) -> tensor<256x256xf32> loc(#scaled)
  return %scaled, %b : tensor<256x256xf32>, tensor<64x256xf32>
}
