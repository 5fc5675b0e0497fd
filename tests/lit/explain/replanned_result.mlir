// A later pass replicates what no partitioner can compute sharded. Then a result is not computed as was planned.
// RUN: sdy-opt %s --explain='#2' | filecheck %s

// CHECK:      all_gather along {"w":(2)4} of %r
// CHECK-NEXT: stablehlo.scatter is not partitioned as planned, and computes the result as P()
sdy.mesh @mesh = <["w"=8]>
func.func @main(%a: tensor<2x16x2xi32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"w"}, {}]>}, %i: tensor<2xi32>,
    %u: tensor<2x2x5xi32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {"w"}]>}) -> tensor<2x16x2xi32> {
  %r = "stablehlo.scatter"(%a, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1, 2], input_batching_dims = [2], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%x: tensor<i32>, %y: tensor<i32>):
    %0 = stablehlo.and %y, %x : tensor<i32>
    stablehlo.return %0 : tensor<i32>
  }) { sdy.sharding_rule = #sdy.op_sharding_rule<([m, k, ip], [i], [op, n, k])->([j, kl, i]) {i=4, j=2, k=6, l=2, m=6, n=8, o=2, p=2} reduction={p} need_replication={m} permutation={k}>} : (tensor<2x16x2xi32>, tensor<2xi32>, tensor<2x2x5xi32>) -> tensor<2x16x2xi32>
  return %r : tensor<2x16x2xi32>
}
