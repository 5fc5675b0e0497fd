// RUN: sdy-opt %s -split-input-file -verify-diagnostics

func.func @no_successor() {
  // expected-error @+1 {{'cf.br' op requires 1 successor but found 0}}
  "cf.br"() : () -> ()
}

// -----

func.func @two_successors() {
  // expected-error @+1 {{'cf.br' op requires 1 successor but found 2}}
  "cf.br"()[^a, ^a] : () -> ()
^a:
  return
}

// -----

func.func @too_many_operands(%i: i32) {
  // expected-error-re @+1 {{{{^}}branch has 1 operands for successor #0, but target block has 0}}
  cf.br ^a(%i : i32)
^a:
  return
}

// -----

func.func @another_type(%c: i1, %i: i32) {
  // expected-error-re @+1 {{{{^}}type mismatch for bb argument #0 of successor #1}}
  cf.cond_br %c, ^a, ^b(%i : i32)
^a:
  return
^b(%x: i64):
  return
}
