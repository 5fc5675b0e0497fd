// A gather has an index for some dimensions only. Of another one, it takes a slice from the start.
// RUN: sdy-opt %s --explain='#0' | filecheck %s

// CHECK: all_reduce along {"x"} of %0
// CHECK: gather slices dimension 1 of an operand, which is sharded along "x"
sdy.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<16x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}, %i: tensor<8x1xi32>) -> tensor<8x1xf32> {
  %0 = "stablehlo.gather"(%a, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>}> : (tensor<16x16xf32>, tensor<8x1xi32>) -> tensor<8x1xf32>
  return %0 : tensor<8x1xf32>
}
