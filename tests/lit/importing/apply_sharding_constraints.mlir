// RUN: sdy-opt %s -sdy-apply-sharding-constraints | filecheck %s

sdy.mesh @mesh = <["x"=2, "y"=2]>

// The input of a constraint gets the sharding of the constraint; the constraint gets its sharding rule as an attribute.
// CHECK-LABEL: func.func @decides
func.func @decides(%a: tensor<8x4xf32>) -> tensor<8x4xf32> {
  // CHECK-NEXT: stablehlo.negate %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>}
  // CHECK-NEXT: sdy.sharding_constraint %0 <@mesh, [{"x"}, {}]> {sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([i, j]) {i=8, j=4}>}
  %0 = stablehlo.negate %a : tensor<8x4xf32>
  %1 = sdy.sharding_constraint %0 <@mesh, [{"x"}, {}]> : tensor<8x4xf32>
  return %1 : tensor<8x4xf32>
}

// The input may be a function argument.
// CHECK-LABEL: func.func @argument
// CHECK-SAME: %arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}], replicated={"y"}>}
func.func @argument(%a: tensor<8xf32>) -> tensor<8xf32> {
  %0 = sdy.sharding_constraint %a <@mesh, [{"x"}], replicated={"y"}> : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// Other results of the defining operation get open shardings.
// CHECK-LABEL: func.func @one_of_several
func.func @one_of_several(%a: tensor<8xf32>) -> tensor<8xf32> {
  // CHECK-NEXT: {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{?}, {?}]>, <@mesh, [{"x"}]>, <@mesh, []>]>}
  %0:3 = stablehlo.custom_call @f(%a) : (tensor<8xf32>) -> (tensor<4x4xf32>, tensor<8xf32>, tensor<i32>)
  %1 = sdy.sharding_constraint %0#1 <@mesh, [{"x"}]> : tensor<8xf32>
  return %1 : tensor<8xf32>
}

// An existing sharding is kept.
// CHECK-LABEL: func.func @has_sharding
func.func @has_sharding(%a: tensor<8xf32>) -> tensor<8xf32> {
  // CHECK-NEXT: stablehlo.negate %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}]>]>}
  // CHECK-NEXT: sdy.sharding_constraint %0 <@mesh, [{"x"}]> : tensor<8xf32>
  %0 = stablehlo.negate %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}]>]>} : tensor<8xf32>
  %1 = sdy.sharding_constraint %0 <@mesh, [{"x"}]> : tensor<8xf32>
  return %1 : tensor<8xf32>
}

// A constraint with an open dimension is not applied.
// CHECK-LABEL: func.func @open
func.func @open(%a: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // CHECK-NEXT: stablehlo.negate %arg0 : tensor<8x8xf32>
  %0 = stablehlo.negate %a : tensor<8x8xf32>
  %1 = sdy.sharding_constraint %0 <@mesh, [{"x"}, {?}]> : tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}

// Two different constraints on a value are not applied; two equal ones are.
// CHECK-LABEL: func.func @two_constraints
func.func @two_constraints(%a: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  // CHECK-NEXT: stablehlo.negate %arg0 : tensor<8xf32>
  // CHECK-NEXT: stablehlo.abs %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>}
  %0 = stablehlo.negate %a : tensor<8xf32>
  %1 = stablehlo.abs %a : tensor<8xf32>
  %2 = sdy.sharding_constraint %0 <@mesh, [{"x"}]> : tensor<8xf32>
  %3 = sdy.sharding_constraint %0 <@mesh, [{"y"}]> : tensor<8xf32>
  %4 = sdy.sharding_constraint %1 <@mesh, [{"x"}]> : tensor<8xf32>
  %5 = sdy.sharding_constraint %1 <@mesh, [{"x"}]> : tensor<8xf32>
  return %2, %3, %4, %5 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}

// The input sharding of a manual computation counts as a constraint on the operand.
// CHECK-LABEL: func.func @manual
func.func @manual(%a: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  // CHECK-NEXT: stablehlo.negate %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>}
  // CHECK-NEXT: stablehlo.abs %arg0 : tensor<8xf32>
  %0 = stablehlo.negate %a : tensor<8xf32>
  %1 = stablehlo.abs %a : tensor<8xf32>
  %2 = sdy.sharding_constraint %1 <@mesh, [{"y"}]> : tensor<8xf32>
  %3 = sdy.manual_computation(%0, %1) in_shardings=[<@mesh, [{"x"}]>, <@mesh, [{"x"}]>]
      out_shardings=[<@mesh, [{"x"}]>] manual_axes={"x"} (%b: tensor<4xf32>, %c: tensor<4xf32>) {
    sdy.return %b : tensor<4xf32>
  } : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return %2, %3 : tensor<8xf32>, tensor<8xf32>
}

