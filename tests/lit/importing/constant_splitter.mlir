// RUN: sdy-opt %s -sdy-constant-splitter | filecheck %s

// Every use of a constant computation gets a copy of it.
// CHECK-LABEL: func.func @computation
func.func @computation(%a: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  // CHECK-NEXT: %[[FIRST:.*]] = sdy.constant dense<1.0
  // CHECK-NEXT: %[[SECOND:.*]] = sdy.constant dense<1.0
  // CHECK-NEXT: %[[SUM:.*]] = stablehlo.add %[[FIRST]], %[[FIRST]]
  // CHECK-NEXT: %[[OTHER_SUM:.*]] = stablehlo.add %[[SECOND]], %[[SECOND]]
  // CHECK-NEXT: stablehlo.multiply %[[SUM]], %arg0
  // CHECK-NEXT: stablehlo.multiply %[[OTHER_SUM]], %arg0
  %0 = stablehlo.constant dense<1.0> : tensor<8xf32>
  %1 = stablehlo.add %0, %0 : tensor<8xf32>
  %2 = stablehlo.multiply %1, %a : tensor<8xf32>
  %3 = stablehlo.multiply %1, %a : tensor<8xf32>
  return %2, %3 : tensor<8xf32>, tensor<8xf32>
}

// Scalars are copied too.
// CHECK-LABEL: func.func @scalars
func.func @scalars(%a: tensor<f32>) -> tensor<f32> {
  // CHECK-NEXT: %[[FIRST:.*]] = sdy.constant
  // CHECK-NEXT: %[[SECOND:.*]] = sdy.constant
  // CHECK-NEXT: %[[SUM:.*]] = stablehlo.add %[[FIRST]], %arg0
  // CHECK-NEXT: stablehlo.add %[[SECOND]], %[[SUM]]
  %0 = stablehlo.constant dense<1.0> : tensor<f32>
  %1 = stablehlo.add %0, %a : tensor<f32>
  %2 = stablehlo.add %0, %1 : tensor<f32>
  return %2 : tensor<f32>
}

// A reshape of a constant is not constant here and not copied; a broadcast of a constant is.
// CHECK-LABEL: func.func @shapes
func.func @shapes(%s: tensor<f32>) -> (tensor<2x4xf32>, tensor<4xf32>, tensor<4xf32>) {
  // CHECK-NEXT: %[[IOTA:.*]] = stablehlo.iota
  // CHECK-NEXT: %[[RESHAPED:.*]] = stablehlo.reshape %[[IOTA]]
  // CHECK-NEXT: %[[SUM:.*]] = stablehlo.add %[[RESHAPED]], %[[RESHAPED]]
  // CHECK-NEXT: %[[BROADCAST:.*]] = stablehlo.broadcast_in_dim %arg0
  // CHECK-NEXT: %[[PRODUCT:.*]] = stablehlo.multiply %[[BROADCAST]], %[[BROADCAST]]
  // CHECK-NEXT: return %[[SUM]], %[[PRODUCT]], %[[BROADCAST]]
  %0 = stablehlo.iota dim = 0 : tensor<8xf32>
  %1 = stablehlo.reshape %0 : (tensor<8xf32>) -> tensor<2x4xf32>
  %2 = stablehlo.add %1, %1 : tensor<2x4xf32>
  %3 = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> tensor<4xf32>
  %4 = stablehlo.multiply %3, %3 : tensor<4xf32>
  return %2, %4, %3 : tensor<2x4xf32>, tensor<4xf32>, tensor<4xf32>
}

// Copies join the sharding groups of their originals.
// CHECK-LABEL: func.func @groups
func.func @groups(%a: tensor<8xf32>) -> tensor<8xf32> {
  // CHECK-NEXT: %[[FIRST:.*]] = sdy.constant
  // CHECK-NEXT: sdy.sharding_group %[[FIRST]] group_id=3
  // CHECK-NEXT: %[[SECOND:.*]] = sdy.constant
  // CHECK-NEXT: sdy.sharding_group %[[SECOND]] group_id=3
  // CHECK-NEXT: stablehlo.subtract %arg0, %[[FIRST]]
  // CHECK-NEXT: stablehlo.subtract %{{.*}}, %[[SECOND]]
  %0 = stablehlo.constant dense<1.0> : tensor<8xf32>
  sdy.sharding_group %0 group_id=3 : tensor<8xf32>
  %1 = stablehlo.subtract %a, %0 : tensor<8xf32>
  %2 = stablehlo.subtract %1, %0 : tensor<8xf32>
  return %2 : tensor<8xf32>
}

// A block may precede the block that dominates it; its use of a constant gets a copy too.
// CHECK-LABEL: func.func @block_before_its_dominator
func.func @block_before_its_dominator(%a: tensor<8xf32>) -> tensor<8xf32> {
  cf.br ^bb2
  // CHECK:       ^bb1:
  // CHECK-NEXT:    stablehlo.add %arg0, %[[C:.*]] : tensor<8xf32>
^bb1:
  %0 = stablehlo.add %a, %c : tensor<8xf32>
  return %0 : tensor<8xf32>
  // CHECK:       ^bb2:
  // CHECK-NEXT:    %[[C]] = sdy.constant
  // CHECK-NEXT:    cf.br ^bb1
^bb2:
  %c = stablehlo.constant dense<1.0> : tensor<8xf32>
  cf.br ^bb1
}
