// RUN: sdy-opt %s -sdy-add-elementwise-sharding-rules | filecheck %s
// RUN: sdy-opt %s -sdy-partition-pipeline | filecheck %s --check-prefix=LOCAL

// Operations of chlo get the rule of elementwise operations, or of a top-k.

sdy.mesh @mesh = <["x"=2]>

// CHECK-LABEL: func.func @main
// CHECK-NEXT: %0 = chlo.square %arg0 {sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([i, j]) {i=8, j=4}>} : tensor<8x4xf32> -> tensor<8x4xf32>
// CHECK-NEXT: %1 = stablehlo.sine %0 : tensor<8x4xf32>
// CHECK-NEXT: %values, %indices = chlo.top_k(%1, k = 2) {sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([i, j], [i, j]) {i=8, j=4} need_replication={j} blocked_propagation={j}>} : tensor<8x4xf32> -> (tensor<8x2xf32>, tensor<8x2xi32>)
// Shardings propagate along them, so they run on shards. A top-k needs whole rows.
// LOCAL-LABEL: func.func @main
// LOCAL-NEXT: %0 = chlo.square %arg0 : tensor<4x4xf32> -> tensor<4x4xf32>
// LOCAL-NEXT: %1 = stablehlo.sine %0 : tensor<4x4xf32>
// LOCAL-NEXT: %values, %indices = chlo.top_k(%1, k = 2) : tensor<4x4xf32> -> (tensor<4x2xf32>, tensor<4x2xi32>)
func.func @main(%a: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<8x2xf32> {
  %0 = chlo.square %a : tensor<8x4xf32> -> tensor<8x4xf32>
  %1 = stablehlo.sine %0 : tensor<8x4xf32>
  %values, %indices = chlo.top_k(%1, k = 2) : tensor<8x4xf32> -> (tensor<8x2xf32>, tensor<8x2xi32>)
  return %values : tensor<8x2xf32>
}

// Also those that chlo does not declare as elementwise.
// CHECK-LABEL: func.func private @special
// CHECK-NEXT: chlo.next_after {{.*}}sdy.sharding_rule = #sdy.op_sharding_rule<([i, j], [i, j])->([i, j]) {i=8, j=4}>
// CHECK-NEXT: chlo.zeta {{.*}}sdy.sharding_rule
// CHECK-NEXT: chlo.polygamma {{.*}}sdy.sharding_rule
func.func private @special(%a: tensor<8x4xf32>, %b: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %0 = chlo.next_after %a, %b : tensor<8x4xf32>, tensor<8x4xf32> -> tensor<8x4xf32>
  %1 = chlo.zeta %0, %b : tensor<8x4xf32>, tensor<8x4xf32> -> tensor<8x4xf32>
  %2 = chlo.polygamma %1, %b : tensor<8x4xf32>, tensor<8x4xf32> -> tensor<8x4xf32>
  return %2 : tensor<8x4xf32>
}
