// RUN: sdy-opt %s -allow-unregistered-dialect -split-input-file -verify-diagnostics

func.func @exec_arguments() {
  // expected-error @+1 {{'scf.execute_region' op region cannot have any arguments}}
  "scf.execute_region"() ({
  ^bb0(%a: i32):
    scf.yield
  }) : () -> ()
  return
}

// -----

func.func @exec_empty() {
  // expected-error @+1 {{'scf.execute_region' op region needs to have at least one block}}
  "scf.execute_region"() ({
  }) : () -> ()
  return
}

// -----

func.func @exec_types() {
  // expected-error @+1 {{'scf.execute_region' op along control flow edge from Operation scf.yield to parent: successor operand type #0 'i32' should match successor input type #0 'i64'}}
  %0 = scf.execute_region -> i64 {
    %c = arith.constant 1 : i32
    // expected-note @+1 {{region branch point}}
    scf.yield %c : i32
  }
  return
}

// -----

func.func @exec_count() {
  // expected-error @+1 {{'scf.execute_region' op along control flow edge from Operation scf.yield to parent: region branch point has 1 operands, but region successor needs 0 inputs}}
  scf.execute_region {
    %c = arith.constant 1 : i32
    // expected-note @+1 {{region branch point}}
    scf.yield %c : i32
  }
  return
}

// -----

func.func @exec_no_yield() {
  // expected-error @+1 {{'scf.execute_region' op region needs to have at least one block}}
  scf.execute_region {
  }
  return
}

// -----

func.func @switch_counts(%a: index) {
  // expected-error @+1 {{'scf.index_switch' op has 0 case regions but 1 case values}}
  "scf.index_switch"(%a) <{cases = array<i64: 1>}> ({
    scf.yield
  }) : (index) -> ()
  return
}

// -----

func.func @switch_twice(%a: index) {
  // expected-error @+1 {{'scf.index_switch' op has duplicate case value: 1}}
  scf.index_switch %a
  case 1 {
    scf.yield
  }
  case 1 {
    scf.yield
  }
  default {
    scf.yield
  }
  return
}

// -----

func.func @switch_values(%a: index) {
  // expected-error @+1 {{'scf.index_switch' op expected each region to return 0 values, but default region returns 1}}
  scf.index_switch %a
  default {
    // expected-note @+1 {{see yield operation here}}
    scf.yield %a : index
  }
  return
}

// -----

func.func @switch_values2(%a: index) {
  // expected-error @+1 {{'scf.index_switch' op expected each region to return 0 values, but case region #0 returns 1}}
  scf.index_switch %a
  case 4 {
    // expected-note @+1 {{see yield operation here}}
    scf.yield %a : index
  }
  default {
  }
  return
}

// -----

func.func @switch_types(%a: index, %b: i32) {
  // expected-error @+1 {{'scf.index_switch' op expected result #0 of each region to be 'index'}}
  %0 = scf.index_switch %a -> index
  case 0 {
    // expected-note @+1 {{case region #0 returns 'i32' here}}
    scf.yield %b : i32
  }
  default {
    scf.yield %a : index
  }
  return
}

// -----

func.func @switch_types2(%a: index, %b: i32) {
  // expected-error @+1 {{'scf.index_switch' op expected result #0 of each region to be 'index'}}
  %0 = scf.index_switch %a -> index
  default {
    // expected-note @+1 {{default region returns 'i32' here}}
    scf.yield %b : i32
  }
  return
}

// -----

func.func @switch_end(%a: index, %b: i32) {
  // expected-error @+1 {{'scf.index_switch' op expected region to end with scf.yield, but got func.return}}
  "scf.index_switch"(%a) <{cases = array<i64: 1>}> ({
    scf.yield
  }, {
    return
  }) : (index) -> ()
  return
}

// -----

func.func @switch_no_default(%a: index) {
  scf.index_switch %a
  case 4 {
  }
  // expected-error @+1 {{custom op 'scf.index_switch' expected 'default'}}
  return
}

// -----

func.func @switch_bad_case(%a: index) {
  scf.index_switch %a
  // expected-error @+1 {{custom op 'scf.index_switch' expected integer value}}
  case %a {
  }
  default {
  }
  return
}

// -----

func.func @for_mismatch(%a: index, %b: i32) {
  // expected-error @+1 {{'scf.for' op failed to verify that all of {lowerBound, upperBound, step} have same type}}
  "scf.for"(%a, %b, %a) ({
  ^bb0(%i: index):
    scf.yield
  }) : (index, i32, index) -> ()
  return
}

// -----

func.func @for_type(%a: index, %b: f32) {
  // expected-error @+1 {{'scf.for' op operand #2 must be signless integer or index, but got 'f32'}}
  "scf.for"(%a, %a, %b) ({
  ^bb0(%i: index):
    scf.yield
  }) : (index, index, f32) -> ()
  return
}

// -----

