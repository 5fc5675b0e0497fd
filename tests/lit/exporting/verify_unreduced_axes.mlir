// RUN: sdy-opt %s -sdy-verify-unreduced-axes | filecheck %s

// Valid uses of unreduced axes. The pass changes nothing.

sdy.mesh @mesh = <["x"=2, "y"=2]>

// A dot introduces sums, a reduction partial results of its own kind, and a reshard removes them.
// CHECK-LABEL: func.func @introduce_and_remove
// CHECK: stablehlo.reduce
// CHECK-SAME: unreduced=max{"x"}
// CHECK-NEXT: sdy.reshard
// CHECK-NEXT: stablehlo.dot
// CHECK-SAME: unreduced={"x"}
func.func @introduce_and_remove(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}) -> (tensor<f32> {sdy.sharding = #sdy.sharding<@mesh, [], unreduced={"x"}>}) {
  %init = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %0 = stablehlo.reduce(%a init: %init) applies stablehlo.maximum across dimensions = [0, 1] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [], unreduced=max{"x"}>]>} : (tensor<8x8xf32>, tensor<f32>) -> tensor<f32>
  %1 = sdy.reshard %0 <@mesh, []> : tensor<f32>
  %2 = stablehlo.dot_general %a, %a, contracting_dims = [0, 1] x [0, 1] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [], unreduced={"x"}>]>} : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<f32>
  return %2 : tensor<f32>
}

// Other operations keep unreduced axes. A value that is resharded before a use is not checked there.
// CHECK-LABEL: func.func @pass_on
func.func @pass_on(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced={"x"}>}) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced={"x"}>}) {
  %0 = stablehlo.negate %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}], unreduced={"x"}>]>} : tensor<8xf32>
  %1 = sdy.sharding_constraint %0 <@mesh, [{}], unreduced={"x"}> : tensor<8xf32>
  %2 = stablehlo.negate %1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// A collective removes axes of its kind. Results without shardings accept everything.
// CHECK-LABEL: func.func @collective
func.func @collective(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced=max{"x", "y"}>}) -> tensor<8xf32> {
  %0 = sdy.all_reduce max {"x"} %a out_sharding=<@mesh, [{}], unreduced=max{"y"}> : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// Operands of calls have the unreduced axes of the callee's arguments. In a manual computation, manual axes do not count.
// CHECK-LABEL: func.func @call
func.func @call(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced={"x"}>}) -> tensor<8xf32> {
  %0 = call @callee(%a) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}], unreduced={"x"}>]>} : (tensor<8xf32>) -> tensor<8xf32>
  %1 = sdy.manual_computation(%0) in_shardings=[<@mesh, [{}], unreduced={"x"}>] out_shardings=[<@mesh, [{}], unreduced={"x"}>] manual_axes={"x"} (%b: tensor<8xf32>) {
    sdy.return %b : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %1 : tensor<8xf32>
}

func.func private @callee(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced={"x"}>}) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced={"x"}>}) {
  return %a : tensor<8xf32>
}

// Shardings on different meshes are not compared.
sdy.mesh @other = <["z"=4]>
// CHECK-LABEL: func.func @meshes
func.func @meshes(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced={"x"}>}) -> tensor<8xf32> {
  %0 = stablehlo.negate %a {sdy.sharding = #sdy.sharding_per_value<[<@other, [{"z"}]>]>} : tensor<8xf32>
  return %0 : tensor<8xf32>
}
