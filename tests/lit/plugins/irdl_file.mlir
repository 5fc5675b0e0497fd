// RUN: split-file %s %t
// RUN: sdy-opt --irdl-file=%t/queue.irdl.mlir %t/valid.mlir | filecheck %s
// RUN: sdy-opt --irdl-file=%t/queue.irdl.mlir %t/errors.mlir -split-input-file -verify-diagnostics
// RUN: not sdy-opt --irdl-file=%t/wrong.irdl.mlir %t/valid.mlir 2>&1 | filecheck %s --check-prefix=WRONG
// RUN: not sdy-opt --irdl-file=%t/taken.irdl.mlir %t/valid.mlir 2>&1 | filecheck %s --check-prefix=TAKEN
// RUN: not sdy-opt --irdl-file=%t/nothing.mlir %t/valid.mlir 2>&1 | filecheck %s --check-prefix=NOTHING
// RUN: sdy-opt --irdl-file=%t/nested.irdl.mlir %t/nested.mlir -verify-diagnostics

// WRONG: wrong.irdl.mlir:3:10: error: 'irdl.base' op symbol '@nothing' not found
// TAKEN: taken.irdl.mlir: the dialect 'arith' is registered already
// NOTHING: cannot open input file '{{.*}}nothing.mlir': No such file or directory

//--- queue.irdl.mlir
irdl.dialect @queue {
  irdl.type @queue {
    %0 = irdl.any
    %1 = irdl.base "#builtin.integer"
    irdl.parameters(element: %0, capacity: %1)
  }
  irdl.attribute @order {
    %0 = irdl.is "first"
    %1 = irdl.is "last"
    %2 = irdl.any_of(%0, %1)
    irdl.parameters(end: %2)
  }
  irdl.type @empty
  irdl.operation @push {
    %0 = irdl.any
    %1 = irdl.base "#builtin.integer"
    %2 = irdl.parametric @queue::@queue<%0, %1>
    irdl.operands(queue: %2, element: variadic %0)
    irdl.results(result: %2)
  }
  irdl.operation @unbounded {
    %0 = irdl.any
    %1 = irdl.parametric @queue::@queue<%0>
    irdl.operands(queue: %1)
  }
  irdl.operation @pop {
    %0 = irdl.base @queue::@queue
    %1 = irdl.any
    %2 = irdl.base @queue::@order
    irdl.operands(queue: %0)
    irdl.results(element: %1)
    irdl.attributes {"end" = %2}
  }
  irdl.operation @each {
    %0 = irdl.is f32
    %1 = irdl.region(%0) with size 1
    irdl.regions(body: %1)
  }
  irdl.operation @several {
    %0 = irdl.is i32
    %1 = irdl.is i64
    %2 = irdl.all_of(%0)
    irdl.operands(a: optional %2, b: variadic %1)
  }
}

