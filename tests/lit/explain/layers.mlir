// What a line computes in each layer is explained once if type and sharding are the same. Equal
// annotations of one line are named once.
// RUN: sdy-opt %s --explain=model.py:3 | filecheck %s

// CHECK:     dot_general: f32[8,16] is sharded P('data', 'model')  %0
// CHECK:     ├─ "data" shards dimension 0, from the input x, along dot_general
// CHECK:     "model" shards dimension 1, from the input params[0]['w'], along dot_general
// CHECK:     └─ so are 2 more values of this line{{$}}
// CHECK-NOT: dot_general: f32[8,16]
#product = loc("jit(step)/dot_general"("layer"("model.py":3:4)))

sdy.mesh @mesh = <["data"=2, "model"=2]>
func.func @main(
    %x: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>} loc("x"),
    %a: tensor<16x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>} loc("params[0]['w']"),
    %b: tensor<16x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>} loc("params[1]['w']"),
    %c: tensor<16x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>} loc("params[2]['w']"))
    -> (tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>) {
  %0 = stablehlo.dot_general %x, %a, contracting_dims = [1] x [0] : (tensor<8x16xf32>, tensor<16x16xf32>) -> tensor<8x16xf32> loc(#product)
  %1 = stablehlo.dot_general %x, %b, contracting_dims = [1] x [0] : (tensor<8x16xf32>, tensor<16x16xf32>) -> tensor<8x16xf32> loc(#product)
  %2 = stablehlo.dot_general %x, %c, contracting_dims = [1] x [0] : (tensor<8x16xf32>, tensor<16x16xf32>) -> tensor<8x16xf32> loc(#product)
  return %0, %1, %2 : tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>
}
