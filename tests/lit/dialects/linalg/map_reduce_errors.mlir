// RUN: sdy-opt %s -split-input-file -verify-diagnostics

func.func @arity(%a: tensor<4xf32>) {
  // expected-error @+1 {{'linalg.map' op expects number of operands to match the arity of mapper, but got: 2 and 3}}
  %0 = linalg.map ins(%a : tensor<4xf32>) outs(%a : tensor<4xf32>) (%x: f32, %y: f32, %z: f32) {
    linalg.yield %x : f32
  }
  return
}

// -----

func.func @shape(%a: tensor<4xf32>, %b: tensor<5xf32>) {
  // expected-error @+1 {{'linalg.map' op expected shape of input (4) to match shape of output (5)}}
  %0 = linalg.map { math.exp } ins(%a : tensor<4xf32>) outs(%b : tensor<5xf32>)
  return
}

// -----

func.func @element(%a: tensor<4xf32>) {
  // expected-error @+1 {{'linalg.map' op expected element type of input 'f32' to match bbArg type 'f64'}}
  %0 = linalg.map ins(%a : tensor<4xf32>) outs(%a : tensor<4xf32>) (%x: f64, %y: f32) {
    linalg.yield %y : f32
  }
  return
}

// -----

func.func @range(%a: tensor<4x8xf32>, %b: tensor<4xf32>) {
  // expected-error @+1 {{'linalg.reduce' op dimensions for reduction should be in the range [0, 1].}}
  %0 = linalg.reduce { arith.addf } ins(%a : tensor<4x8xf32>) outs(%b : tensor<4xf32>) dimensions = [2]
  return
}

// -----

func.func @order(%a: tensor<4x8xf32>, %b: tensor<f32>) {
  // expected-error @+1 {{attribute 'dimensions' failed to satisfy constraint: i64 dense array attribute should be in increasing order}}
  %0 = linalg.reduce { arith.addf } ins(%a : tensor<4x8xf32>) outs(%b : tensor<f32>) dimensions = [1, 0]
  return
}

// -----

func.func @sizes(%a: tensor<4x8xf32>, %b: tensor<8xf32>) {
  // expected-error @+1 {{'linalg.reduce' op init dimensions [8] doesn't match input dimensions after reduction [4]}}
  %0 = linalg.reduce { arith.addf } ins(%a : tensor<4x8xf32>) outs(%b : tensor<8xf32>) dimensions = [1]
  return
}

// -----

func.func @arguments(%a: tensor<4x8xf32>, %b: tensor<4xf32>) {
  // expected-error @+1 {{'linalg.reduce' op mismatching number of operands and block arguments}}
  %0 = linalg.reduce ins(%a : tensor<4x8xf32>) outs(%b : tensor<4xf32>) dimensions = [1] (%x: f32) {
    linalg.yield %x : f32
  }
  return
}

// -----

func.func @permutation(%a: tensor<4x8xf32>, %b: tensor<8x4xf32>) {
  // expected-error @+1 {{'linalg.transpose' op permutation is not valid}}
  %0 = linalg.transpose ins(%a : tensor<4x8xf32>) outs(%b : tensor<8x4xf32>) permutation = [1, 1]
  return
}

// -----

func.func @transposed(%a: tensor<4x8xf32>, %b: tensor<8x4xf32>) {
  // expected-error @+1 {{'linalg.transpose' op dim(result, 0) = 8 doesn't match dim(input, permutation[0]) = 4}}
  %0 = linalg.transpose ins(%a : tensor<4x8xf32>) outs(%b : tensor<8x4xf32>) permutation = [0, 1]
  return
}

// -----

func.func @broadcast(%a: tensor<4xf32>, %b: tensor<5x8xf32>) {
  // expected-error @+1 {{'linalg.broadcast' op input dim 0 should match init dim 0. input: 4, init: 5}}
  %0 = linalg.broadcast ins(%a : tensor<4xf32>) outs(%b : tensor<5x8xf32>) dimensions = [1]
  return
}

// -----

func.func @not_numeric(%a: tensor<4xi32>) {
  // expected-error @+1 {{custom op 'linalg.exp' unsupported non numeric type}}
  %0 = linalg.exp ins(%a : tensor<4xi32>) outs(%a : tensor<4xi32>) -> tensor<4xi32>
  return
}

// -----

func.func @payload(%a: tensor<4xf32>) {
  // expected-error @+1 {{unknown operation arith.nothing}}
  %0 = linalg.map { arith.nothing } ins(%a : tensor<4xf32>) outs(%a : tensor<4xf32>)
  return
}

// -----

func.func @no_operands() {
  // expected-error @+1 {{'linalg.map' op expected 1 or more operands, but found 0}}
  linalg.map { arith.addf }
  return
}

// -----

func.func @nothing_to_reduce() {
  // expected-error @+1 {{'linalg.reduce' op expected 1 or more inputs and as many outputs}}
  linalg.reduce { arith.addf } dimensions = [0]
  return
}

// -----

func.func @no_init(%x: tensor<4xf32>) {
  // expected-error @+1 {{'linalg.reduce' op}}
  "linalg.reduce"(%x) <{dimensions = array<i64: 0>}> ({}) : (tensor<4xf32>) -> ()
  return
}