//--- valid.mlir
// CHECK-LABEL: func.func @main(%arg0: !queue.queue<f32, 4 : i64>, %arg1: f32, %arg2: !queue.empty)
func.func @main(%q: !queue.queue<f32, 4 : i64>, %x: f32, %e: !queue.empty) -> f32 {
  // CHECK-NEXT: %0 = "queue.push"(%arg0, %arg1, %arg1) : (!queue.queue<f32, 4 : i64>, f32, f32) -> !queue.queue<f32, 4 : i64>
  %0 = "queue.push"(%q, %x, %x) : (!queue.queue<f32, 4 : i64>, f32, f32) -> !queue.queue<f32, 4 : i64>
  // CHECK-NEXT: %1 = "queue.pop"(%0) {end = #queue.order<"last">, queue.note} : (!queue.queue<f32, 4 : i64>) -> f32
  %1 = "queue.pop"(%0) {end = #queue.order<"last">, queue.note} : (!queue.queue<f32, 4 : i64>) -> f32
  return %1 : f32
}

//--- errors.mlir
func.func @parameter_count(%q: !queue.queue<f32, 4 : i64>) {
  // expected-error @+1 {{attribute 'queue.queue' expects 2 parameters but got 1}}
  "queue.unbounded"(%q) : (!queue.queue<f32, 4 : i64>) -> ()
  return
}

// -----

// The variable of the element type has one value.
func.func @element(%q: !queue.queue<f32, 4>, %x: i32) {
  // expected-error @+1 {{expected 'f32' but got 'i32'}}
  %0 = "queue.push"(%q, %x) : (!queue.queue<f32, 4>, i32) -> !queue.queue<f32, 4>
  return
}

// -----

func.func @base(%x: i32) {
  // expected-error @+1 {{expected base type 'queue.queue' but got 'builtin.integer'}}
  %0 = "queue.pop"(%x) {end = #queue.order<"last">} : (i32) -> i32
  return
}

// -----

func.func @count() {
  // expected-error @+1 {{op expects at least 1 operands, but got 0}}
  %0 = "queue.push"() : () -> i32
  return
}

// -----

func.func @attribute(%q: !queue.queue<f32, 4>) {
  // expected-error @+1 {{'queue.pop' op attribute "end" is expected but not provided}}
  %0 = "queue.pop"(%q) : (!queue.queue<f32, 4>) -> f32
  return
}

// -----

// expected-error @+1 {{expected 2 type arguments, but had 1}}
func.func @parameters(%q: !queue.queue<f32>) {
  return
}

// -----

// expected-error @+1 {{'"middle"' does not satisfy the constraint}}
module attributes {x.y = #queue.order<"middle">} {}

// -----

func.func @regions() {
  // expected-error @+1 {{'queue.each' op unexpected number of regions: expected 1 but got 0}}
  "queue.each"() : () -> ()
  return
}

// -----

func.func @arguments() {
  // expected-note @+1 {{see the operation}}
  "queue.each"() ({
  // expected-error @+1 {{expected region 0 to have 1 arguments but got 2}}
  ^bb0(%a: f32, %b: f32):
    "queue.each"() : () -> ()
  }) : () -> ()
  return
}

// -----

func.func @segments(%x: i64) {
  // expected-error @+1 {{'operandSegmentSizes' attribute is expected but not provided}}
  "queue.several"(%x) : (i64) -> ()
  return
}

// -----

func.func @segment(%x: i64) {
  // expected-error @+1 {{element 0 in 'operandSegmentSizes' attribute must be equal to 0 or 1}}
  "queue.several"(%x, %x) {operandSegmentSizes = array<i32: 2, 0>} : (i64, i64) -> ()
  return
}

// -----

func.func @unknown() {
  // expected-error @+1 {{unregistered operation 'queue.peek' found in dialect ('queue') that does not allow unknown operations}}
  "queue.peek"() : () -> ()
  return
}

//--- wrong.irdl.mlir
irdl.dialect @wrong {
  irdl.operation @o {
    %0 = irdl.base @nothing
    irdl.operands(a: %0)
  }
}

//--- taken.irdl.mlir
irdl.dialect @arith {
}

//--- nested.irdl.mlir
// What does not satisfy a constraint is checked once, although 8^15 paths lead to it.
irdl.dialect @nested {
  irdl.operation @op {
    %0 = irdl.is "first"
    %1 = irdl.any_of(%0, %0, %0, %0, %0, %0, %0, %0)
    %2 = irdl.any_of(%1, %1, %1, %1, %1, %1, %1, %1)
    %3 = irdl.any_of(%2, %2, %2, %2, %2, %2, %2, %2)
    %4 = irdl.any_of(%3, %3, %3, %3, %3, %3, %3, %3)
    %5 = irdl.any_of(%4, %4, %4, %4, %4, %4, %4, %4)
    %6 = irdl.any_of(%5, %5, %5, %5, %5, %5, %5, %5)
    %7 = irdl.any_of(%6, %6, %6, %6, %6, %6, %6, %6)
    %8 = irdl.any_of(%7, %7, %7, %7, %7, %7, %7, %7)
    %9 = irdl.any_of(%8, %8, %8, %8, %8, %8, %8, %8)
    %10 = irdl.any_of(%9, %9, %9, %9, %9, %9, %9, %9)
    %11 = irdl.any_of(%10, %10, %10, %10, %10, %10, %10, %10)
    %12 = irdl.any_of(%11, %11, %11, %11, %11, %11, %11, %11)
    %13 = irdl.any_of(%12, %12, %12, %12, %12, %12, %12, %12)
    %14 = irdl.any_of(%13, %13, %13, %13, %13, %13, %13, %13)
    %15 = irdl.any_of(%14, %14, %14, %14, %14, %14, %14, %14)
    irdl.attributes {"end" = %15}
  }
}

//--- nested.mlir
// expected-error @+1 {{'"second"' does not satisfy the constraint}}
"nested.op"() {end = "second"} : () -> ()
