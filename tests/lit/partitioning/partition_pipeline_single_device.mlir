// RUN: sdy-opt %s -sdy-partition-pipeline | filecheck %s

// A call with effects runs on one device only, which has the whole operand, and every device gets its shard of
// the result.

sdy.mesh @device_1 = <[], device_ids=[1]>
sdy.mesh @mesh = <["x"=2]>

// CHECK-LABEL: func.func public @main(%arg0: tensor<4xf32>
// CHECK: "stablehlo.all_gather"(%arg0)
// CHECK: stablehlo.compare EQ, %{{.*}}, %{{.*}} :
// CHECK: "stablehlo.if"
// CHECK-NEXT: stablehlo.custom_call @f({{.*}}) {has_side_effect = true} : (tensor<8xf32>) -> tensor<8xf32>
// CHECK: "stablehlo.reduce_scatter"({{.*}}) <{{.*}}scatter_dimension = 0
// CHECK: (tensor<8xf32>) -> tensor<4xf32>
// CHECK-NEXT: stablehlo.negate %{{.*}} : tensor<4xf32>
func.func public @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  %0 = stablehlo.custom_call @f(%a) {has_side_effect = true, sdy.sharding = #sdy.sharding_per_value<[<@device_1, []>]>} : (tensor<8xf32>) -> tensor<8xf32>
  %1 = stablehlo.negate %0 : tensor<8xf32>
  return %1 : tensor<8xf32>
}
