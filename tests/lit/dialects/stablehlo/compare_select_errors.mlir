// RUN: sdy-opt %s -split-input-file -verify-diagnostics

func.func @direction(%x: tensor<4xf32>) {
  // expected-error @+2 {{custom op 'stablehlo.compare' expected ::mlir::stablehlo::ComparisonDirection to be one of: EQ, NE, GE, GT, LE, LT}}
  // expected-error @+1 {{custom op 'stablehlo.compare' failed to parse StableHLO_ComparisonDirectionAttr parameter 'value' which is to be a `::mlir::stablehlo::ComparisonDirection`}}
  %0 = stablehlo.compare XX, %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  return
}

// -----

func.func @compared_elements(%x: tensor<4xf32>, %y: tensor<4xi32>) {
  // expected-error @+1 {{'stablehlo.compare' op requires compatible element types for all operands}}
  %0 = stablehlo.compare EQ, %x, %y : (tensor<4xf32>, tensor<4xi32>) -> tensor<4xi1>
  return
}

// -----

func.func @compared_to_what(%x: tensor<4xf32>) {
  // expected-error @+1 {{'stablehlo.compare' op result #0 must be ranked tensor of bool values, but got 'tensor<4xf32>'}}
  %0 = stablehlo.compare EQ, %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @three_types(%p: tensor<i1>, %x: tensor<4xf32>) {
  // expected-error @+1 {{custom op 'stablehlo.select' expected functional type or list of two types}}
  %0 = stablehlo.select %p, %x, %x : tensor<i1>, tensor<4xf32>, tensor<4xf32>
  return
}

// -----

func.func @predicate_shape(%p: tensor<5xi1>, %x: tensor<4xf32>) {
  // expected-error @+2 {{requires the same shape for all operands}}
  // expected-error @+1 {{'stablehlo.select' op failed to infer returned types}}
  %0 = stablehlo.select %p, %x, %x : tensor<5xi1>, tensor<4xf32>
  return
}

// -----

func.func @selected_types(%p: tensor<i1>, %x: tensor<4xf32>, %y: tensor<4xi32>) {
  // expected-error @+2 {{requires compatible types for non-predicate operands}}
  // expected-error @+1 {{'stablehlo.select' op failed to infer returned types}}
  %0 = stablehlo.select %p, %x, %y : (tensor<i1>, tensor<4xf32>, tensor<4xi32>) -> tensor<4xf32>
  return
}

// -----

func.func @limit_shape(%lo: tensor<2xf32>, %x: tensor<4xf32>) {
  // expected-error @+2 {{min shape [2] is not scalar and is not compatible to operand shape [4]}}
  // expected-error @+1 {{'stablehlo.clamp' op failed to infer returned types}}
  %0 = stablehlo.clamp %lo, %x, %x : (tensor<2xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}
