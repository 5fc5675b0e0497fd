// RUN: sdy-opt %s | sdy-opt | filecheck %s

// What Shardy's documents exclude and C++ accepts (docs/differences.md, "Shardy's documents").

// CHECK: sdy.mesh @two = <["x"=2]>
sdy.mesh @two = <["x"=2]>
// CHECK: sdy.mesh @eight = <["x"=4, "y"=2]>
sdy.mesh @eight = <["x"=4, "y"=2]>
// CHECK: sdy.mesh @iota = <["x"=2, "y"=2]>
sdy.mesh @iota = <["x"=2, "y"=2], device_ids=[0, 1, 2, 3]>

// CHECK-LABEL: func.func @rules
func.func @rules(%a: tensor<8xf32>) -> tensor<8xf32> {
  // CHECK: stablehlo.add %arg0, %arg0 {sdy.sharding_rule = #sdy.op_sharding_rule<([i], [i])->([i]) {i=8}, custom>}
  %0 = stablehlo.add %a, %a {sdy.sharding_rule = #sdy.op_sharding_rule<([i], [i])->([i]) {i=8}, custom>} : tensor<8xf32>
  // CHECK: stablehlo.custom_call @f(%0) {sdy.sharding_rule = #sdy.op_sharding_rule<([i])->([i]) {i=4}, custom>}
  %1 = stablehlo.custom_call @f(%0) {sdy.sharding_rule = #sdy.op_sharding_rule<([i])->([i]) {i=4}, custom>} : (tensor<8xf32>) -> tensor<8xf32>
  // CHECK: stablehlo.custom_call @g(%1) {sdy.sharding_rule = #sdy.op_sharding_rule<([ij])->([ij]) {i=3, j=3}, custom>}
  %2 = stablehlo.custom_call @g(%1) {sdy.sharding_rule = #sdy.op_sharding_rule<([ij])->([ij]) {i=3, j=3}, custom>} : (tensor<8xf32>) -> tensor<8xf32>
  return %2 : tensor<8xf32>
}

// Attributes that are parts of others, by themselves.
// CHECK: func.func private @parts() attributes {
// CHECK-SAME: a = #sdy<axis_ref"x">, b = #sdy<axis_ref"x":(1)2>, c = #sdy<sub_axis_info(1)2>, d = #sdy<mesh_axis"x"=2>,
// CHECK-SAME: e = #sdy<dimension_sharding{"x"}>, f = #sdy<axis_ref_list{"x"}>, g = #sdy<list_of_axis_ref_lists[{"x"}]>,
// CHECK-SAME: h = #sdy<dim_mapping ij>, i = #sdy<tensor_mapping[ij]>, j = #sdy<manual_axes{"x"}>,
// CHECK-SAME: k = #sdy<all_to_all_param{"x"}: 0->1>, l = #sdy<all_to_all_param_list[{"x"}: 0->1]>}
func.func private @parts() attributes {
    a = #sdy<axis_ref"x">, b = #sdy<axis_ref"x":(1)2>, c = #sdy<sub_axis_info(1)2>, d = #sdy<mesh_axis"x"=2>,
    e = #sdy<dimension_sharding{"x"}>, f = #sdy<axis_ref_list{"x"}>, g = #sdy<list_of_axis_ref_lists[{"x"}]>,
    h = #sdy<dim_mapping ij>, i = #sdy<tensor_mapping[ij]>, j = #sdy<manual_axes{"x"}>,
    k = #sdy<all_to_all_param{"x"}: 0->1>, l = #sdy<all_to_all_param_list[{"x"}: 0->1]>}
