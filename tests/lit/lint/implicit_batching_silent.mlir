// RUN: sdy-opt %s --lint=implicit-batching --lint-config=- --split-input-file --verify-diagnostics

sdy.mesh @mesh = <["x"=4]>

// The gather declares its batching dimension, as `jnp.take_along_axis` writes it.
func.func @declared(%a: tensor<64x4096xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %column: tensor<64x1xi32>) -> tensor<64xf32> {
  %0 = "stablehlo.gather"(%a, %column) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>, indices_are_sorted = false}> : (tensor<64x4096xf32>, tensor<64x1xi32>) -> tensor<64xf32>
  return %0 : tensor<64xf32>
}

// -----

sdy.mesh @mesh = <["x"=4]>

// The operand is not sharded along the rows, so that a batching dimension would save nothing.
func.func @not_sharded(%a: tensor<64x4096xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, %column: tensor<64x1xi32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) -> tensor<64xf32> {
  %row = stablehlo.iota dim = 0 : tensor<64x1xi32>
  %at = stablehlo.concatenate %row, %column, dim = 1 : (tensor<64x1xi32>, tensor<64x1xi32>) -> tensor<64x2xi32>
  %0 = "stablehlo.gather"(%a, %at) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>, indices_are_sorted = false}> : (tensor<64x4096xf32>, tensor<64x2xi32>) -> tensor<64xf32>
  return %0 : tensor<64xf32>
}
