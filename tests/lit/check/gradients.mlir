// RUN: sdy-opt %s --check | filecheck %s

// A gradient is called by the weight that it updates, not by the momentum; a contraction by its weight; and a
// convolution that the partitioner replaces by its own name.

// CHECK:         why: model.py:7: {{.*}} all_reduce along x, backward: gradient of params['w']:
// CHECK-NEXT:      dot_general contracts a dimension of batch sharded along "x"
// CHECK:      {{^}}2. model.py:6: {{.*}} all_reduce along y
// CHECK-NEXT:    why: dot_general contracts a dimension of params['w'] sharded along "y"

#forward = loc("jit(step)/jvp()/dot_general"("layer"("model.py":6:5)))
#backward = loc("jit(step)/transpose(jvp())/dot_general"("layer"("model.py":7:5)))
#filter = loc("jit(step)/conv"("layer"("model.py":9:5)))

sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func public @main(
    %x: tensor<64x1024xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>} loc("batch"),
    %w: tensor<1024x512xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>} loc("params['w']"),
    %m: tensor<1024x512xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>} loc("momentum['w']"),
    %image: tensor<4x16x16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}, {}, {}]>} loc("image"),
    %delta: tensor<4x16x16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}, {}, {}]>} loc("delta"))
    -> (tensor<1024x512xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}, tensor<1024x512xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}, tensor<8x3x3x8xf32>) {
  %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<64x1024xf32>, tensor<1024x512xf32>) -> tensor<64x512xf32> loc(#forward)
  %g = stablehlo.dot_general %x, %y, contracting_dims = [0] x [0] : (tensor<64x1024xf32>, tensor<64x512xf32>) -> tensor<1024x512xf32> loc(#backward)
  %new_m = stablehlo.add %m, %g : tensor<1024x512xf32>
  %new_w = stablehlo.subtract %w, %new_m : tensor<1024x512xf32>
  %f = stablehlo.convolution(%image, %delta) dim_numbers = [f, 0, 1, b]x[i, 0, 1, o]->[b, 0, 1, f], window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<4x16x16x8xf32>, tensor<4x16x16x8xf32>) -> tensor<8x3x3x8xf32> loc(#filter)
  return %new_w, %new_m, %f : tensor<1024x512xf32>, tensor<1024x512xf32>, tensor<8x3x3x8xf32>
}
