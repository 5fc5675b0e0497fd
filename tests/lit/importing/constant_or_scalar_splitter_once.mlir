// RUN: sdy-opt %s -sdy-constant-or-scalar-splitter | filecheck %s
// RUN: sdy-opt %s -sdy-constant-or-scalar-splitter -o /dev/null --mlir-print-ir-after-change 2>&1 | filecheck %s --check-prefix=CHANGE
// RUN: sdy-opt %s -sdy-constant-or-scalar-splitter --mlir-print-value-users | filecheck %s --check-prefix=USERS

// The last use keeps the original, so a constant with one use stays as it is. As in C++, where it is replaced with a
// copy, this counts as a change.
// CHANGE: IR Dump After ConstantOrScalarSplitterPass

// CHECK-LABEL: func.func @used_once
// CHECK-NEXT: %0 = stablehlo.iota dim = 0 : tensor<4xi32>
// CHECK-NEXT: %1 = stablehlo.negate %0
// CHECK-NEXT: %2 = stablehlo.add %arg0, %1
// CHECK-NEXT: return %2
func.func @used_once(%a: tensor<4xi32>) -> tensor<4xi32> {
  %0 = stablehlo.iota dim = 0 : tensor<4xi32>
  %1 = stablehlo.negate %0 : tensor<4xi32>
  %2 = stablehlo.add %a, %1 : tensor<4xi32>
  return %2 : tensor<4xi32>
}

// Inside a computation, a value may have another use, which then needs its own.
// CHECK-LABEL: func.func @operand_used_twice
// CHECK-NEXT: %0 = stablehlo.iota dim = 0 : tensor<4xi32>
// CHECK-NEXT: %1 = stablehlo.iota dim = 0 : tensor<4xi32>
// CHECK-NEXT: %2 = stablehlo.negate %0
// CHECK-NEXT: %3 = stablehlo.add %arg0, %2
// CHECK-NEXT: %4 = stablehlo.add %3, %1
// CHECK-NEXT: return %4
func.func @operand_used_twice(%a: tensor<4xi32>) -> tensor<4xi32> {
  %0 = stablehlo.iota dim = 0 : tensor<4xi32>
  %1 = stablehlo.negate %0 : tensor<4xi32>
  %2 = stablehlo.add %a, %1 : tensor<4xi32>
  %3 = stablehlo.add %2, %0 : tensor<4xi32>
  return %3 : tensor<4xi32>
}

// A call is copied even for its only use, because its function is copied for each use.
// CHECK-LABEL: func.func @call_used_once
// CHECK-NEXT: call @ones_0()
func.func @call_used_once(%a: tensor<4xi32>) -> tensor<4xi32> {
  %0 = call @ones() : () -> tensor<4xi32>
  %1 = stablehlo.add %a, %0 : tensor<4xi32>
  return %1 : tensor<4xi32>
}
func.func private @ones() -> tensor<4xi32> {
  %0 = stablehlo.constant dense<1> : tensor<4xi32>
  return %0 : tensor<4xi32>
}

// A copy of the broadcast would be the most recent user of the scalar, so the original becomes it.
// USERS-LABEL: func.func @scalar_broadcast_used_once
// USERS: stablehlo.negate %arg1
// USERS-SAME: // users: %[[BROADCAST:.*]], %[[NEGATED:.*]]
// USERS-NEXT: %[[BROADCAST]] = stablehlo.broadcast_in_dim
// USERS-NEXT: %[[NEGATED]] = stablehlo.negate
func.func @scalar_broadcast_used_once(%a: tensor<4xi32>, %b: tensor<i32>) -> (tensor<4xi32>, tensor<i32>) {
  %0 = stablehlo.negate %b : tensor<i32>
  %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<i32>) -> tensor<4xi32>
  %2 = stablehlo.negate %0 : tensor<i32>
  %3 = stablehlo.add %a, %1 : tensor<4xi32>
  return %3, %2 : tensor<4xi32>, tensor<i32>
}
