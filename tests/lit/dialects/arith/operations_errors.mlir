// RUN: sdy-opt %s -split-input-file -verify-diagnostics

func.func @kind(%x: f32) {
  // expected-error @+1 {{operand #0 must be signless-integer-like, but got 'f32'}}
  %0 = arith.addi %x, %x : f32
  return
}

// -----

func.func @predicate(%a: i32) {
  // expected-error @+1 {{expected string or keyword containing one of the following enum values for attribute 'predicate' [eq, ne, slt, sle, sgt, sge, ult, ule, ugt, uge]}}
  %0 = arith.cmpi less, %a, %a : i32
  return
}

// -----

func.func @flag(%x: f32) {
  // expected-error @+2 {{expected ::mlir::arith::FastMathFlags to be one of: none, reassoc, nnan, ninf, nsz, arcp, contract, afn, fast}}
  // expected-error @+1 {{failed to parse Arith_FastMathAttr parameter 'value'}}
  %0 = arith.addf %x, %x fastmath<quick> : f32
  return
}

// -----

func.func @string() {
  // expected-error @+1 {{value must be an integer, float, or elements attribute}}
  %0 = arith.constant "text"
  return
}

// -----

func.func @signed() {
  // expected-error @+1 {{integer return type must be signless}}
  %0 = arith.constant 1 : si32
  return
}

// -----

func.func @other_type() {
  // expected-error @+1 {{failed to verify that all of {value, result} have same type}}
  %0 = "arith.constant"() {value = 1 : i32} : () -> i64
  return
}

// -----

// Operands are scalars, tensors or vectors.
func.func @memref(%x: memref<4xi32>) {
  // expected-error @+1 {{operand #0 must be signless-integer-like, but got 'memref<4xi32>'}}
  %0 = arith.addi %x, %x : memref<4xi32>
  return
}

// -----

func.func @unsigned_elements() {
  // expected-error @+1 {{integer return type must be signless}}
  %0 = arith.constant dense<0> : tensor<2xui32>
  return
}

// -----

func.func @compared_floats(%a: f32) {
  // expected-error @+1 {{custom op 'arith.cmpi' 'lhs' must be signless-integer-like, but got 'f32'}}
  %0 = arith.cmpi slt, %a, %a : f32
  return
}

// -----

func.func @compared_functions(%a: () -> ()) {
  // expected-error @+1 {{custom op 'arith.cmpf' 'lhs' must be floating-point-like, but got '() -> ()'}}
  %0 = arith.cmpf olt, %a, %a : () -> ()
  return
}
