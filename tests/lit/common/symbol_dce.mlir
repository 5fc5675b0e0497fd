// RUN: sdy-opt %s -symbol-dce -split-input-file --allow-unregistered-dialect | filecheck %s

// Private functions that are not called by live ones are removed, even if they call each other.
// CHECK-NOT: @unused
// CHECK-NOT: @caller
// CHECK:     func.func private @used
// CHECK:     func.func @main
// CHECK-NOT: @callee
func.func private @unused() { return }
func.func private @caller() {
  call @callee() : () -> ()
  return
}
func.func private @used() { return }
func.func @main() {
  call @used() : () -> ()
  return
}
func.func private @callee() {
  call @caller() : () -> ()
  return
}

// -----

// References may be nested in any attribute of any operation.
// CHECK:      stablehlo.custom_call @x() {called_computations = [@in_list]}
// CHECK-NEXT: func.func private @in_list
// CHECK:      func.func @main() attributes {test.names = {name = @in_dictionary}}
// CHECK:      func.func private @in_dictionary
// CHECK-NOT:  @unused
stablehlo.custom_call @x() {called_computations = [@in_list]} : () -> ()
func.func private @in_list() { return }
func.func @main() attributes {test.names = {name = @in_dictionary}} { return }
func.func private @in_dictionary() { return }
func.func private @unused() { return }

// -----

// A mesh is public.
// CHECK: sdy.mesh @mesh
sdy.mesh @mesh = <["x"=2]>

// -----

// The outermost module is not visible from outside: unreferenced nested symbols are removed.
// CHECK:      module @library
// CHECK-NEXT:   func.func nested @used
// CHECK:        func.func @public
// CHECK-NOT:  @unused
module @library {
  func.func nested @used() { return }
  func.func nested @unused() { return }
  func.func @public() { return }
}
func.func @main() attributes {test.name = @library::@used} { return }

// -----

// A reference to a private symbol of another table is invalid and keeps nothing alive.
// CHECK:      module {
// CHECK-NEXT:   func.func @main
module @library attributes {sym_visibility = "private"} {
  func.func private @hidden() { return }
}
func.func @main() attributes {test.name = @library::@hidden} { return }

// -----

// Names are looked up in the innermost table first.
// CHECK:      module @inner
// CHECK-NEXT:   func.func @main
// CHECK:        func.func private @helper
// CHECK-NOT:  @helper
module @inner {
  func.func @main() {
    call @helper() : () -> ()
    return
  }
  func.func private @helper() { return }
}
func.func private @helper() { return }

// -----

// An unregistered operation is not a symbol.
// CHECK: "test.thing"
"test.thing"() {sym_name = "thing", sym_visibility = "private"} : () -> ()

// -----

// One name may refer to different symbols in different tables.
// CHECK:      module @library
// CHECK-NEXT:   func.func nested @entry
// CHECK:        func.func private @helper
func.func @main() attributes {test.uses = [@other, @library]} {
  call @helper() : () -> ()
  return
}
func.func private @helper() { return }
func.func private @other() attributes {test.use = @library::@entry} { return }
module @library attributes {sym_visibility = "private"} {
  func.func nested @entry() {
    call @helper() : () -> ()
    return
  }
  func.func private @helper() { return }
}
