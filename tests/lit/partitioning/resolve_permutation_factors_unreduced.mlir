// RUN: sdy-opt %s -sdy-resolve-permutation-factors | filecheck %s

// Results that are declared unreduced become partial, and partial operands of other operations are combined.

sdy.mesh @mesh = <["x"=2, "y"=2]>

// Every device would have the whole tangent.
// CHECK-LABEL: func.func @whole
// CHECK-NEXT: %0 = stablehlo.tanh %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}]>]>} : tensor<4xf32>
// CHECK-NEXT: %1 = sdy.replicated_to_unreduced {"x"} %0 out_sharding=<@mesh, [{}], unreduced={"x"}> : tensor<4xf32>
// CHECK-NEXT: return %1
func.func @whole(%a: tensor<4xf32>) -> (tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced={"x"}>}) {
  %0 = stablehlo.tanh %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}], unreduced={"x"}>]>} : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// The tangent of a part is no part of the tangent.
// CHECK-LABEL: func.func @not_linear
// CHECK-NEXT: %0 = sdy.all_reduce {"x"} %arg0 out_sharding=<@mesh, [{}]> : tensor<4xf32>
// CHECK-NEXT: %1 = stablehlo.tanh %0
// CHECK-NEXT: %2 = sdy.replicated_to_unreduced {"x"} %1
func.func @not_linear(%a: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced={"x"}>}) -> (tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced={"x"}>}) {
  %0 = stablehlo.tanh %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}], unreduced={"x"}>]>} : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// The sum of two partial sums is one; the operand that is whole becomes partial.
// CHECK-LABEL: func.func @sum
// CHECK-NEXT: %0 = sdy.replicated_to_unreduced {"x"} %arg1 out_sharding=<@mesh, [{}], unreduced={"x"}> : tensor<4xf32>
// CHECK-NEXT: %1 = stablehlo.add %arg0, %0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}], unreduced={"x"}>]>} : tensor<4xf32>
// CHECK-NEXT: return %1
func.func @sum(%a: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced={"x"}>}, %b: tensor<4xf32>) -> (tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced={"x"}>}) {
  %0 = stablehlo.add %a, %b {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}], unreduced={"x"}>]>} : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// Of the two factors of a product only one may be partial.
// CHECK-LABEL: func.func @product
// CHECK-NEXT: %0 = sdy.all_reduce {"x"} %arg0 out_sharding=<@mesh, [{}]> : tensor<4xf32>
// CHECK-NEXT: %1 = stablehlo.multiply %arg0, %0 {{.*}}unreduced={"x"}
// CHECK-NEXT: return %1
func.func @product(%a: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced={"x"}>}) -> (tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced={"x"}>}) {
  %0 = stablehlo.multiply %a, %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}], unreduced={"x"}>]>} : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// Padding with zero adds nothing on any device.
// CHECK-LABEL: func.func @zero
// CHECK-NEXT: %cst = stablehlo.constant
// CHECK-NEXT: %0 = stablehlo.pad %arg0, %cst, {{.*}}unreduced={"x"}
// CHECK-NEXT: return %0
func.func @zero(%a: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced={"x"}>}) -> (tensor<6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced={"x"}>}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.pad %a, %zero, low = [1], high = [1], interior = [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}], unreduced={"x"}>]>} : (tensor<4xf32>, tensor<f32>) -> tensor<6xf32>
  return %0 : tensor<6xf32>
}

// A dot is partial along the axes of its contracting dimension.
// CHECK-LABEL: func.func @dot
// CHECK-NEXT: %0 = stablehlo.dot %arg0, %arg1 {{.*}}unreduced={"x"}
// CHECK-NEXT: return %0
func.func @dot(%a: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}, %b: tensor<4x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<8x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}], unreduced={"x"}>}) {
  %0 = stablehlo.dot %a, %b {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}], unreduced={"x"}>]>} : (tensor<8x4xf32>, tensor<4x6xf32>) -> tensor<8x6xf32>
  return %0 : tensor<8x6xf32>
}

