// RUN: sdy-opt %s -cse --allow-unregistered-dialect | filecheck %s

// Operations in dominating blocks are available, operations in other blocks are not.
// CHECK-LABEL: func.func @dominance
func.func @dominance(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[SUM:.*]] = stablehlo.add
  // CHECK:      ^bb1:
  // CHECK-NEXT:   %[[HERE:.*]] = stablehlo.negate %[[SUM]]
  // CHECK-NEXT:   "test.branch"(%[[HERE]])[^bb2]
  // CHECK-NEXT: ^bb2:
  // CHECK-NEXT:   %[[THERE:.*]] = stablehlo.negate %[[SUM]]
  // CHECK-NEXT:   return %[[THERE]]
  %0 = stablehlo.add %x, %x : tensor<4xf32>
  "test.branch"(%0)[^maybe, ^end] : (tensor<4xf32>) -> ()
^maybe:
  %1 = stablehlo.add %x, %x : tensor<4xf32>
  %2 = stablehlo.negate %1 : tensor<4xf32>
  "test.branch"(%2)[^end] : (tensor<4xf32>) -> ()
^end:
  %3 = stablehlo.add %x, %x : tensor<4xf32>
  %4 = stablehlo.negate %3 : tensor<4xf32>
  return %4 : tensor<4xf32>
}

// In a graph region a use may precede both operations; then both are kept.
// CHECK-LABEL: module @graph
module @graph {
  // CHECK-NEXT: %[[USE:.*]] = stablehlo.negate %[[SECOND:.*]] :
  // CHECK-NEXT: %[[FIRST:.*]] = stablehlo.add
  // CHECK-NEXT: %[[SECOND]] = stablehlo.add
  // CHECK-NEXT: "test.use"(%[[USE]], %[[FIRST]], %[[FIRST]])
  %0 = stablehlo.negate %2 : tensor<4xf32>
  %1 = stablehlo.add %3, %3 : tensor<4xf32>
  %2 = stablehlo.add %3, %3 : tensor<4xf32>
  "test.use"(%0, %1, %2) : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> ()
  %3 = stablehlo.constant dense<1.0> : tensor<4xf32>
}

// An unregistered operation may be isolated and may have effects.
// CHECK-LABEL: func.func @unregistered
func.func @unregistered(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  // CHECK-NEXT: stablehlo.negate %arg0
  // CHECK-NEXT: "test.region"
  // CHECK-NEXT:   stablehlo.negate %arg0
  // CHECK:      "test.compute"
  // CHECK-NEXT: "test.compute"
  %0 = stablehlo.negate %x : tensor<4xf32>
  "test.region"() ({
    %3 = stablehlo.negate %x : tensor<4xf32>
    "test.use"(%3) : (tensor<4xf32>) -> ()
  }) : () -> ()
  %1 = "test.compute"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %2 = "test.compute"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0, %1, %2 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
