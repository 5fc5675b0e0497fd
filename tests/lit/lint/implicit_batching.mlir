// RUN: sdy-opt %s --lint=implicit-batching --lint-config=- --split-input-file --verify-diagnostics

sdy.mesh @mesh = <["x"=4]>

// a[arange(4096)[:, None], column]: row i of %a is indexed by row i of %column only, as a batch.
func.func @take(%a: tensor<4096x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %column: tensor<4096x32x1xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}, {}]>}) -> tensor<4096x32xf32> {
  %row = stablehlo.iota dim = 0 : tensor<4096x32x1xi32>
  %at = stablehlo.concatenate %row, %column, dim = 2 : (tensor<4096x32x1xi32>, tensor<4096x32x1xi32>) -> tensor<4096x32x2xi32>
  // expected-warning@+1 {{this operation does not declare a batching dimension: with it, the program sends}}
  %0 = "stablehlo.gather"(%a, %at) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1>, indices_are_sorted = false}> : (tensor<4096x64xf32>, tensor<4096x32x2xi32>) -> tensor<4096x32xf32>
  return %0 : tensor<4096x32xf32>
}
