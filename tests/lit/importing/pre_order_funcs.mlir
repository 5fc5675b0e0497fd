// RUN: sdy-opt %s -sdy-pre-order-funcs -split-input-file | filecheck %s

// Callers precede callees, in reverse post-order.
// CHECK:      func.func @main
// CHECK:      func.func private @second
// CHECK:      func.func private @first
// CHECK:      func.func private @below_first
func.func private @first() {
  call @below_first() : () -> ()
  return
}
func.func private @second() {
  return
}
func.func private @below_first() {
  return
}
func.func @main() {
  call @first() : () -> ()
  call @second() : () -> ()
  return
}

// -----

// A function with two callers comes after both.
// CHECK:      func.func @other_caller
// CHECK:      func.func @caller
// CHECK:      func.func private @shared
func.func private @shared() {
  return
}
func.func @caller() {
  call @shared() : () -> ()
  return
}
func.func @other_caller() {
  call @shared() : () -> ()
  return
}

// -----

// Declarations and other operations are not moved.
// CHECK:      func.func private @declared()
// CHECK:      sdy.mesh @mesh
// CHECK:      func.func @calls_declared
// CHECK:      func.func private @callee
func.func private @callee() {
  return
}
func.func private @declared()
func.func @calls_declared() {
  call @declared() : () -> ()
  call @callee() : () -> ()
  return
}
sdy.mesh @mesh = <["x"=2]>

// -----

// In a strongly connected component, the function that is visited first comes first.
// CHECK:      func.func @one
// CHECK:      func.func @two
func.func @one() {
  call @two() : () -> ()
  return
}
func.func @two() {
  call @one() : () -> ()
  return
}
