// RUN: sdy-opt %s | filecheck %s
// RUN: sdy-opt %s | sdy-opt - | filecheck %s

// Attributes by themselves: those in angle brackets have the mnemonic before these, the others
// inside. Blanks are ignored.
// CHECK: module attributes {
// CHECK-SAME: test.all_to_all = #sdy<all_to_all_param_list[{"x"}: 0->1, {"y":(1)2}: 2->3]>
// CHECK-SAME: test.all_to_all_move = #sdy<all_to_all_param{"x"}: 0->1>
// CHECK-SAME: test.axes = #sdy<axis_ref_list{"x", "y":(2)4}>
// CHECK-SAME: test.axes_per_dim = #sdy<list_of_axis_ref_lists[{"x"}, {}, {"y"}]>
// CHECK-SAME: test.axis = #sdy<axis_ref"x":(2)4>
// CHECK-SAME: test.dim_mapping = #sdy<dim_mapping ijz_1>
// CHECK-SAME: test.dimension = #sdy<dimension_sharding{"x", "y":(1)2, ?}p3>
// CHECK-SAME: test.edge = #sdy<edge_value_ref operand-0>
// CHECK-SAME: test.edges = #sdy.propagation_edges<[{step-0 = [{"x" = operand-0 -> [result-0, result-1]}]}]>
// CHECK-SAME: test.manual_axes = #sdy<manual_axes{"x", "y"}>
// CHECK-SAME: test.mesh = #sdy.mesh<["x"=2, "y"=4]>
// CHECK-SAME: test.mesh_axis = #sdy<mesh_axis"x"=2>
// CHECK-SAME: test.no_axes = #sdy<axis_ref_list{}>
// CHECK-SAME: test.no_manual_axes = #sdy<manual_axes{}>
// CHECK-SAME: test.rule = #sdy.op_sharding_rule<([i, k], [k, j])->([i, j]) {i=8, j=16, k=32} reduction={k}, custom>
// CHECK-SAME: test.sharding = #sdy.sharding<@mesh, [{"x"}, {?}], replicated={"y"}, unreduced={"z"}>
// CHECK-SAME: test.shardings = #sdy.sharding_per_value<[<@mesh, [{"x"}]>, <@mesh, []>]>
// CHECK-SAME: test.step = #sdy<propagation_one_step{step-7 = [{"x" = result-0 -> [operand-1]}]}>
// CHECK-SAME: test.sub_axis = #sdy<sub_axis_info(2)4>
// CHECK-SAME: test.tensor_mapping = #sdy<tensor_mapping[i, jk]>
module attributes {
  test.all_to_all = #sdy<all_to_all_param_list[{"x"}:0->1, {"y":(1)2} : 2 -> 3]>,
  test.all_to_all_move = #sdy<all_to_all_param{"x"}: 0->1>,
  test.axes = #sdy<axis_ref_list{"x", "y" : (2)4}>,
  test.axes_per_dim = #sdy<list_of_axis_ref_lists[{"x"}, {}, {"y"}]>,
  test.axis = #sdy<axis_ref"x":(2)4>,
  test.dim_mapping = #sdy<dim_mapping ijz_1>,
  test.dimension = #sdy<dimension_sharding{"x", "y":(1)2, ?}p3>,
  test.edge = #sdy<edge_value_ref operand-0>,
  test.edges = #sdy.propagation_edges<[{step-0 = [{"x" = operand-0 -> [result-0, result-1]}]}]>,
  test.manual_axes = #sdy<manual_axes{"x", "y"}>,
  test.mesh = #sdy.mesh<["x"=2, "y"=4]>,
  test.mesh_axis = #sdy<mesh_axis"x"=2>,
  test.no_axes = #sdy<axis_ref_list{}>,
  test.no_manual_axes = #sdy<manual_axes{}>,
  test.rule = #sdy.op_sharding_rule<([i, k],[k, j])->([i, j]) {i=8, j=16, k=32} reduction={k}, custom>,
  test.sharding = #sdy.sharding<@mesh, [{"x"},{?}], unreduced={"z"}, replicated={"y"}>,
  test.shardings = #sdy.sharding_per_value<[<@mesh, [{"x"}]>, #sdy.sharding<@mesh, []>]>,
  test.step = #sdy<propagation_one_step{step-7 = [{"x" = result-0 -> [operand-1]}]}>,
  test.sub_axis = #sdy<sub_axis_info(2)4>,
  test.tensor_mapping = #sdy<tensor_mapping[i, jk]>
} {}
