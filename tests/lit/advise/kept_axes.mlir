// RUN: sdy-opt %s --advise | filecheck %s
// RUN: sdy-opt %s --check | filecheck %s --check-prefix=CHECK-TEXT

// A reshard loses the axis of the batch, and the products after it state the same. One of them alone with the axis sends no
// less, because the others need all of the batch: all are changed, each with its own spec.
//
// CHECK:      1. keep "data": write P('data') in the reshard at model.py:4; where out_sharding is written, too:
// CHECK-NEXT: P('data', None, 'model') at model.py:5, P('data') at model.py:8
// CHECK-NEXT:   on the wire 768.0 KiB → 0 B
// CHECK-TEXT:      1. keep "data": write P('data') in the reshard at model.py:4; where out_sharding is written, too:
// CHECK-TEXT-NEXT: P('data', None, 'model') at model.py:5, P('data') at model.py:8: -768.0 KiB sent, -{{.*}} MiB

// Explanations of a value where one of them is written, and of a line that sends less with them, have the same change.
// RUN: sdy-opt %s --explain=model.py:4 | filecheck %s --check-prefix=WRITTEN
// RUN: sdy-opt %s --explain=model.py:5 | filecheck %s --check-prefix=LINE
// WRITTEN:      help: keep "data": write P('data') in the reshard at model.py:4; where out_sharding is
// WRITTEN:      tried: -768.0 KiB sent
// LINE:         model.py:5: 768.0 KiB (100%) sent in all_gather along data
// LINE-NEXT:    help: keep "data": write P('data') in the reshard at model.py:4
// LINE:         tried: -768.0 KiB sent, {{.*}}; this line sends 0 B in place of
// LINE:         why: x is resharded from P('data') to P() for dot_general and 1 more

#reshard = loc("jit(f)/reshard"("f"("model.py":4:5)))
#product = loc("jit(f)/dot_general"("f"("model.py":5:5)))
#other = loc("jit(f)/dot_general"("f"("model.py":8:5)))
#back = loc("jit(f)/reshard"("f"("model.py":6:5)))
#tanh = loc("jit(f)/tanh"("f"("model.py":7:5)))
sdy.mesh @mesh = <["data"=4, "model"=2]>
func.func @main(
    %x: tensor<16x64x256xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}, {}]>} loc("x"),
    %w: tensor<256x1024xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>} loc("w"),
    %u: tensor<256x512xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>} loc("u"))
    -> (tensor<16x64x1024xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}, {"model"}]>},
        tensor<16x64x512xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}, {}]>}) {
  %0 = sdy.sharding_constraint %x <@mesh, [{}, {}, {}]> : tensor<16x64x256xf32> loc(#reshard)
  %1 = stablehlo.dot_general %0, %w, contracting_dims = [2] x [0] : (tensor<16x64x256xf32>, tensor<256x1024xf32>) -> tensor<16x64x1024xf32> loc(#product)
  %2 = sdy.sharding_constraint %1 <@mesh, [{}, {}, {"model"}]> : tensor<16x64x1024xf32> loc(#product)
  %5 = stablehlo.dot_general %0, %u, contracting_dims = [2] x [0] : (tensor<16x64x256xf32>, tensor<256x512xf32>) -> tensor<16x64x512xf32> loc(#other)
  %6 = sdy.sharding_constraint %5 <@mesh, [{}, {}, {}]> : tensor<16x64x512xf32> loc(#other)
  %3 = stablehlo.tanh %2 : tensor<16x64x1024xf32> loc(#tanh)
  %4 = sdy.sharding_constraint %3 <@mesh, [{"data"}, {}, {"model"}]> : tensor<16x64x1024xf32> loc(#back)
  return %4, %6 : tensor<16x64x1024xf32>, tensor<16x64x512xf32>
}
