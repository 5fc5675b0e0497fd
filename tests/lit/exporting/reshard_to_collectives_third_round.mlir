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
