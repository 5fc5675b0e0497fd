// RUN: sdy-opt %s -split-input-file -verify-diagnostics

func.func @dimensions(%x: tensor<4xi32>) {
  // expected-error @+1 {{'arith.extsi' op failed to verify that input and output have the same tensor dimensions}}
  %0 = arith.extsi %x : tensor<4xi32> to tensor<?xi64>
  return
}

// -----

func.func @width(%x: i32) {
  // expected-error @+1 {{'arith.trunci' op operand type 'i32' and result type 'i64' are cast incompatible}}
  %0 = arith.trunci %x : i32 to i64
  return
}

// -----

func.func @encoding(%x: tensor<2xf32, "foo">) {
  // expected-error @+1 {{are cast incompatible}}
  %0 = arith.extf %x : tensor<2xf32, "foo"> to tensor<2xf64, "bar">
  return
}

// -----

func.func @scalable(%x: vector<[4]xi32>) {
  // expected-error @+1 {{'arith.trunci' op requires the same shape for all operands and results}}
  %0 = arith.trunci %x : vector<[4]xi32> to vector<4xi8>
  return
}

// -----

func.func @constant() {
  // expected-error @+1 {{intializing scalable vectors with elements attribute is not supported unless it's a vector splat}}
  %0 = arith.constant dense<[0, 1]> : vector<[2]xi32>
  return
}

// -----

func.func @condition(%c: tensor<i1>, %x: tensor<2xi64>) {
  // expected-error @+1 {{'arith.select' op failed to verify that condition is signless i1 or has matching shape}}
  %0 = arith.select %c, %x, %x : tensor<i1>, tensor<2xi64>
  return
}

// -----

func.func @predicate(%x: f32) {
  // expected-error @+1 {{expected string or keyword containing one of the following enum values for attribute 'predicate' [false, oeq,}}
  %0 = arith.cmpf sge, %x, %x : f32
  return
}
