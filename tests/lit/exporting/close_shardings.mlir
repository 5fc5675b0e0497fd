// RUN: sdy-opt %s -sdy-close-shardings | filecheck %s

sdy.mesh @mesh = <["x"=2, "y"=2]>

// All dimensions are closed, and explicitly replicated axes are dropped.
// CHECK-LABEL: func.func @operation
func.func @operation(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // CHECK-NEXT: stablehlo.negate %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>}
  %0 = stablehlo.negate %x {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x", ?}, {?}], replicated={"y"}>]>} : tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// Unreduced axes and priorities are kept.
// CHECK-LABEL: func.func @the_rest_stays
func.func @the_rest_stays(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // CHECK-NEXT: stablehlo.negate %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}p1, {}], unreduced={"y"}>]>}
  %0 = stablehlo.negate %x {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x", ?}p1, {}], unreduced={"y"}>]>} : tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// Function arguments and results.
// CHECK-LABEL: func.func @signature
// CHECK-SAME:    %arg0: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}
// CHECK-SAME:    %arg1: tensor<4xf32>)
// CHECK-SAME:    -> (tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}, tensor<4xf32>)
func.func @signature(%x: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", ?}]>}, %y: tensor<4xf32>)
    -> (tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}]>}, tensor<4xf32>) {
  return %x, %y : tensor<4xf32>, tensor<4xf32>
}

// All results of an operation.
// CHECK-LABEL: func.func @several_results
func.func @several_results(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK-NEXT: sdy.sharding_per_value<[<@mesh, [{"x"}]>, <@mesh, [{}]>]>
  %0:2 = stablehlo.custom_call @split(%x) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x", ?}]>, <@mesh, [{}]>]>} : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  return %0#0, %0#1 : tensor<4xf32>, tensor<4xf32>
}

// Operations of sdy, which store shardings in inherent attributes.
// CHECK-LABEL: func.func @sdy_operations
func.func @sdy_operations(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: sdy.sharding_constraint %arg0 <@mesh, [{"x"}]>
  // CHECK-NEXT: sdy.reshard %{{.*}} <@mesh, [{"y"}]>
  // CHECK-NEXT: stablehlo.optimization_barrier
  // CHECK-NEXT: sdy.data_flow_edge %{{.*}} sharding=<@mesh, [{"y"}]>
  // CHECK-NEXT: sdy.all_gather {{.*}} out_sharding=<@mesh, [{}]>
  %0 = sdy.sharding_constraint %x <@mesh, [{"x", ?}]> : tensor<4xf32>
  %1 = sdy.reshard %x <@mesh, [{"y", ?}]> : tensor<4xf32>
  %barrier = stablehlo.optimization_barrier %0 : tensor<4xf32>
  %2 = sdy.data_flow_edge %barrier sharding=<@mesh, [{"y", ?}]> : tensor<4xf32>
  %3 = sdy.all_gather [{"y"}] %1 out_sharding=<@mesh, [{?}]> : tensor<4xf32>
  return %3 : tensor<4xf32>
}

// Inputs and outputs of computations.
// CHECK-LABEL: func.func @computations
func.func @computations(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[<@mesh, [{"x", "y"}]>] manual_axes={"x"}
  %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"x", ?}], replicated={"y"}>] out_shardings=[<@mesh, [{"x", "y", ?}]>] manual_axes={"x"} (%inner: tensor<2xf32>) {
    // CHECK-NEXT: stablehlo.negate {{.*}}<[<@mesh, [{"y"}]>]>
    %1 = stablehlo.negate %inner {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y", ?}]>]>} : tensor<2xf32>
    sdy.return %1 : tensor<2xf32>
  } : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: sdy.named_computation<"name">(%{{.*}}) in_shardings=[<@mesh, [{}]>] out_shardings=[<@mesh, [{"y"}]>]
  %2 = sdy.named_computation<"name">(%0) in_shardings=[<@mesh, [{?}]>] out_shardings=[<@mesh, [{"y", ?}]>] (%inner: tensor<4xf32>) {
    sdy.return %inner : tensor<4xf32>
  } : (tensor<4xf32>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}
