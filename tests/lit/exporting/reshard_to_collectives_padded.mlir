// RUN: sdy-opt %s -sdy-reshard-to-collectives | filecheck %s
// RUN: sdy-opt %s -sdy-reshard-to-collectives --sdy-version=jaxlib-0.11.2 | filecheck %s --check-prefix=PARTS

sdy.mesh @mesh = <["x"=2, "y"=4]>

// 2 shards of 50 elements have 25 each. 4 shards have 13 each, with a padding of 2, so they are no halves of the
// 2 shards: the dimension is gathered, and sharded again. Earlier releases slice shards as if they were.
// CHECK-LABEL: func @more_shards_of_50
// PARTS-LABEL: func @more_shards_of_50
func.func @more_shards_of_50(%a: tensor<50xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<50xf32> {
  // CHECK-NEXT: %0 = sdy.all_gather [{"x"}] %arg0 out_sharding=<@mesh, [{}]>
  // CHECK-NEXT: %1 = sdy.all_slice [{"y"}] %0 out_sharding=<@mesh, [{"y"}]>
  // CHECK-NEXT: return %1
  // PARTS-NEXT: %0 = sdy.all_slice [{"y":(1)2}] %arg0 out_sharding=<@mesh, [{"x", "y":(1)2}]>
  // PARTS-NEXT: %1 = sdy.collective_permute %0 out_sharding=<@mesh, [{"y"}]>
  // PARTS-NEXT: return %1
  %0 = sdy.reshard %a <@mesh, [{"y"}]> : tensor<50xf32>
  return %0 : tensor<50xf32>
}

// 51 elements have the same padding in 2 and in 4 shards, 26 and 13 elements each.
// CHECK-LABEL: func @more_shards_of_51
func.func @more_shards_of_51(%a: tensor<51xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<51xf32> {
  // CHECK-NEXT: %0 = sdy.all_slice [{"y":(1)2}] %arg0 out_sharding=<@mesh, [{"x", "y":(1)2}]>
  // CHECK-NEXT: %1 = sdy.collective_permute %0 out_sharding=<@mesh, [{"y"}]>
  // CHECK-NEXT: return %1
  %0 = sdy.reshard %a <@mesh, [{"y"}]> : tensor<51xf32>
  return %0 : tensor<51xf32>
}

// Axes that are in both shardings are gathered too.
// CHECK-LABEL: func @common_prefix
func.func @common_prefix(%a: tensor<50xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<50xf32> {
  // CHECK-NEXT: %0 = sdy.all_gather [{"x"}] %arg0 out_sharding=<@mesh, [{}]>
  // CHECK-NEXT: %1 = sdy.all_slice [{"x", "y"}] %0 out_sharding=<@mesh, [{"x", "y"}]>
  // CHECK-NEXT: return %1
  %0 = sdy.reshard %a <@mesh, [{"x", "y"}]> : tensor<50xf32>
  return %0 : tensor<50xf32>
}

// No all-gather is needed if one all-to-all removes all axes of the dimension. Then "y" moves as usual.
// CHECK-LABEL: func @all_axes_move
func.func @all_axes_move(%a: tensor<50x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}) -> tensor<50x64xf32> {
  // CHECK-NEXT: %0 = sdy.all_to_all [{"x"}: 0->1] %arg0 out_sharding=<@mesh, [{}, {"y", "x"}]>
  // CHECK-NEXT: %1 = sdy.collective_permute %0 out_sharding=<@mesh, [{}, {"x", "y"}]>
  // CHECK-NEXT: %2 = sdy.all_to_all [{"y"}: 1->0] %1 out_sharding=<@mesh, [{"y"}, {"x"}]>
  // CHECK-NEXT: return %2
  %0 = sdy.reshard %a <@mesh, [{"y"}, {"x"}]> : tensor<50x64xf32>
  return %0 : tensor<50x64xf32>
}

// Axes of other dimensions that are to shard it are gathered with it.
// CHECK-LABEL: func @axis_of_another_dimension
func.func @axis_of_another_dimension(%a: tensor<50x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}) -> tensor<50x64xf32> {
  // CHECK-NEXT: %0 = sdy.all_gather [{"x"}, {"y"}] %arg0 out_sharding=<@mesh, [{}, {}]>
  // CHECK-NEXT: %1 = sdy.all_slice [{"y"}, {}] %0 out_sharding=<@mesh, [{"y"}, {}]>
  // CHECK-NEXT: return %1
  %0 = sdy.reshard %a <@mesh, [{"y"}, {}]> : tensor<50x64xf32>
  return %0 : tensor<50x64xf32>
}
