// RUN: sdy-opt %s -sdy-apply-sharding-constraints='debug-sharding-origins=true debug-propagation-edge-sharding=true' | filecheck %s

sdy.mesh @mesh = <["x"=2, "y"=4]>

// The axes of the input originate from the constraint, which records that they propagated from its result to
// its operand. The function result records its origins as well.
// CHECK-LABEL: func.func @from_constraint
// CHECK-SAME: -> (tensor<8x8xf32> {sdy.sharding_origins = {x = "constraint_0", "y:(1)2" = "constraint_0"}})
func.func @from_constraint(%a: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // CHECK-NEXT: stablehlo.negate
  // CHECK-SAME: sdy.sharding_origins = [{x = "constraint_0", "y:(1)2" = "constraint_0"}]
  %0 = stablehlo.negate %a : tensor<8x8xf32>
  // CHECK-NEXT: sdy.sharding_constraint
  // CHECK-SAME: sdy.propagation_edges = #sdy.propagation_edges<[{step-0 = [{"x" = result-0 -> [operand-0]}, {"y":(1)2 = result-0 -> [operand-0]}]}]>
  // CHECK-SAME: sdy.sharding_origin_name = "constraint_0"
  // CHECK-SAME: sdy.sharding_origins = {x = "self", "y:(1)2" = "self"}
  %1 = sdy.sharding_constraint %0 <@mesh, [{"y":(1)2}, {"x"}]> : tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}

// Constraints and steps are numbered through the module; only applied constraints are steps.
// CHECK-LABEL: func.func @counted
func.func @counted(%a: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %0 = stablehlo.negate %a : tensor<8xf32>
  %1 = stablehlo.negate %a : tensor<8xf32>
  // CHECK: sdy.sharding_constraint %0 <@mesh, [{?}]> {sdy.sharding_origin_name = "constraint_1"}
  %2 = sdy.sharding_constraint %0 <@mesh, [{?}]> : tensor<8xf32>
  // CHECK-NEXT: step-1 = [{"x" = result-0 -> [operand-0]}]
  // CHECK-SAME: sdy.sharding_origin_name = "constraint_2"
  %3 = sdy.sharding_constraint %1 <@mesh, [{"x"}]> : tensor<8xf32>
  return %2, %3 : tensor<8xf32>, tensor<8xf32>
}

// Axes of function inputs and outputs originate from themselves. The first origin counts.
// CHECK-LABEL: func.func @signature
// CHECK-SAME: %arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>, sdy.sharding_origins = {x = "self"}}
// CHECK-SAME: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>, sdy.sharding_origins = {y = "self"}}
func.func @signature(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>})
    -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>}) {
  // CHECK-NEXT: stablehlo.negate %arg0 {sdy.sharding_origins = [{y = "output: 0"}]}
  %0 = stablehlo.negate %a : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// Inputs and outputs of manual computations have origin names, which their data-flow edges store.
// CHECK-LABEL: func.func @manual
func.func @manual(%a: tensor<8xf32>) -> tensor<8xf32> {
  // CHECK-NEXT: sdy.manual_computation
  // CHECK: sdy.data_flow_edge %{{.*}} {sdy.sharding_origins = {x = "self"}}
  // CHECK: {sdy.sharding_origin_name = "mc_0"}
  // CHECK-NEXT: sdy.data_flow_edge {{.*}} {sdy.sharding_origins = {y = "self"}}
  %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[<@mesh, [{"y"}]>]
      manual_axes={"x"} (%b: tensor<4xf32>) {
    %2 = sdy.data_flow_edge %b sharding=<@mesh, [{}]> : tensor<4xf32>
    %3 = stablehlo.concatenate %2, %2, dim = 0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<8xf32>
    sdy.return %3 : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  %1 = sdy.data_flow_edge %0 sharding=<@mesh, [{"y"}]> : tensor<8xf32>
  return %1 : tensor<8xf32>
}

// With a custom rule, a dimension of the result need not be one of the operand.
// CHECK-LABEL: func.func @own_rule
func.func @own_rule(%a: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // CHECK: step-2 = [{"x" = result-0 -> [operand-0]}]
  %0 = sdy.sharding_constraint %a <@mesh, [{"x"}, {"y"}]>
      {sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([i, k]) {i=8, j=8, k=8}>} : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// A maximal sharding has no axes that propagate, with a custom rule, too.
sdy.mesh @maximal = <[], device_ids=[0]>
// CHECK-LABEL: func.func @maximal_sharding
// CHECK-SAME: %arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@maximal, []>}
func.func @maximal_sharding(%a: tensor<8xf32>) -> tensor<8xf32> {
  %0 = sdy.sharding_constraint %a <@maximal, []>
      {sdy.sharding_rule = #sdy.op_sharding_rule<([i])->([i]) {i=8}>} : tensor<8xf32>
  return %0 : tensor<8xf32>
}
