// RUN: sdy-opt %s -sdy-insert-explicit-reshards=enable-full-version=true | filecheck %s
// RUN: sdy-opt %s -sdy-insert-explicit-reshards | filecheck %s --check-prefix=DEFAULT

sdy.mesh @mesh = <["x"=4, "y"=2]>

// The example of the manual: both operands are sharded along "x". The larger one keeps it.
// CHECK-LABEL: func.func @dot
// CHECK-NEXT:    %[[LHS:.*]] = sdy.reshard %arg0 <@mesh, [{}, {"y"}]>
// CHECK-NEXT:    %[[DOT:.*]] = stablehlo.dot %[[LHS]], %arg1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"x"}]>]>}
// CHECK-NEXT:    %[[SUM:.*]] = sdy.all_reduce {"y"} %[[DOT]] out_sharding=<@mesh, [{}, {"x"}]>
// CHECK-NEXT:    %[[OUT:.*]] = sdy.reshard %[[SUM]] <@mesh, [{"x"}, {}]>
// CHECK-NEXT:    return %[[OUT]]
// The default version leaves the conflict.
// DEFAULT-LABEL: func.func @dot
// DEFAULT-NEXT:    %0 = stablehlo.dot %arg0, %arg1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>}
// DEFAULT-NEXT:    return %0
func.func @dot(%lhs: tensor<8x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}, %rhs: tensor<32x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {"x"}]>}) -> (tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  %0 = stablehlo.dot %lhs, %rhs {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : (tensor<8x32xf32>, tensor<32x16xf32>) -> tensor<8x16xf32>
  return %0 : tensor<8x16xf32>
}
