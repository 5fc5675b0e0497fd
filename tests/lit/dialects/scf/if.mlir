// RUN: sdy-opt %s -split-input-file -verify-diagnostics | filecheck %s

// CHECK-LABEL: func.func @if
func.func @if(%b: i1, %i: index, %j: index) -> index {
  // CHECK-NEXT: scf.if %arg0 -> (index) {
  // CHECK-NEXT: scf.yield %arg1 : index
  // CHECK-NEXT: } else {
  // CHECK-NEXT: scf.yield %arg2 : index
  %0 = scf.if %b -> (index) {
    scf.yield %i : index
  } else {
    scf.yield %j : index
  }
  // An empty yield is not printed.
  // CHECK: scf.if %arg0 {
  // CHECK-NEXT: arith.addi
  // CHECK-NEXT: }
  scf.if %b {
    %1 = arith.addi %i, %j : index
  }
  return %0 : index
}

// -----

func.func @no_else(%b: i1, %i: index) {
  // expected-error @+1 {{must have an else block if defining values}}
  %0 = scf.if %b -> (index) { scf.yield %i : index }
  return
}

// -----

func.func @types(%b: i1, %i: index) {
  // expected-note @+2 {{region branch point}}
  // expected-error @+1 {{along control flow edge from Operation scf.yield to parent: successor operand type #0 'i1' should match successor input type #0 'index'}}
  %0 = scf.if %b -> (index) { scf.yield %b : i1 } else { scf.yield %i : index }
  return
}

// -----

func.func @place(%i: index) {
  // expected-error @+1 {{expects parent op to be one of 'scf.execute_region, scf.for, scf.if, scf.index_switch, scf.while'}}
  scf.yield %i : index
}
