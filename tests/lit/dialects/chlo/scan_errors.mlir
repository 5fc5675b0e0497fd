// RUN: sdy-opt %s -split-input-file -verify-diagnostics

func.func @no_such_dimension(%x: tensor<4x5xf32>, %init: tensor<5xf32>) {
  // expected-error @+1 {{'chlo.scan' op scan dimension of operand 0 is out of bounds}}
  %0:2 = chlo.scan(%x) inits (%init) dimension=2 {
  ^bb0(%a: tensor<5xf32>, %b: tensor<5xf32>):
    stablehlo.return %a, %b : tensor<5xf32>, tensor<5xf32>
  } : (tensor<4x5xf32>, tensor<5xf32>) -> (tensor<4x5xf32>, tensor<5xf32>)
  return
}

// -----

func.func @sizes(%x: tensor<4x5xf32>, %y: tensor<3x5xf32>) {
  // expected-error @+1 {{'chlo.scan' op invalid scan dimension size of operand 1}}
  %0 = chlo.scan(%x, %y) inits () dimension=0 {
  ^bb0(%a: tensor<5xf32>, %b: tensor<5xf32>):
    stablehlo.return %a : tensor<5xf32>
  } : (tensor<4x5xf32>, tensor<3x5xf32>) -> tensor<4x5xf32>
  return
}

// -----

func.func @arguments(%x: tensor<4x5xf32>, %init: tensor<5xf32>) {
  // expected-error @+1 {{'chlo.scan' op expects 2 arguments in the body, but got 1}}
  %0:2 = chlo.scan(%x) inits (%init) dimension=0 {
  ^bb0(%a: tensor<5xf32>):
    stablehlo.return %a, %a : tensor<5xf32>, tensor<5xf32>
  } : (tensor<4x5xf32>, tensor<5xf32>) -> (tensor<4x5xf32>, tensor<5xf32>)
  return
}

// -----

func.func @argument_type(%x: tensor<4x5xf32>, %init: tensor<5xf32>) {
  // expected-error @+1 {{'chlo.scan' op operand and body argument 1 are incompatible}}
  %0:2 = chlo.scan(%x) inits (%init) dimension=0 {
  ^bb0(%a: tensor<5xf32>, %b: tensor<6xf32>):
    stablehlo.return %a, %b : tensor<5xf32>, tensor<6xf32>
  } : (tensor<4x5xf32>, tensor<5xf32>) -> (tensor<4x5xf32>, tensor<5xf32>)
  return
}

// -----

func.func @carries_nothing(%x: tensor<4x5xf32>, %init: tensor<5xf32>) {
  // expected-error @+2 {{ScanOp body must return at least 1 values (carries)}}
  // expected-error @+1 {{'chlo.scan' op failed to infer returned types}}
  %0:2 = chlo.scan(%x) inits (%init) dimension=0 {
  ^bb0(%a: tensor<5xf32>, %b: tensor<5xf32>):
    stablehlo.return
  } : (tensor<4x5xf32>, tensor<5xf32>) -> (tensor<4x5xf32>, tensor<5xf32>)
  return
}

// -----

func.func @too_few_results(%x: tensor<4x5xf32>, %init: tensor<5xf32>) {
  // expected-error @+1 {{not enough result types to cover the required carries}}
  chlo.scan(%x) inits (%init) dimension=0 {
  ^bb0(%a: tensor<5xf32>, %b: tensor<5xf32>):
    stablehlo.return %b : tensor<5xf32>
  } : (tensor<4x5xf32>, tensor<5xf32>) -> ()
  return
}
