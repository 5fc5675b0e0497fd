// RUN: sdy-opt %s -sdy-finish-partitioning | filecheck %s
// RUN: sdy-opt %s -sdy-finish-partitioning=replica-count=2 | filecheck %s --check-prefix=REPLICAS

// Reports need to know that types are local. A runtime needs the number of devices, which is that of the largest mesh, and the shardings of inputs and outputs.
// CHECK: module attributes {mhlo.frontend_attributes = {sdyopt.partitioned = "true"}, mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32}
// REPLICAS: module attributes {mhlo.frontend_attributes = {sdyopt.partitioned = "true"}, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 4 : i32}

sdy.mesh @mesh = <["x"=2, "y"=2]>
sdy.mesh @device = <[], device_ids=[0]>

// CHECK-LABEL: func.func @main(%arg0: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> (tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>})
// CHECK-NEXT: %0 = stablehlo.sine %arg0 : tensor<4xf32>
// CHECK-NEXT: return %0
func.func @main(%a: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> (tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  %0 = stablehlo.sine %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>, sdy.sharding_rule = #sdy.op_sharding_rule<([i])->([i]) {i=8}, custom>} : tensor<4xf32>
  return %0 : tensor<4xf32>
}
