// RUN: sdy-opt %s -split-input-file -verify-diagnostics

func.func @slice_size(%t: tensor<8x?xf32>) {
  // expected-error @+1 {{expected type to be 'tensor<4x2xf32>' or a rank-reduced version. (size mismatch) }}
  %0 = tensor.extract_slice %t[0, 0] [4, 2] [1, 1] : tensor<8x?xf32> to tensor<5x2xf32>
  return
}

// -----

func.func @slice_lists(%t: tensor<8x?xf32>) {
  // expected-error @+1 {{expected mixed offsets rank to match mixed sizes rank (1 vs 2) so the rank of the result type is well-formed.}}
  %0 = tensor.extract_slice %t[0] [4, 2] [1, 1] : tensor<8x?xf32> to tensor<4x2xf32>
  return
}

// -----

func.func @slice_rank(%t: tensor<8x?xf32>) {
  // expected-error @+1 {{expected 2 offset values, got 1}}
  %0 = tensor.extract_slice %t[0] [4] [1] : tensor<8x?xf32> to tensor<4xf32>
  return
}

// -----

func.func @cast(%t: tensor<8x?xf32>) {
  // expected-error @+1 {{operand type 'tensor<8x?xf32>' and result type 'tensor<4x?xf32>' are cast incompatible}}
  %0 = tensor.cast %t : tensor<8x?xf32> to tensor<4x?xf32>
  return
}

// -----

func.func @empty(%i: index) {
  // expected-error @+1 {{incorrect number of dynamic sizes, has 2, expected 1}}
  %0 = tensor.empty(%i, %i) : tensor<8x?xf32>
  return
}

// -----

func.func @dim(%t: tensor<f32>, %i: index) {
  // expected-error @+1 {{operand #0 must be non-0-ranked or unranked tensor, but got 'tensor<f32>'}}
  %0 = tensor.dim %t, %i : tensor<f32>
  return
}
