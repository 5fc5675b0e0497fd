// RUN: sdy-opt %s -canonicalize | filecheck %s
// RUN: sdy-opt %s -canonicalize=top-down=false | filecheck %s

// Equal constants are merged; all constants move to the top, in reverse order.
// CHECK-LABEL: func.func @equal_constants
func.func @equal_constants(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[TWO:.*]] = stablehlo.constant dense<2.000000e+00>
  // CHECK-NEXT: %[[ONE:.*]] = stablehlo.constant dense<1.000000e+00>
  // CHECK-NEXT: %[[SUM:.*]] = stablehlo.add %arg0, %[[ONE]]
  // CHECK-NEXT: %[[MORE:.*]] = stablehlo.add %[[SUM]], %[[ONE]]
  // CHECK-NEXT: stablehlo.add %[[MORE]], %[[TWO]]
  %one = stablehlo.constant dense<1.0> : tensor<4xf32>
  %sum = stablehlo.add %x, %one : tensor<4xf32>
  %same = stablehlo.constant dense<1.0> : tensor<4xf32>
  %two = stablehlo.constant dense<2.0> : tensor<4xf32>
  %more = stablehlo.add %sum, %same : tensor<4xf32>
  %most = stablehlo.add %more, %two : tensor<4xf32>
  return %most : tensor<4xf32>
}

// A constant moves out of regions that are not isolated from above.
// CHECK-LABEL: func.func @constants_of_a_loop
func.func @constants_of_a_loop(%start: tensor<i32>) -> tensor<i32> {
  // CHECK-NEXT: %[[ONE:.*]] = stablehlo.constant dense<1>
  // CHECK-NEXT: %[[TEN:.*]] = stablehlo.constant dense<10>
  // CHECK-NEXT: stablehlo.while
  // CHECK:      stablehlo.compare LT, %iterArg, %[[TEN]]
  // CHECK:      stablehlo.add %iterArg, %[[ONE]]
  %end = stablehlo.while(%i = %start) : tensor<i32>
  cond {
    %ten = stablehlo.constant dense<10> : tensor<i32>
    %go_on = stablehlo.compare LT, %i, %ten : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %go_on : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %next = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %next : tensor<i32>
  }
  return %end : tensor<i32>
}

// It stays in an isolated region, where equal constants are merged as well.
// CHECK-LABEL: func.func @constants_of_an_isolated_region
func.func @constants_of_an_isolated_region(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: sdy.named_computation
  // CHECK-NEXT:   %[[ONE:.*]] = stablehlo.constant
  // CHECK-NEXT:   %[[SUM:.*]] = stablehlo.add %{{.*}}, %[[ONE]]
  // CHECK-NEXT:   stablehlo.add %[[SUM]], %[[ONE]]
  %y = sdy.named_computation<"add_two">(%x) (%inner: tensor<4xf32>) {
    %one = stablehlo.constant dense<1.0> : tensor<4xf32>
    %sum = stablehlo.add %inner, %one : tensor<4xf32>
    %same = stablehlo.constant dense<1.0> : tensor<4xf32>
    %more = stablehlo.add %sum, %same : tensor<4xf32>
    sdy.return %more : tensor<4xf32>
  } : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// Dead operations are erased transitively; operations with effects are kept.
// CHECK-LABEL: func.func @useless
func.func @useless(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[KEPT:.*]] = stablehlo.negate %arg0
  // CHECK-NEXT: stablehlo.custom_call @print(%[[KEPT]]) {has_side_effect = true}
  // CHECK-NEXT: return
  %kept = stablehlo.negate %x : tensor<4xf32>
  %0 = stablehlo.add %kept, %x : tensor<4xf32>
  %1 = stablehlo.abs %0 : tensor<4xf32>
  stablehlo.custom_call @print(%kept) {has_side_effect = true} : (tensor<4xf32>) -> ()
  %2 = stablehlo.custom_call @compute(%1) : (tensor<4xf32>) -> tensor<4xf32>
  return %x : tensor<4xf32>
}

// An operation with regions is dead if it is unused and nothing in it has an effect.
// CHECK-LABEL: func.func @useless_case
func.func @useless_case(%which: tensor<i32>, %x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: return %arg1
  %0 = stablehlo.negate %x : tensor<4xf32>
  %1 = "stablehlo.case"(%which) ({
    stablehlo.return %0 : tensor<4xf32>
  }) : (tensor<i32>) -> tensor<4xf32>
  return %x : tensor<4xf32>
}

// An indirect call of a constant function becomes a direct call.
// CHECK-LABEL: func.func @known_function
func.func @known_function(%x: tensor<4xf32>, %which: tensor<i32>) -> tensor<4xf32> {
  // CHECK-NEXT: call @useless_case(%arg1, %arg0)
  %f = constant @useless_case : (tensor<i32>, tensor<4xf32>) -> tensor<4xf32>
  %0 = call_indirect %f(%which, %x) : (tensor<i32>, tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// Two inverse casts cancel.
// CHECK-LABEL: func.func @casts
func.func @casts(%x: i32) -> i32 {
  // CHECK-NEXT: return %arg0
  %0 = builtin.unrealized_conversion_cast %x : i32 to i64
  %1 = builtin.unrealized_conversion_cast %0 : i64 to i32
  return %1 : i32
}
