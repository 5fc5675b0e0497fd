// RUN: sdy-opt %s -sdy-reshard-to-collectives | filecheck %s

sdy.mesh @mesh = <["z"=12]>

// Sub-axes of sizes 2 and 3 share an axis. After two rounds, the last dimension has the right sub-axes in the
// wrong order, where C++ stops; a third round permutes them.
// CHECK-LABEL: func @sub_axes_of_sizes_2_and_3
func.func @sub_axes_of_sizes_2_and_3(%a: tensor<6x6x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"z":(3)4}, {"z":(1)3}, {}]>}) -> tensor<6x6x6xf32> {
  // CHECK-NEXT: sdy.all_to_all [{"z":(6)2}: 0->1]
  // CHECK-NEXT: sdy.all_to_all [{"z":(3)2}: 0->2]
  // CHECK-NEXT: sdy.collective_permute
  // CHECK-NEXT: sdy.all_to_all [{"z":(1)3}: 1->2] %{{.*}} out_sharding=<@mesh, [{}, {"z":(6)2}, {"z":(3)2, "z":(1)3}]>
  // CHECK-NEXT: %[[RESULT:.*]] = sdy.collective_permute %{{.*}} out_sharding=<@mesh, [{}, {"z":(6)2}, {"z":(1)6}]>
  // CHECK-NEXT: return %[[RESULT]]
  %0 = sdy.reshard %a <@mesh, [{}, {"z":(6)2}, {"z":(1)6}]> : tensor<6x6x6xf32>
  return %0 : tensor<6x6x6xf32>
}

sdy.mesh @mesh_of_three = <["x"=3, "y"=12, "z"=4]>

// The all-gather of the first round removes axes that the target needs in other dimensions. C++ stops with a
// replicated tensor; a third round slices it.
// CHECK-LABEL: func @axes_return_after_an_all_gather
func.func @axes_return_after_an_all_gather(%a: tensor<8x5x15xf32> {sdy.sharding = #sdy.sharding<@mesh_of_three, [{"y", "x"}, {}, {"z"}]>}) -> tensor<8x5x15xf32> {
  // CHECK-NEXT: %[[WHOLE:.*]] = sdy.all_gather [{"y", "x"}, {}, {"z"}] %arg0 out_sharding=<@mesh_of_three, [{}, {}, {}]>
  // CHECK-NEXT: %[[RESULT:.*]] = sdy.all_slice [{"z":(1)2}, {}, {"y":(1)3}] %[[WHOLE]] out_sharding=<@mesh_of_three, [{"z":(1)2}, {}, {"y":(1)3}]>
  // CHECK-NEXT: return %[[RESULT]]
  %0 = sdy.reshard %a <@mesh_of_three, [{"z":(1)2}, {}, {"y":(1)3}]> : tensor<8x5x15xf32>
  return %0 : tensor<8x5x15xf32>
}
