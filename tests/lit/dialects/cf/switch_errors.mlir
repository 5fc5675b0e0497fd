// RUN: sdy-opt %s -split-input-file -verify-diagnostics

func.func @no_default(%flag: i32) {
  // expected-error @+2 {{expected 'default'}}
  cf.switch %flag : i32, [
    3: ^bb1]
^bb1:
  return
}

// -----

func.func @no_value(%flag: i32) {
  // expected-error @+1 {{expected integer value}}
  cf.switch %flag : i32, [default: ^bb1, "3": ^bb1]
^bb1:
  return
}

// -----

func.func @out_of_range(%flag: i8) {
  // expected-error @+1 {{custom op 'cf.switch' case value is out of range for 'i8'}}
  cf.switch %flag : i8, [default: ^bb1, 256: ^bb1]
^bb1:
  return
}

// -----

func.func @flag_type(%flag: index) {
  // expected-error @+1 {{custom op 'cf.switch' invalid kind of type specified: expected builtin.integer, but found 'index'}}
  cf.switch %flag : index, [default: ^bb1]
^bb1:
  return
}

// -----

func.func @too_many_operands(%flag: i32) {
  // expected-error @+1 {{branch has 1 operands for successor #1, but target block has 0}}
  cf.switch %flag : i32, [default: ^bb1, 3: ^bb1(%flag : i32)]
^bb1:
  return
}

// -----

func.func @operand_type(%flag: i32) {
  // expected-error @+1 {{type mismatch for bb argument #0 of successor #2}}
  cf.switch %flag : i32, [default: ^bb1(%flag : i32), 3: ^bb1(%flag : i32), 4: ^bb2(%flag : i32)]
^bb1(%x: i32):
  return
^bb2(%y: f32):
  return
}

// -----

func.func @value_count(%flag: i32) {
  // expected-error @+1 {{'cf.switch' op number of case values (2) should match number of case destinations (1)}}
  "cf.switch"(%flag)[^bb1, ^bb1] <{case_values = dense<[1, 2]> : tensor<2xi32>, case_operand_segments = array<i32: 0>, operandSegmentSizes = array<i32: 1, 0, 0>}> : (i32) -> ()
^bb1:
  return
}

// -----

func.func @value_type(%flag: i32) {
  // expected-error @+1 {{'cf.switch' op 'flag' type ('i32') should match case value type ('i64')}}
  "cf.switch"(%flag)[^bb1, ^bb1] <{case_values = dense<1> : tensor<1xi64>, case_operand_segments = array<i32: 0>, operandSegmentSizes = array<i32: 1, 0, 0>}> : (i32) -> ()
^bb1:
  return
}

// -----

func.func @segments(%flag: i32) {
  // expected-error @+1 {{count (1) does not match with the total size (0) specified in attribute 'case_operand_segments'}}
  "cf.switch"(%flag, %flag)[^bb1, ^bb1] <{case_values = dense<1> : tensor<1xi32>, case_operand_segments = array<i32: 0>, operandSegmentSizes = array<i32: 1, 0, 1>}> : (i32, i32) -> ()
^bb1:
  return
}

// -----

func.func @one_weight(%condition: i1) {
  // expected-error @+1 {{expects number of branch weights to match number of successors: 1 vs 2}}
  cf.cond_br %condition weights([30]), ^bb1, ^bb1
^bb1:
  return
}

// -----

func.func @no_weight(%condition: i1) {
  // expected-error @+1 {{branch weights cannot all be zero}}
  cf.cond_br %condition weights([0, 0]), ^bb1, ^bb1
^bb1:
  return
}
