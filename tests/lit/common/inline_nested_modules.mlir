// RUN: sdy-opt %s -inline -allow-unregistered-dialect | filecheck %s

// Symbols of nested modules have their own names: the first @twice has one use, the second one two.
// CHECK-LABEL: func.func @main
// CHECK-NEXT:    return %arg0 : i32
// CHECK-NOT:   func.func private @twice
func.func @main(%a: i32) -> i32 {
  %0 = func.call @twice(%a) : (i32) -> i32
  return %0 : i32
}
func.func private @twice(%a: i32) -> i32 {
  return %a : i32
}

// What refers to a function outside of a symbol table is not known.
// CHECK:       func.func private @in_unknown_scope
"x.scope"() ({
  func.func private @in_unknown_scope() {
    return
  }
}) : () -> ()

// CHECK-LABEL: module @nested
module @nested {
  // CHECK-NEXT:  func.func private @twice
  func.func private @twice(%a: i32) -> i32 {
    %1 = arith.addi %a, %a : i32
    return %1 : i32
  }
  // CHECK:       func.func @inside
  // CHECK-NEXT:    arith.addi
  // CHECK-NEXT:    arith.addi
  // CHECK-NEXT:    return
  func.func @inside(%a: i32) -> i32 {
    %0 = call @twice(%a) : (i32) -> i32
    %1 = call @twice(%0) : (i32) -> i32
    return %1 : i32
  }
  // CHECK-NOT:   func.func private @dead
  func.func private @dead() {
    return
  }
  "x.use"() {function = @twice} : () -> ()
}