func.func @for_regions(%a: index) {
  // expected-error @+1 {{'scf.for' op requires one region}}
  "scf.for"(%a, %a, %a) ({
    scf.yield
  }, {
    scf.yield
  }) : (index, index, index) -> ()
  return
}

// -----

func.func @for_blocks(%a: index) {
  // expected-error @+1 {{'scf.for' op expects region #0 to have 0 or 1 blocks}}
  "scf.for"(%a, %a, %a) ({
  ^bb0(%i: index):
    scf.yield
  ^bb1:
    scf.yield
  }) : (index, index, index) -> ()
  return
}

// -----

func.func @for_results(%a: index, %z: f32) {
  // expected-error @+1 {{'scf.for' op mismatch in number of loop-carried values and defined values}}
  "scf.for"(%a, %a, %a, %z) ({
  ^bb0(%i: index, %x: f32):
    scf.yield %x : f32
  }) : (index, index, index, f32) -> ()
  return
}

// -----

func.func @for_other_end(%a: index) {
  scf.for %i = %a to %a step %a {
    // expected-error @+1 {{'func.return' op expects parent op 'func.func'}}
    func.return
  }
  return
}

// -----

func.func @if_condition(%a: index) {
  // expected-error @+1 {{'scf.if' op operand #0 must be 1-bit signless integer, but got 'index'}}
  "scf.if"(%a) ({}, {}) : (index) -> ()
  return
}

// -----

func.func @if_regions(%a: i1) {
  // expected-error @+1 {{'scf.if' op expected 2 regions}}
  "scf.if"(%a) ({}, {}, {}) : (i1) -> ()
  return
}

// -----

func.func @if_blocks(%a: i1) {
  // expected-error @+1 {{'scf.if' op expects region #0 to have 0 or 1 blocks}}
  "scf.if"(%a) ({
    scf.yield
  ^bb1:
    scf.yield
  }, {}) : (i1) -> ()
  return
}

// -----

func.func @if_arguments(%a: i1) {
  // expected-error @+1 {{'scf.if' op region #0 should have no arguments}}
  "scf.if"(%a) ({
  ^bb1(%i: i32):
    scf.yield
  }, {}) : (i1) -> ()
  return
}

// -----

func.func @if_empty(%a: i1) {
  // expected-error @+1 {{'scf.if' op region #0 ('thenRegion') failed to verify constraint: region with 1 blocks}}
  "scf.if"(%a) ({
  }, {}) : (i1) -> ()
  return
}

// -----

func.func @if_values(%a: i1, %b: f32) {
  // expected-error @+1 {{'scf.if' op along control flow edge from Operation scf.yield to parent: region branch point has 1 operands, but region successor needs 2 inputs}}
  %0:2 = scf.if %a -> (f32, f32) {
    // expected-note @+1 {{region branch point}}
    scf.yield %b : f32
  } else {
    scf.yield %b, %b : f32, f32
  }
  return
}

// -----

func.func @if_else(%a: i1, %b: f32) {
  // expected-error @+1 {{'scf.if' op must have an else block if defining values}}
  %0 = scf.if %a -> f32 {
    scf.yield %b : f32
  }
  return
}

// -----

func.func @yield_parent() {
  "x.y"() ({
    // expected-error @+1 {{'scf.yield' op expects parent op to be one of 'scf.execute_region, scf.for, scf.if, scf.index_switch, scf.while'}}
    scf.yield
  }) : () -> ()
  return
}

// -----

func.func @while_region() {
  // expected-error @+1 {{'scf.while' op region #0 ('before') failed to verify constraint: region with 1 blocks}}
  scf.while : () -> () {
  } do {
  }
  return
}

// -----

func.func @while_block() {
  // expected-error @+1 {{'scf.while' op expects a non-empty block}}
  scf.while : () -> () {
  ^bb0:
  } do {
  ^bb0:
  }
  return
}

// -----

func.func @while_count(%t: i1) {
  // expected-error @+1 {{'scf.while' op along control flow edge from Operation scf.condition to Region #1: region branch point has 0 operands, but region successor needs 1 inputs}}
  scf.while : () -> () {
    // expected-note @+1 {{region branch point}}
    scf.condition(%t)
  } do {
  ^bb0(%a: i32):
    scf.yield
  }
  return
}

// -----

func.func @while_type(%t: i1) {
  // expected-error @+1 {{'scf.while' op along control flow edge from Operation scf.condition to Region #1: successor operand type #0 'i1' should match successor input type #0 'i32'}}
  %0 = scf.while : () -> i1 {
    // expected-note @+1 {{region branch point}}
    scf.condition(%t) %t : i1
  } do {
  ^bb0(%a: i32):
    scf.yield
  }
  return
}

// -----

func.func @while_result(%t: i1) {
  // expected-error @+1 {{'scf.while' op along control flow edge from Operation scf.condition to parent: region branch point has 1 operands, but region successor needs 0 inputs}}
  scf.while : () -> () {
    // expected-note @+1 {{region branch point}}
    scf.condition(%t) %t : i1
  } do {
  ^bb0(%a: i1):
    scf.yield
  }
  return
}
