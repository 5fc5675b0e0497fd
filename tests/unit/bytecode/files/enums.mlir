func.func @main(%a: tensor<f32>, %c: tensor<4xcomplex<f32>>, %f: tensor<4xf32>, %m: tensor<4x4xf32>, %u: tensor<2xui64>)
    -> (tensor<2xf32>, tensor<2xf32>, tensor<4xcomplex<f32>>, tensor<4xcomplex<f32>>, tensor<3xcomplex<f32>>, tensor<4xf32>, tensor<4xi1>, tensor<4xi1>, tensor<4xi1>, tensor<4xi1>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<2xui32>, tensor<2xui32>, tensor<2xui32>, tensor<4xf32>, tensor<4xf32>) {
  %n = stablehlo.constant dense<2> : tensor<1xi64>
  %0 = stablehlo.rng %a, %a, %n, distribution = UNIFORM : (tensor<f32>, tensor<f32>, tensor<1xi64>) -> tensor<2xf32>
  %1 = stablehlo.rng %a, %a, %n, distribution = NORMAL : (tensor<f32>, tensor<f32>, tensor<1xi64>) -> tensor<2xf32>
  %2 = stablehlo.fft %c, type = FFT, length = [4] : (tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>>
  %3 = stablehlo.fft %c, type = IFFT, length = [4] : (tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>>
  %4 = stablehlo.fft %f, type = RFFT, length = [4] : (tensor<4xf32>) -> tensor<3xcomplex<f32>>
  %5 = stablehlo.fft %4, type = IRFFT, length = [4] : (tensor<3xcomplex<f32>>) -> tensor<4xf32>
  %6 = stablehlo.compare EQ, %f, %f, FLOAT : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  %7 = stablehlo.compare NE, %f, %f, TOTALORDER : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  %8 = stablehlo.compare GE, %6, %7, UNSIGNED : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  %9 = stablehlo.compare GT, %f, %f : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  %10 = stablehlo.dot_general %m, %m, contracting_dims = [1] x [0], precision = [DEFAULT, HIGH] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %11 = stablehlo.dot_general %m, %m, contracting_dims = [1] x [0], precision = [HIGHEST, HIGHEST] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %12 = "stablehlo.triangular_solve"(%m, %m) <{left_side = true, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose ADJOINT>}> : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %13, %14 = stablehlo.rng_bit_generator %u, algorithm = DEFAULT : (tensor<2xui64>) -> (tensor<2xui64>, tensor<2xui32>)
  %15, %16 = stablehlo.rng_bit_generator %u, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<2xui32>)
  %17, %18 = stablehlo.rng_bit_generator %u, algorithm = PHILOX : (tensor<2xui64>) -> (tensor<2xui64>, tensor<2xui32>)
  %19 = stablehlo.custom_call @f(%f) {api_version = 4 : i32, backend_config = {k = "v"}} : (tensor<4xf32>) -> tensor<4xf32>
  %20 = stablehlo.exponential %f {result_accuracy = #stablehlo.result_accuracy<ulps = 2, mode = #stablehlo.result_accuracy_mode<TOLERANCE>>} : tensor<4xf32>
  return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %14, %16, %18, %19, %20 : tensor<2xf32>, tensor<2xf32>, tensor<4xcomplex<f32>>, tensor<4xcomplex<f32>>, tensor<3xcomplex<f32>>, tensor<4xf32>, tensor<4xi1>, tensor<4xi1>, tensor<4xi1>, tensor<4xi1>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<2xui32>, tensor<2xui32>, tensor<2xui32>, tensor<4xf32>, tensor<4xf32>
}
