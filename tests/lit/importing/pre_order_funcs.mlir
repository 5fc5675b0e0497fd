// RUN: sdy-opt %s -sdy-pre-order-funcs -split-input-file | filecheck %s

// A caller goes before what it calls; callees stand in reverse order, each with its own behind it.
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

// A function with two callers stands behind both.
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

// What has no body stays in front, with all else that is no function.
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

// In a circle, the function that stands first comes first.
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
