// RUN: sdy-opt %s -sdy-flatten-call-graph -split-input-file | filecheck %s

// The first call keeps the function, the second gets a clone with the original name.
// CHECK-LABEL: func.func @two_calls
func.func @two_calls(%a: tensor<8xf32>) -> tensor<8xf32> {
  // CHECK-NEXT: %[[FIRST:.*]] = call @negate(%arg0)
  // CHECK-NEXT: call @negate_0(%[[FIRST]])
  %0 = call @negate(%a) : (tensor<8xf32>) -> tensor<8xf32>
  %1 = call @negate(%0) : (tensor<8xf32>) -> tensor<8xf32>
  return %1 : tensor<8xf32>
}
// CHECK:      func.func private @negate(%arg0: tensor<8xf32>) -> tensor<8xf32> {
// CHECK:      func.func private @negate_0(%arg0: tensor<8xf32>) -> tensor<8xf32> attributes {sdy.original_func_name = "negate"} {
// CHECK-NEXT:   stablehlo.negate
func.func private @negate(%a: tensor<8xf32>) -> tensor<8xf32> {
  %0 = stablehlo.negate %a : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// Clones of callees are inserted first. The originals are kept for the first call.
// CHECK-LABEL: func.func @copies_below
func.func @copies_below() {
  // CHECK-NEXT: call @outer()
  // CHECK-NEXT: call @outer_1()
  call @outer() : () -> ()
  call @outer() : () -> ()
  return
}
// CHECK:      func.func private @outer()
// CHECK-NEXT:   call @inner()
func.func private @outer() {
  call @inner() : () -> ()
  return
}
// CHECK:      func.func private @inner()
func.func private @inner() {
  return
}
// CHECK:      func.func private @inner_0() attributes {sdy.original_func_name = "inner"}
// CHECK:      func.func private @outer_1() attributes {sdy.original_func_name = "outer"} {
// CHECK-NEXT:   call @inner_0()

// -----

// Functions are visited callees first: the call in @first counts as the first one.
// CHECK-LABEL: func.func @last
func.func @last() {
  // CHECK-NEXT: call @first()
  // CHECK-NEXT: call @shared_0()
  call @first() : () -> ()
  call @shared() : () -> ()
  return
}
// CHECK:      func.func private @first()
// CHECK-NEXT:   call @shared()
func.func private @first() {
  call @shared() : () -> ()
  return
}
func.func private @shared() {
  return
}

// -----

// A clone of a clone has the first original name. Taken names are skipped.
// CHECK-LABEL: func.func @copy_of_copy
func.func @copy_of_copy() {
  // CHECK-NEXT: call @f()
  // CHECK-NEXT: call @f_1()
  call @f() : () -> ()
  call @f() : () -> ()
  return
}
func.func private @f() attributes {sdy.original_func_name = "g"} {
  return
}
func.func @f_0() {
  return
}
// CHECK: func.func private @f_1() attributes {sdy.original_func_name = "g"}

// -----

// Calls in nested regions, and calls of declarations.
// CHECK-LABEL: func.func @inside_branches
func.func @inside_branches(%which: tensor<i32>, %a: tensor<8xf32>) -> tensor<8xf32> {
  // CHECK: func.call @declared(
  // CHECK: func.call @declared_0(
  %0 = "stablehlo.case"(%which) ({
    %1 = func.call @declared(%a) : (tensor<8xf32>) -> tensor<8xf32>
    stablehlo.return %1 : tensor<8xf32>
  }, {
    %1 = func.call @declared(%a) : (tensor<8xf32>) -> tensor<8xf32>
    stablehlo.return %1 : tensor<8xf32>
  }) : (tensor<i32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
func.func private @declared(tensor<8xf32>) -> tensor<8xf32>
// CHECK: func.func private @declared_0(tensor<8xf32>) -> tensor<8xf32> attributes {sdy.original_func_name = "declared"}

// -----

// A recursive function that no other function calls is not cloned.
// CHECK-LABEL: func.func @calls_itself
func.func @calls_itself() {
  // CHECK-NEXT: call @calls_itself()
  call @calls_itself() : () -> ()
  return
}
