// RUN: sdy-opt %s -canonicalize | filecheck %s

sdy.mesh @mesh = <["x"=2, "one"=1, "single"=1]>

// Operands with unused arguments are erased with their shardings.
// CHECK-LABEL: func.func @unused_inputs
func.func @unused_inputs(%a: tensor<8xf32>, %b: tensor<8x8xf32>, %c: tensor<4xf32>) -> tensor<8xf32> {
  // CHECK: sdy.manual_computation(%arg0, %arg2) in_shardings=[<@mesh, [{"x"}]>, <@mesh, [{}]>]
  // CHECK-SAME: (%[[A:.*]]: tensor<4xf32>, %[[C:.*]]: tensor<4xf32>) {
  // CHECK-NEXT: stablehlo.add %[[A]], %[[C]]
  %0 = sdy.manual_computation(%a, %b, %c) in_shardings=[<@mesh, [{"x"}]>, <@mesh, [{}, {"x"}]>, <@mesh, [{}]>] out_shardings=[<@mesh, [{"x"}]>] manual_axes={"x"} (%in_a: tensor<4xf32>, %in_b: tensor<8x4xf32>, %in_c: tensor<4xf32>) {
    %1 = stablehlo.add %in_a, %in_c : tensor<4xf32>
    sdy.return %1 : tensor<4xf32>
  } : (tensor<8xf32>, tensor<8x8xf32>, tensor<4xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// A body whose manual axes have size 1 is inlined.
// CHECK-LABEL: func.func @axes_of_size_1
// CHECK-SAME:    (%[[A:.*]]: tensor<8xf32>, %[[B:.*]]: tensor<8xf32>)
func.func @axes_of_size_1(%a: tensor<8xf32>, %b: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  // CHECK-NEXT: %[[SUM:.*]] = stablehlo.add %[[A]], %[[B]] {sdy.sharding = {{.*}}[{"x"}]
  // CHECK-NEXT: return %[[SUM]], %[[A]]
  %0:2 = sdy.manual_computation(%a, %b) in_shardings=[<@mesh, [{"one", "x"}]>, <@mesh, [{}]>] out_shardings=[<@mesh, [{}]>, <@mesh, [{}]>] manual_axes={"one", "single"} (%in_a: tensor<8xf32>, %in_b: tensor<8xf32>) {
    %1 = stablehlo.add %in_a, %in_b {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : tensor<8xf32>
    sdy.return %1, %in_a : tensor<8xf32>, tensor<8xf32>
  } : (tensor<8xf32>, tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
  return %0#0, %0#1 : tensor<8xf32>, tensor<8xf32>
}

// A body without manual axes is inlined, too, and so is a nested body.
// CHECK-LABEL: func.func @no_axes
func.func @no_axes(%a: tensor<8xf32>) -> tensor<8xf32> {
  // CHECK-NEXT: stablehlo.negate %arg0
  // CHECK-NEXT: stablehlo.negate
  // CHECK-NEXT: return
  %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[<@mesh, [{}]>] manual_axes={} (%outer: tensor<8xf32>) {
    %1 = stablehlo.negate %outer : tensor<8xf32>
    %2 = sdy.manual_computation(%1) in_shardings=[<@mesh, [{"one"}]>] out_shardings=[<@mesh, [{}]>] manual_axes={"one"} (%inner: tensor<8xf32>) {
      %3 = stablehlo.negate %inner : tensor<8xf32>
      sdy.return %3 : tensor<8xf32>
    } : (tensor<8xf32>) -> tensor<8xf32>
    sdy.return %2 : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// Without operands and results, an operation with an empty body is erased, and any other body is inlined.
// CHECK-LABEL: func.func @nothing
func.func @nothing() {
  // CHECK-NEXT: stablehlo.custom_call @effect()
  // CHECK-NEXT: return
  sdy.manual_computation() in_shardings=[] out_shardings=[] manual_axes={} () {
    sdy.return
  } : () -> ()
  sdy.manual_computation() in_shardings=[] out_shardings=[] manual_axes={"x"} () {
    stablehlo.custom_call @effect() {has_side_effect = true} : () -> ()
    sdy.return
  } : () -> ()
  return
}

// The driver visits an inlined body in its next iteration only. There the constant of the case
// follows an operation with a use, and is therefore moved to the top, before the others.
// CHECK-LABEL: func.func @looked_at_in_the_next_round
func.func @looked_at_in_the_next_round(%a: tensor<8xf32>) -> (tensor<f32>, tensor<f32>) {
  // CHECK-NEXT: %[[TWO:.*]] = stablehlo.constant dense<2.000000e+00>
  // CHECK-NEXT: %[[ONE:.*]] = stablehlo.constant dense<1.000000e+00>
  // CHECK-NEXT: return %[[ONE]], %[[TWO]]
  %one = stablehlo.constant dense<1.0> : tensor<f32>
  %unused = stablehlo.negate %a : tensor<8xf32>
  %0:2 = sdy.manual_computation(%unused) in_shardings=[<@mesh, [{}]>] out_shardings=[<@mesh, []>, <@mesh, []>] manual_axes={"one"} (%b: tensor<8xf32>) {
    %two = stablehlo.constant dense<2.0> : tensor<f32>
    %number = stablehlo.constant dense<0> : tensor<i32>
    %1:2 = "stablehlo.case"(%number) ({
      stablehlo.return %b, %two : tensor<8xf32>, tensor<f32>
    }) : (tensor<i32>) -> (tensor<8xf32>, tensor<f32>)
    sdy.return %1#1, %two : tensor<f32>, tensor<f32>
  } : (tensor<8xf32>) -> (tensor<f32>, tensor<f32>)
  return %one, %0#0 : tensor<f32>, tensor<f32>
}
