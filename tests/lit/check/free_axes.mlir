// RUN: sdy-opt %s --check | filecheck %s

// Specs leave out an axis along which heads are sharded outside: they are gathered, and all devices along it do the same.
// Nothing in the body depends on the device, so the compiler can shard it.
// CHECK:      1. write axis_names={'data'} in the shard_map at model.py:4, which leaves "model" to the compiler:
// CHECK-NEXT:    -99.0 KiB sent, -133.4 KiB memory, -75% FLOPs
// CHECK-NEXT:    why: the devices along "model" do the same in the shard_map; model.py:4: 99.0 KiB (100%) sent
// CHECK-NOT:     axis_names={'model'}

#map = loc("jit(f)/shard_map"("f"("model.py":4:1)))
#body = loc("jit(f)/shard_map/dot"("f"("model.py":3:1)))
sdy.mesh @mesh = <["data"=2, "model"=4]>
func.func public @main(
    %q: tensor<8x4x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {"model"}, {}]>} loc("q"),
    %k: tensor<8x32x4x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}, {"model"}, {}]>} loc("cache"))
    -> (tensor<8x4x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {"model"}, {}]>}) {
  %0 = sdy.manual_computation(%q, %k)
      in_shardings=[<@mesh, [{"data"}, {}, {}]>, <@mesh, [{"data"}, {}, {}, {}]>]
      out_shardings=[<@mesh, [{"data"}, {}, {}]>] manual_axes={"data", "model"}
      (%a: tensor<4x4x64xf32>, %b: tensor<4x32x4x64xf32>) {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %1 = stablehlo.dot_general %a, %b, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [3]
      : (tensor<4x4x64xf32>, tensor<4x32x4x64xf32>) -> tensor<4x4x32xf32> loc(#body)
    %2 = stablehlo.reduce(%1 init: %zero) applies stablehlo.maximum across dimensions = [2]
      : (tensor<4x4x32xf32>, tensor<f32>) -> tensor<4x4xf32> loc(#body)
    %3 = stablehlo.broadcast_in_dim %2, dims = [0, 1] : (tensor<4x4xf32>) -> tensor<4x4x32xf32> loc(#body)
    %4 = stablehlo.subtract %1, %3 : tensor<4x4x32xf32> loc(#body)
    sdy.return %4 : tensor<4x4x32xf32>
  } : (tensor<8x4x64xf32>, tensor<8x32x4x64xf32>) -> tensor<8x4x32xf32> loc(#map)
  return %0 : tensor<8x4x32xf32>
}
