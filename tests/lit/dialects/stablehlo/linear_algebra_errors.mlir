// RUN: sdy-opt %s -split-input-file -verify-diagnostics

func.func @no_matrix(%x: tensor<4xf32>) {
  // expected-error @+2 {{argument 'a' must have rank >= 2, got shape 4.}}
  // expected-error @+1 {{'stablehlo.cholesky' op failed to infer returned types}}
  %0 = stablehlo.cholesky %x : tensor<4xf32>
  return
}

// -----

func.func @not_square(%x: tensor<4x5xf32>) {
  // expected-error @+2 {{minor dimensions of 'a' must have equal size, got shape 4, 5.}}
  // expected-error @+1 {{'stablehlo.cholesky' op failed to infer returned types}}
  %0 = stablehlo.cholesky %x : tensor<4x5xf32>
  return
}

// -----

func.func @no_bool(%x: tensor<4x4xf32>) {
  // expected-error @+1 {{custom op 'stablehlo.cholesky' invalid kind of attribute specified}}
  %0 = stablehlo.cholesky %x, lower = "yes" : tensor<4x4xf32>
  return
}

// -----

func.func @shared_dimension(%a: tensor<4x4xf32>, %b: tensor<3x4xf32>) {
  // expected-error @+2 {{shared dimension of operands 'a' and 'b' must be compatible, but got 'tensor<4x4xf32>' and 'tensor<3x4xf32>'}}
  // expected-error @+1 {{'stablehlo.triangular_solve' op failed to infer returned types}}
  %0 = "stablehlo.triangular_solve"(%a, %b) {left_side = true, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose ADJOINT>} : (tensor<4x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  return
}

// -----

func.func @batches(%a: tensor<2x4x4xf32>, %b: tensor<3x4x3xf32>) {
  // expected-error @+2 {{batch dimensions of the operands must be compatible, but got 'tensor<2x4x4xf32>' and 'tensor<3x4x3xf32>'}}
  // expected-error @+1 {{'stablehlo.triangular_solve' op failed to infer returned types}}
  %0 = "stablehlo.triangular_solve"(%a, %b) {left_side = true, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose TRANSPOSE>} : (tensor<2x4x4xf32>, tensor<3x4x3xf32>) -> tensor<3x4x3xf32>
  return
}

// -----

func.func @invalid_transpose(%a: tensor<4x4xf32>, %b: tensor<4x3xf32>) {
  // expected-error @+2 {{Invalid transpose option value for triangular solve}}
  // expected-error @+1 {{'stablehlo.triangular_solve' op failed to infer returned types}}
  %0 = "stablehlo.triangular_solve"(%a, %b) {left_side = true, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose TRANSPOSE_INVALID>} : (tensor<4x4xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
  return
}

// -----

func.func @missing_attribute(%a: tensor<4x4xf32>) {
  // expected-error @+1 {{'stablehlo.triangular_solve' op requires attribute 'left_side'}}
  %0 = "stablehlo.triangular_solve"(%a, %a) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return
}

// -----

func.func @real_into_fft(%x: tensor<3x9xf32>) {
  // expected-error @+2 {{FFT/IFFT/IRFFT take a complex tensor as input, but is given 'tensor<3x9xf32>'.}}
  // expected-error @+1 {{'stablehlo.fft' op failed to infer returned types}}
  %0 = stablehlo.fft %x, type = FFT, length = [9] : (tensor<3x9xf32>) -> tensor<3x9xf32>
  return
}

// -----

func.func @innermost(%x: tensor<3x9xcomplex<f32>>) {
  // expected-error @+2 {{IRFFT requires innermost dimension to be compatible with fft_length[-1]/2+1. Got: 9 but fft_length is 20.}}
  // expected-error @+1 {{'stablehlo.fft' op failed to infer returned types}}
  %0 = stablehlo.fft %x, type = IRFFT, length = [20] : (tensor<3x9xcomplex<f32>>) -> tensor<3x20xf32>
  return
}

// -----

func.func @too_many_dimensions(%x: tensor<3x9xcomplex<f32>>) {
  // expected-error @+2 {{operand rank must not be less than fft rank of 3 for operand of type 'tensor<3x9xcomplex<f32>>'.}}
  // expected-error @+1 {{'stablehlo.fft' op failed to infer returned types}}
  %0 = stablehlo.fft %x, type = FFT, length = [1, 3, 9] : (tensor<3x9xcomplex<f32>>) -> tensor<3x9xcomplex<f32>>
  return
}

// -----

func.func @no_such_transform(%x: tensor<3x9xcomplex<f32>>) {
  // expected-error @+2 {{custom op 'stablehlo.fft' expected ::mlir::stablehlo::FftType to be one of: FFT, IFFT, RFFT, IRFFT}}
  // expected-error @+1 {{failed to parse StableHLO_FftTypeAttr parameter 'value' which is to be a `::mlir::stablehlo::FftType`}}
  %0 = stablehlo.fft %x, type = DFT, length = [9] : (tensor<3x9xcomplex<f32>>) -> tensor<3x9xcomplex<f32>>
  return
}
