// What is no product and no collective has a line, too: in a decode step, it is most of the time.
// RUN: sdy-opt %s --report --topology=tpu-v5e:2x2 | filecheck %s
// CHECK:      estimated time
// CHECK-NEXT: communication 0.00 s, products {{.*}}, other operations [[TIME:.*]]
// CHECK:          time  share  times  where {{ *}}kind {{ *}}limit
// CHECK-NEXT: {{^}}  [[TIME]]    99%      1  decode.py:7  reduce
// CHECK-NEXT: decode.py:5  dot_general  compute

sdy.mesh @mesh = <["x"=4]>
func.func @main(%x: tensor<64x1024xf32>, %w: tensor<1024x1024xf32>,
    %cache: tensor<64x4096x1024xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}, {}]>}) -> tensor<64x1024xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<64x1024xf32>, tensor<1024x1024xf32>) -> tensor<64x1024xf32> loc(#product)
  %1 = stablehlo.reduce(%cache init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<64x4096x1024xf32>, tensor<f32>) -> tensor<64x1024xf32> loc(#sum)
  %2 = stablehlo.add %0, %1 : tensor<64x1024xf32> loc(#sum)
  return %2 : tensor<64x1024xf32>
}
#product = loc("jit(step)/dot_general"("step"("decode.py":5:1)))
#sum = loc("jit(step)/reduce_sum"("step"("decode.py":7:1)))
