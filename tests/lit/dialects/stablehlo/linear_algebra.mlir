// RUN: sdy-opt %s | filecheck %s

// CHECK-LABEL: func.func @cholesky
func.func @cholesky(%x: tensor<2x4x4xf32>, %y: tensor<?x4x4xf32>) {
  // CHECK: stablehlo.cholesky %{{.*}}, lower = true : tensor<2x4x4xf32>
  %0 = stablehlo.cholesky %x, lower = true : tensor<2x4x4xf32>
  // CHECK: stablehlo.cholesky %{{.*}} {note} : tensor<2x4x4xf32>
  %1 = stablehlo.cholesky %x, lower = false {note} : tensor<2x4x4xf32>
  // CHECK: stablehlo.cholesky %{{.*}} : (tensor<?x4x4xf32>) -> tensor<2x4x4xf32>
  %2 = "stablehlo.cholesky"(%y) : (tensor<?x4x4xf32>) -> tensor<2x4x4xf32>
  return
}

// CHECK-LABEL: func.func @triangular_solve
func.func @triangular_solve(%a: tensor<4x4xf32>, %b: tensor<4x3xf32>) {
  // CHECK: "stablehlo.triangular_solve"(%{{.*}}, %{{.*}}) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}>
  %0 = "stablehlo.triangular_solve"(%a, %b) {
    left_side = true, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose NO_TRANSPOSE>
  } : (tensor<4x4xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
  return
}

// RFFT returns half of the spectrum.
// CHECK-LABEL: func.func @fft
func.func @fft(%real: tensor<3x16xf32>, %complex: tensor<3x9xcomplex<f32>>) {
  // CHECK: stablehlo.fft %{{.*}}, type = FFT, length = [3, 9] : (tensor<3x9xcomplex<f32>>) -> tensor<3x9xcomplex<f32>>
  %0 = stablehlo.fft %complex, type = FFT, length = [3, 9] : (tensor<3x9xcomplex<f32>>) -> tensor<3x9xcomplex<f32>>
  // CHECK: stablehlo.fft %{{.*}}, type = RFFT, length = [16] : (tensor<3x16xf32>) -> tensor<3x9xcomplex<f32>>
  %1 = stablehlo.fft %real, type = #stablehlo<fft_type RFFT>, length = [16] : (tensor<3x16xf32>) -> tensor<3x9xcomplex<f32>>
  // CHECK: stablehlo.fft %{{.*}}, type = IRFFT, length = [16] : (tensor<3x9xcomplex<f32>>) -> tensor<3x16xf32>
  %2 = stablehlo.fft %complex, type = IRFFT, length = [16] : (tensor<3x9xcomplex<f32>>) -> tensor<3x16xf32>
  return
}
