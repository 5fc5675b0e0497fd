// RUN: sdy-opt %s -split-input-file -verify-diagnostics

func.func @results(%n: index, %a: f32) {
  // expected-error @+1 {{mismatch in number of loop-carried values and defined values}}
  %r:2 = scf.for %i = %n to %n step %n iter_args(%x = %a) -> (f32, f32) {
    scf.yield %x : f32
  }
  return
}

// -----

func.func @yield(%n: index, %a: f32) {
  // expected-error @+1 {{0-th region iter_arg and 0-th yielded value have different type: 'f32' != 'index'}}
  %r = scf.for %i = %n to %n step %n iter_args(%x = %a) -> (f32) {
    scf.yield %i : index
  }
  return
}

// -----

func.func @bounds(%n: f32) {
  // expected-error @+1 {{operand #0 must be signless integer or index, but got 'f32'}}
  scf.for %i = %n to %n step %n : f32 {
  }
  return
}

// -----

func.func @condition(%a: f32) {
  // expected-error @+1 {{expects the 'before' region to terminate with 'scf.condition'}}
  %r = scf.while (%x = %a) : (f32) -> f32 {
    // expected-note @+1 {{terminator here}}
    scf.yield %x : f32
  } do {
  ^bb0(%x: f32):
    scf.yield %x : f32
  }
  return
}

// -----

func.func @edge(%c: i1, %a: f32) {
  // expected-error @+1 {{along control flow edge from Operation scf.condition to Region #1: successor operand type #0 'f32' should match successor input type #0 'i32'}}
  %r = scf.while (%x = %a) : (f32) -> f32 {
    // expected-note @+1 {{region branch point}}
    scf.condition(%c) %x : f32
  } do {
  ^bb0(%x: i32):
    scf.yield %a : f32
  }
  return
}

// -----

func.func @a(%i: index, %x: f32) {
  // expected-error @+1 {{'scf.for' op different number of region iter_args and yielded values: 2 != 1}}
  %0:2 = "scf.for"(%i, %i, %i, %x, %x) ({
    ^bb0(%j: index, %a: f32, %b: f32):
      scf.yield %a : f32
  }) : (index, index, index, f32, f32) -> (f32, f32)
  return
}

// -----

func.func @loop_result(%i: index, %x: f32) {
  // expected-error @+1 {{'scf.for' op 0-th region iter_arg and 0-th loop result have different type: 'f32' != 'f64'}}
  %0 = "scf.for"(%i, %i, %i, %x) ({
  ^bb0(%j: index, %a: f32):
    scf.yield %a : f32
  }) : (index, index, index, f32) -> f64
  return
}

// -----

func.func @c(%x: i1) {
  // expected-error @+1 {{'scf.condition' op expects parent op 'scf.while'}}
  scf.condition(%x)
  return
}

// -----

func.func @c(%x: f32) {
  // expected-error @+1 {{'scf.yield' op expects parent op to be one of 'scf.execute_region, scf.for, scf.if, scf.index_switch, scf.while'}}
  scf.yield
  return
}
