// REQUIRES: jax
// RUN: sdy-opt %s --validate -split-input-file -verify-diagnostics -sdy-partition-pipeline
// RUN: sdy-opt %s --validate --validate-mode=manual -split-input-file -verify-diagnostics -sdy-partition-pipeline

// Programs that XLA runs on the CPU only if they are prepared.

// XLA lays out the gathered tensor by columns, and its Fourier transform needs rows.
sdy.mesh @mesh = <["x"=4]>
// expected-remark @+1 {{validated: @main: 1 result is equal on 4 devices}}
func.func @main(%a: tensor<8x8xcomplex<f32>> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}) -> (tensor<8x8xcomplex<f32>> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}) {
  %0 = stablehlo.fft %a, type = FFT, length = [8] : (tensor<8x8xcomplex<f32>>) -> tensor<8x8xcomplex<f32>>
  %1 = stablehlo.transpose %0, dims = [1, 0] : (tensor<8x8xcomplex<f32>>) -> tensor<8x8xcomplex<f32>>
  %2 = stablehlo.fft %1, type = IFFT, length = [8] : (tensor<8x8xcomplex<f32>>) -> tensor<8x8xcomplex<f32>>
  return %2 : tensor<8x8xcomplex<f32>>
}

// -----

// LAPACK has another function for f64; batch normalization has an epsilon of f32 for each type.
sdy.mesh @mesh = <["x"=2]>
// expected-remark @+1 {{validated: @main: 2 results are equal on 2 devices for 1 random input}}
func.func @main(%a: tensor<2x4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}, {}]>}, %s: tensor<4xf32>) -> (tensor<2x4x4xf32>, tensor<2x4x4xf32>) {
  // expected-warning @+1 {{custom call @lapack_spotrf_ffi is unknown to SDY sharding rule registry}}
  %0:2 = stablehlo.custom_call @lapack_spotrf_ffi(%a) {backend_config = {uplo = 76 : ui8}, operand_layouts = [dense<[1, 2, 0]> : tensor<3xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[1, 2, 0]> : tensor<3xindex>, dense<0> : tensor<1xindex>], api_version = 4 : i32} : (tensor<2x4x4xf32>) -> (tensor<2x4x4xf32>, tensor<2xi32>)
  %1 = "stablehlo.batch_norm_inference"(%a, %s, %s, %s, %s) <{epsilon = 0.1 : f32, feature_index = 2 : i64}> : (tensor<2x4x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<2x4x4xf32>
  return %0#0, %1 : tensor<2x4x4xf32>, tensor<2x4x4xf32>
}
