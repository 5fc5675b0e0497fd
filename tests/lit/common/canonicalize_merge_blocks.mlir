// Merging of blocks and of their arguments, without simplification of branches.
// RUN: sdy-opt %s -canonicalize='region-simplify=aggressive enable-patterns=none' --allow-unregistered-dialect | filecheck %s

// Merged blocks get arguments for their different operands; equal ones share an argument.
// CHECK-LABEL: func.func @almost_equal_blocks
func.func @almost_equal_blocks(%condition: i1, %x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK:      cf.cond_br %arg0, ^bb1(%arg1 : tensor<4xf32>), ^bb1(%arg2 : tensor<4xf32>)
  // CHECK-NEXT: ^bb1(%[[EITHER:.*]]: tensor<4xf32>):
  // CHECK-NEXT:   %[[SUM:.*]] = stablehlo.add %[[EITHER]], %[[EITHER]]
  // CHECK-NEXT:   return %[[SUM]]
  cf.cond_br %condition, ^this, ^that
^this:
  %0 = stablehlo.add %x, %x : tensor<4xf32>
  return %0 : tensor<4xf32>
^that:
  %1 = stablehlo.add %y, %y : tensor<4xf32>
  return %1 : tensor<4xf32>
}

// An argument that is always the same value is replaced with it.
// CHECK-LABEL: func.func @handed_the_same
func.func @handed_the_same(%condition: i1, %x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK:      cf.cond_br %arg0, ^bb1, ^bb2(%arg1 : tensor<4xf32>)
  // CHECK:      cf.br ^bb2(%arg2 : tensor<4xf32>)
  // CHECK-NEXT: ^bb2(%[[EITHER:.*]]: tensor<4xf32>):
  // CHECK-NEXT:   stablehlo.add %[[EITHER]], %arg1
  cf.cond_br %condition, ^this, ^that(%x, %x : tensor<4xf32>, tensor<4xf32>)
^this:
  "test.effect"() : () -> ()
  cf.br ^that(%y, %x : tensor<4xf32>, tensor<4xf32>)
^that(%either: tensor<4xf32>, %same: tensor<4xf32>):
  %0 = stablehlo.add %either, %same : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// Blocks are not merged if a predecessor's terminator is not a known branch.
// CHECK-LABEL: func.func @unknown_branch
func.func @unknown_branch(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: "test.branch"()[^bb1, ^bb2]
  "test.branch"()[^this, ^that] : () -> ()
^this:
  return %x : tensor<4xf32>
^that:
  return %y : tensor<4xf32>
}

// Merged blocks may make other blocks equal.
// CHECK-LABEL: func.func @in_turn
func.func @in_turn(%condition: i1, %x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT:   cf.cond_br %arg0, ^bb1, ^bb1
  // CHECK-NEXT: ^bb1:
  // CHECK-NEXT:   "test.effect"
  // CHECK-NEXT:   cf.br ^bb2
  // CHECK-NEXT: ^bb2:
  // CHECK-NEXT:   return %arg1
  cf.cond_br %condition, ^this, ^that
^this:
  "test.effect"() : () -> ()
  cf.br ^behind_this
^that:
  "test.effect"() : () -> ()
  cf.br ^behind_that
^behind_this:
  return %x : tensor<4xf32>
^behind_that:
  return %x : tensor<4xf32>
}