// On a data-flow edge, the constraint moves directly after its input and replaces the other uses of that input.
// CHECK-LABEL: func.func @on_edge
func.func @on_edge(%a: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  // CHECK-NEXT: %[[BARRIER:.*]] = stablehlo.optimization_barrier %arg0
  // CHECK-NEXT: %[[EDGE:.*]] = sdy.data_flow_edge %[[BARRIER]] : tensor<8xf32>
  // CHECK-NEXT: %[[CONSTRAINED:.*]] = sdy.sharding_constraint %[[EDGE]] <@mesh, [{"x"}]> : tensor<8xf32>
  // CHECK-NEXT: %[[NEGATED:.*]] = stablehlo.negate %[[CONSTRAINED]]
  // CHECK-NEXT: return %[[CONSTRAINED]], %[[NEGATED]]
  %0 = stablehlo.optimization_barrier %a : tensor<8xf32>
  %1 = sdy.data_flow_edge %0 : tensor<8xf32>
  %2 = stablehlo.negate %1 : tensor<8xf32>
  %3 = sdy.sharding_constraint %1 <@mesh, [{"x"}]> : tensor<8xf32>
  return %1, %2 : tensor<8xf32>, tensor<8xf32>
}

// Unreduced axes do not propagate, so they are set on the edge.
// CHECK-LABEL: func.func @unreduced_on_edge
func.func @unreduced_on_edge(%a: tensor<8xf32>) -> tensor<8xf32> {
  // CHECK: sdy.data_flow_edge %{{.*}} sharding=<@mesh, [{?}], unreduced={"y"}> : tensor<8xf32>
  // CHECK-NEXT: sdy.sharding_constraint %{{.*}} <@mesh, [{"x"}], unreduced={"y"}> : tensor<8xf32>
  %0 = stablehlo.optimization_barrier %a : tensor<8xf32>
  %1 = sdy.data_flow_edge %0 : tensor<8xf32>
  %2 = sdy.sharding_constraint %1 <@mesh, [{"x"}], unreduced={"y"}> : tensor<8xf32>
  return %2 : tensor<8xf32>
}

// A loop argument is a target of the result's edge: the constraint moves to the start of the block.
// CHECK-LABEL: func.func @in_loop
func.func @in_loop(%a: tensor<8xf32>) -> tensor<8xf32> {
  // CHECK: do {
  // CHECK-NEXT: %[[CONSTRAINED:.*]] = sdy.sharding_constraint %iterArg <@mesh, [{"x"}]>
  // CHECK-NEXT: stablehlo.add %[[CONSTRAINED]], %[[CONSTRAINED]]
  %0 = stablehlo.while(%x = %a) : tensor<8xf32> cond {
    %2 = stablehlo.constant dense<true> : tensor<i1>
    stablehlo.return %2 : tensor<i1>
  } do {
    %2 = stablehlo.add %x, %x : tensor<8xf32>
    %3 = sdy.sharding_constraint %x <@mesh, [{"x"}]> : tensor<8xf32>
    stablehlo.return %2 : tensor<8xf32>
  }
  %1 = sdy.data_flow_edge %0 : tensor<8xf32>
  return %1 : tensor<8xf32>
}

// For the input sharding of a manual computation, a constraint is created.
// CHECK-LABEL: func.func @manual_on_edge
func.func @manual_on_edge(%a: tensor<8xf32>) -> (tensor<8xf32>) {
  // CHECK: %[[EDGE:.*]] = sdy.data_flow_edge
  // CHECK-NEXT: %[[CONSTRAINED:.*]] = sdy.sharding_constraint %[[EDGE]] <@mesh, [{"x"}]> : tensor<8xf32>
  // CHECK-NEXT: sdy.manual_computation(%[[CONSTRAINED]], %[[CONSTRAINED]])
  // CHECK: return %[[CONSTRAINED]]
  %0 = stablehlo.optimization_barrier %a : tensor<8xf32>
  %1 = sdy.data_flow_edge %0 : tensor<8xf32>
  sdy.manual_computation(%1, %1) in_shardings=[<@mesh, [{"x"}]>, <@mesh, [{"x"}]>] out_shardings=[]
      manual_axes={"x"} (%b: tensor<4xf32>, %c: tensor<4xf32>) {
    sdy.return
  } : (tensor<8xf32>, tensor<8xf32>) -> ()
  return %1 : tensor<8xf32>
}

// The argument of a reduction body cannot be sharded.
// CHECK-LABEL: func.func @not_shardable
func.func @not_shardable(%a: tensor<8xf32>, %start: tensor<f32>) -> tensor<f32> {
  // CHECK: reducer(%arg2: tensor<f32>, %arg3: tensor<f32>) {
  // CHECK-NEXT: sdy.sharding_constraint %arg2 <@mesh, []> : tensor<f32>
  %0 = stablehlo.reduce(%a init: %start) across dimensions = [0] : (tensor<8xf32>, tensor<f32>) -> tensor<f32>
      reducer(%b: tensor<f32>, %c: tensor<f32>) {
    %1 = sdy.sharding_constraint %b <@mesh, []> : tensor<f32>
    %2 = stablehlo.add %1, %c : tensor<f32>
    stablehlo.return %2 : tensor<f32>
  }
  return %0 : tensor<f32>
}