// Partial maxima are combined, because they are declared to be a sum.
// CHECK-LABEL: func.func @maximum
// CHECK: %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.maximum
// CHECK-NEXT: %1 = sdy.all_reduce {"x"} %0 out_sharding=<@mesh, [{}]> : tensor<4xf32>
// CHECK-NEXT: %2 = sdy.replicated_to_unreduced {"x"} %1 out_sharding=<@mesh, [{}], unreduced={"x"}> : tensor<4xf32>
// CHECK-NEXT: return %2
func.func @maximum(%a: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}) -> (tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced={"x"}>}) {
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %0 = stablehlo.reduce(%a init: %low) applies stablehlo.maximum across dimensions = [1] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}], unreduced={"x"}>]>} : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// A returned value without a sharding is whole, and the index of a branch must be.
// CHECK-LABEL: func.func @uses
// CHECK-NEXT: %0 = sdy.all_reduce {"x"} %arg0 out_sharding=<@mesh, []> : tensor<i32>
// CHECK-NEXT: %1 = "stablehlo.case"(%0) ({
// CHECK-NEXT: stablehlo.return %arg1
// CHECK-NEXT: }) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}]>]>} : (tensor<i32>) -> tensor<4xf32>
// CHECK-NEXT: %2 = sdy.replicated_to_unreduced {"y"} %1 out_sharding=<@mesh, [{}], unreduced={"y"}> : tensor<4xf32>
// CHECK-NEXT: return %2
func.func @uses(%i: tensor<i32> {sdy.sharding = #sdy.sharding<@mesh, [], unreduced={"x"}>}, %a: tensor<4xf32>) -> (tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced={"y"}>}) {
  %0 = "stablehlo.case"(%i) ({
    stablehlo.return %a : tensor<4xf32>
  }) : (tensor<i32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// The products are partial along "y", and declared partial along "x" too: they are combined first.
// CHECK-LABEL: func.func @combined_first
// CHECK-NEXT: %0 = stablehlo.dot_general %arg0, %arg0, contracting_dims = [0] x [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, []>]>}
// CHECK-NEXT: %1 = sdy.all_reduce {"y"} %0 out_sharding=<@mesh, []>
// CHECK-NEXT: %2 = sdy.replicated_to_unreduced {"x"} %1 out_sharding=<@mesh, [], unreduced={"x"}>
// CHECK-NEXT: return %2
func.func @combined_first(%a: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>}) -> (tensor<f32> {sdy.sharding = #sdy.sharding<@mesh, [], unreduced={"x"}>}) {
  %0 = stablehlo.dot_general %a, %a, contracting_dims = [0] x [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [], unreduced={"x"}>]>} : (tensor<4xf32>, tensor<4xf32>) -> tensor<f32>
  %1 = sdy.all_reduce {"y"} %0 out_sharding=<@mesh, [], unreduced={"x"}> : tensor<f32>
  return %1 : tensor<f32>
}

// A reshard to a replicated sharding will be removed, so its input needs a sharding.
// CHECK-LABEL: func.func @input_of_reshard
// CHECK-NEXT: %0 = stablehlo.tanh %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}]>]>}
// CHECK-NEXT: %1 = sdy.reshard %0
func.func @input_of_reshard(%a: tensor<4xf32>) -> (tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced={"x"}>}) {
  %0 = stablehlo.tanh %a : tensor<4xf32>
  %1 = sdy.reshard %0 <@mesh, [{}]> : tensor<4xf32>
  %2 = sdy.replicated_to_unreduced {"x"} %1 out_sharding=<@mesh, [{}], unreduced={"x"}> : tensor<4xf32>
  return %2 : tensor<4xf32>
}

// No split of "z" has both sub-axes: the products are combined, and become partial along the declared one.
sdy.mesh @twelve = <["z"=12]>
// CHECK-LABEL: func.func @clashing_sub_axes
// CHECK-NEXT: %0 = stablehlo.dot_general %arg0, %arg0, contracting_dims = [0] x [0] {sdy.sharding = #sdy.sharding_per_value<[<@twelve, []>]>}
// CHECK-NEXT: %1 = sdy.all_reduce {"z":(4)3} %0 out_sharding=<@twelve, []>
// CHECK-NEXT: %2 = sdy.replicated_to_unreduced {"z":(3)4} %1 out_sharding=<@twelve, [], unreduced={"z":(3)4}>
// CHECK-NEXT: return %2
func.func @clashing_sub_axes(%a: tensor<12xf32> {sdy.sharding = #sdy.sharding<@twelve, [{"z":(4)3}]>}) -> (tensor<f32> {sdy.sharding = #sdy.sharding<@twelve, [], unreduced={"z":(3)4}>}) {
  %0 = stablehlo.dot_general %a, %a, contracting_dims = [0] x [0] {sdy.sharding = #sdy.sharding_per_value<[<@twelve, [], unreduced={"z":(3)4}>]>} : (tensor<12xf32>, tensor<12xf32>) -> tensor<f32>
  return %0 : tensor<f32>
}

// A reshard between replicated tensors on two meshes will be removed. The barrier keeps the mesh of the operand.
sdy.mesh @turned = <["x"=2, "y"=2], device_ids=[3, 2, 1, 0]>
// CHECK-LABEL: func.func @other_device_order
// CHECK: %[[RESHARD:.*]] = sdy.reshard %arg0
// CHECK-NEXT: %[[BARRIER:.*]] = stablehlo.optimization_barrier {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}]>]>} %[[RESHARD]]
// CHECK-NEXT: sdy.replicated_to_unreduced {"x"} %[[BARRIER]]
func.func @other_device_order(%a: tensor<4xf32> {sdy.sharding = #sdy.sharding<@turned, [{}]>}) -> (tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced={"x"}>}) {
  %0 = sdy.reshard %a <@mesh, [{}]> : tensor<4xf32>
  %1 = sdy.replicated_to_unreduced {"x"} %0 out_sharding=<@mesh, [{}], unreduced={"x"}> : tensor<4xf32>
  return %1 : tensor<4xf32>
}
