// An einsum is a product that JAX transposes, both with the location of the call: the spec is that of its result. What JAX
// derives from operands is changed only where an out_sharding is written.
// RUN: sdy-opt %s --advise | filecheck %s
// RUN: sdy-opt %s --check | filecheck %s --check-prefix=CHECK-TEXT

// CHECK:      1. keep "data": write out_sharding=P(None, 'data', None, 'model') in the dot_general at model.py:4;
// CHECK-NEXT: where out_sharding is written, too: P(None, 'data', None, 'model') at model.py:5
// CHECK-NEXT: on the wire 768.0 KiB → 0 B
// CHECK-TEXT:      1. keep "data": write out_sharding=P(None, 'data', None, 'model') in the dot_general at model.py:4;
// CHECK-TEXT-NEXT: where out_sharding is written, too: P(None, 'data', None, 'model') at model.py:5: -768.0 KiB
// CHECK-TEXT-NEXT: sent
#product = loc("jit(f)/jvp(bsd,ndhk->nbshk)/dot_general"("f"("model.py":4:5 to :90)))
#transpose = loc("jit(f)/jvp(bsd,ndhk->nbshk)/transpose"("f"("model.py":4:5 to :90)))
#other = loc("jit(f)/jvp()/dot_general"("f"("model.py":5:5 to :30)))
sdy.mesh @mesh = <["data"=4, "model"=2]>
func.func @main(
    %x: tensor<16x64x256xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}, {}]>} loc("x"),
    %w: tensor<3x256x8x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {"model"}, {}]>} loc("w"),
    %u: tensor<32x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>} loc("u"))
    -> (tensor<3x16x64x8x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"data"}, {}, {"model"}, {}]>}) {
  %0 = stablehlo.dot_general %w, %x, contracting_dims = [1] x [2] : (tensor<3x256x8x32xf32>, tensor<16x64x256xf32>) -> tensor<3x8x32x16x64xf32> loc(#product)
  %1 = sdy.sharding_constraint %0 <@mesh, [{}, {"model"}, {}, {}, {}]> : tensor<3x8x32x16x64xf32> loc(#product)
  %2 = stablehlo.transpose %1, dims = [0, 3, 4, 1, 2] : (tensor<3x8x32x16x64xf32>) -> tensor<3x16x64x8x32xf32> loc(#transpose)
  %3 = sdy.sharding_constraint %2 <@mesh, [{}, {}, {}, {"model"}, {}]> : tensor<3x16x64x8x32xf32> loc(#transpose)
  %4 = stablehlo.dot_general %3, %u, contracting_dims = [4] x [0] : (tensor<3x16x64x8x32xf32>, tensor<32x32xf32>) -> tensor<3x16x64x8x32xf32> loc(#other)
  %5 = sdy.sharding_constraint %4 <@mesh, [{}, {}, {}, {"model"}, {}]> : tensor<3x16x64x8x32xf32> loc(#other)
  return %5 : tensor<3x16x64x8x32xf32>
}
