// RUN: sdy-opt %s -split-input-file -verify-diagnostics

func.func @no_tensor() {
  // expected-error @+1 {{custom op 'chlo.constant' invalid kind of attribute specified}}
  %0 = chlo.constant 3 : i32
  return
}

// -----

func.func @another_shape() {
  // expected-error @+2 {{'chlo.constant' op inferred type(s) 'tensor<2xf32>' are incompatible with return type(s) of operation 'tensor<3xf32>'}}
  // expected-error @+1 {{'chlo.constant' op failed to infer returned types}}
  %0 = "chlo.constant"() {value = dense<1.0> : tensor<2xf32>} : () -> tensor<3xf32>
  return
}

// -----

func.func @element(%x: tensor<4xf32>) {
  // expected-error @+1 {{'chlo.constant_like' op value's type doesn't match element return type}}
  %0 = "chlo.constant_like"(%x) {value = 1 : i32} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @no_number(%x: tensor<4xf32>) {
  // expected-error @+1 {{'chlo.constant_like' op attribute 'value' failed to satisfy constraint: TypedAttr instance}}
  %0 = "chlo.constant_like"(%x) {value = [1.0]} : (tensor<4xf32>) -> tensor<4xf32>
  return
}
