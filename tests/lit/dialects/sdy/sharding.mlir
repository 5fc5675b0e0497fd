// RUN: sdy-opt %s | filecheck %s

sdy.mesh @mesh = <["x"=2, "y"=4, "z"=4]>
sdy.mesh @maximal = <[], device_ids=[0]>

// Shardings of function arguments and results.
// CHECK-LABEL: func.func @function
// CHECK-SAME:      %arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}
// CHECK-SAME:      -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}]>})
func.func @function(%arg: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
    -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}]>}) {
  return %arg : tensor<8x8xf32>
}

// A sharding for each result of an operation; priorities, open dimensions and sub-axes.
// CHECK-LABEL: func.func @operation
func.func @operation(%arg: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // CHECK: sdy.sharding_per_value<[<@mesh, [{"x", ?}p0, {"y":(1)2, "z", ?}p12]>]>
  %0 = stablehlo.negate %arg {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x",?}p0, {"y":(1)2,"z",?}p12]>]>} : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// Replicated and unreduced axes in mesh order.
// CHECK-LABEL: func.func @other_axes
func.func @other_axes(%arg: tensor<8xf32>) -> tensor<8xf32> {
  // CHECK: <@mesh, [{?}], replicated={"x", "z"}>
  %0 = sdy.sharding_constraint %arg <@mesh, [{?}], replicated={"x", "z"}> : tensor<8xf32>
  // CHECK: <@mesh, [{}], replicated={"x"}, unreduced={"y":(2)2}>
  %1 = sdy.sharding_constraint %arg <@mesh, [{}], unreduced={"y":(2)2}, replicated={"x"}> : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// An inlined mesh.
// CHECK-LABEL: func.func @inline_mesh
func.func @inline_mesh(%arg: tensor<8xf32>) -> tensor<8xf32> {
  // CHECK: sdy.sharding_constraint %arg0 <mesh<["x"=2, "y"=4]>, [{"y"}]> : tensor<8xf32>
  %0 = sdy.sharding_constraint %arg <mesh<["x"=2, "y"=4]>, [{"y"}]> : tensor<8xf32>
  // CHECK: sdy.sharding_constraint %arg0 <mesh<[], device_ids=[7]>, []> : tensor<8xf32>
  %1 = sdy.sharding_constraint %arg <mesh<[], device_ids=[7]>, []> : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// A maximal sharding and the sharding of a non-shaped type have no dimensions.
// CHECK-LABEL: func.func @rank_0
func.func @rank_0(%arg: tensor<8xf32>, %scalar: tensor<f32>, %token: !stablehlo.token) {
  // CHECK: <@maximal, []> : tensor<8xf32>
  %0 = sdy.sharding_constraint %arg <@maximal, []> : tensor<8xf32>
  // CHECK: <@mesh, []> : tensor<f32>
  %1 = sdy.sharding_constraint %scalar <@mesh, []> : tensor<f32>
  // CHECK: <@mesh, []> : !stablehlo.token
  %2 = sdy.sharding_constraint %token <@mesh, []> : !stablehlo.token
  return
}

// A dimension may be dynamic, and need not be divisible by its sharded size.
// CHECK-LABEL: func.func @uneven
func.func @uneven(%arg: tensor<7x?xf32>) {
  // CHECK: <@mesh, [{"y"}, {"x"}]> : tensor<7x?xf32>
  %0 = sdy.sharding_constraint %arg <@mesh, [{"y"}, {"x"}]> : tensor<7x?xf32>
  return
}

// An operation without results may have a maximal sharding.
// CHECK-LABEL: func.func @no_results
func.func @no_results(%arg: tensor<8xf32>) {
  // CHECK: sdy.sharding_per_value<[<@maximal, []>]>
  stablehlo.custom_call @effect(%arg) {has_side_effect = true, sdy.sharding = #sdy.sharding_per_value<[<@maximal, []>]>} : (tensor<8xf32>) -> ()
  return
}
