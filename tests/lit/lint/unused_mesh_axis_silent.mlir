// RUN: sdy-opt %s --lint=unused-mesh-axis --lint-config=- --split-input-file --verify-diagnostics

// "data" shards a dimension, and the computation is manual along "model".
sdy.mesh @mesh = <["data"=4, "model"=2]>
// No sharding refers to this mesh.
sdy.mesh @other = <["z"=8]>

func.func @main(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>}) -> tensor<8x8xf32> {
  %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"model"}, {}]>] out_shardings=[<@mesh, [{"model"}, {}]>] manual_axes={"model"} (%b: tensor<4x8xf32>) {
    sdy.return %b : tensor<4x8xf32>
  } : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// -----

// Both meshes have the axis "y"; under one of them a value is sharded along it.
sdy.mesh @mesh = <["x"=2, "y"=2]>
sdy.mesh @reversed = <["x"=2, "y"=2], device_ids=[3, 2, 1, 0]>

func.func @main(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>},
                %b: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@reversed, [{"x"}, {}]>}) {
  return
}
