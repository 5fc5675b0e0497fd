// RUN: sdy-opt %s -sdy-partition-pipeline | filecheck %s

// A convolution with the rule that earlier releases print, in which windows have factors of size 1, is partitioned as
// without a rule: the image gets halos, and is not gathered.
sdy.mesh @mesh = <["x"=2]>

// CHECK-LABEL: func.func @main
// CHECK-NOT:     stablehlo.all_gather
// CHECK-COUNT-2: "stablehlo.collective_permute"
// CHECK-NOT:     stablehlo.all_gather
// CHECK:         stablehlo.convolution{{.*}} -> tensor<1x4x8x2xf32>
func.func @main(%a: tensor<1x8x8x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}, {}, {}]>}, %k: tensor<3x3x2x2xf32>) -> (tensor<1x8x8x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}, {}, {}]>}) {
  %0 = stablehlo.convolution(%a, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, sdy.sharding_rule = #sdy.op_sharding_rule<([i, j, k, l], [n, o, l, m])->([i, j, k, m]) {i=1, j=8, k=8, l=2, m=2, n=1, o=1} reduction={l} permutation={j, k}>} : (tensor<1x8x8x2xf32>, tensor<3x3x2x2xf32>) -> tensor<1x8x8x2xf32>
  return %0 : tensor<1x8x8x2xf32>
}
