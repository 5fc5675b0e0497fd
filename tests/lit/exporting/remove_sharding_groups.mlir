// RUN: sdy-opt %s -sdy-remove-sharding-groups | filecheck %s

// Groups are removed, nested ones included.
// CHECK-NOT: sdy.sharding_group
// CHECK-LABEL: func.func @groups
func.func @groups(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: stablehlo.negate
  // CHECK-NEXT: sdy.named_computation
  // CHECK-NEXT:   sdy.return
  // CHECK-NEXT: }
  // CHECK-NEXT: return
  sdy.sharding_group %x group_id = 0 : tensor<4xf32>
  %0 = stablehlo.negate %x : tensor<4xf32>
  sdy.sharding_group %0 group_id = 0 : tensor<4xf32>
  %1 = sdy.named_computation<"name">(%0) (%inner: tensor<4xf32>) {
    sdy.sharding_group %inner group_id = 1 : tensor<4xf32>
    sdy.return %inner : tensor<4xf32>
  } : (tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}
