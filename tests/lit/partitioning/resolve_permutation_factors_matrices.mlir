// RUN: sdy-opt %s -sdy-resolve-permutation-factors | filecheck %s

sdy.mesh @mesh = <["x"=2, "y"=2]>

// A custom call that needs whole matrices gets them, and keeps its sharded batches.
// CHECK-LABEL: func.func @batches_of_matrices
// CHECK-NEXT: %0 = sdy.reshard %arg0 <@mesh, [{"x"}, {}, {}]>
// CHECK-NEXT: %1 = stablehlo.custom_call @Cholesky(%0) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}, {}]>]>
// CHECK-NEXT: %2 = sdy.reshard %1 <@mesh, [{"x"}, {"y"}, {}]>
// CHECK-NEXT: return %2
func.func @batches_of_matrices(%a: tensor<4x6x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}, {}]>}) -> (tensor<4x6x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}, {}]>}) {
  %0 = stablehlo.custom_call @Cholesky(%a) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {"y"}, {}]>]>, sdy.sharding_rule = #sdy.op_sharding_rule<([i, j, k])->([i, j, k]) {i=4, j=6, k=6}, custom>} : (tensor<4x6x6xf32>) -> tensor<4x6x6xf32>
  return %0 : tensor<4x6x6xf32>
}
