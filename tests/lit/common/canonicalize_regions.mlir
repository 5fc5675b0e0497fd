// RUN: sdy-opt %s -canonicalize --allow-unregistered-dialect | filecheck %s --check-prefixes=CHECK,NORMAL
// RUN: sdy-opt %s -canonicalize=region-simplify=aggressive --allow-unregistered-dialect \
// RUN:   | filecheck %s --check-prefixes=CHECK,AGGRESSIVE
// RUN: sdy-opt %s -canonicalize=region-simplify=disabled --allow-unregistered-dialect \
// RUN:   | filecheck %s --check-prefixes=CHECK,DISABLED

// Unreachable blocks are erased.
// CHECK-LABEL: func.func @unreachable_blocks
func.func @unreachable_blocks(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: return
  // CHECK-NEXT: }
  return %x : tensor<4xf32>
^loop:
  "test.branch"()[^back] : () -> ()
^back:
  "test.branch"()[^loop] : () -> ()
}

// Dead block arguments are erased if all predecessors are known branches.
// CHECK-LABEL: func.func @unused_arguments
func.func @unused_arguments(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK:           test.branch
  // NORMAL-NEXT:     ^bb1(%[[USED:.*]]: tensor<4xf32>):
  // AGGRESSIVE-NEXT: ^bb1(%[[USED:.*]]: tensor<4xf32>):
  // DISABLED-NEXT:   ^bb1(%{{.*}}: i32, %[[USED:.*]]: tensor<4xf32>):
  // CHECK-NEXT:      return %[[USED]]
  "test.branch"(%x)[^next] : (tensor<4xf32>) -> ()
^next(%unused: i32, %used: tensor<4xf32>):
  return %used : tensor<4xf32>
}

// Values that are passed to dead arguments only are erased with them.
// CHECK-LABEL: func.func @handed_over_for_nothing
func.func @handed_over_for_nothing(%x: i32, %y: i32, %condition: i1) -> i32 {
  // NORMAL:     cf.cond_br %arg2, ^bb1, ^bb2(%arg1 : i32)
  // AGGRESSIVE: cf.cond_br %arg2, ^bb1, ^bb2(%arg1 : i32)
  // DISABLED:   cf.cond_br %arg2, ^bb1(%arg0 : i32), ^bb2(%arg1 : i32)
  cf.cond_br %condition, ^this(%x : i32), ^that(%y : i32)
^this(%unused: i32):
  "test.effect"() : () -> ()
  cf.br ^that(%x : i32)
^that(%used: i32):
  return %used : i32
}

// Equal blocks are merged.
// CHECK-LABEL: func.func @equal_blocks
func.func @equal_blocks(%x: tensor<4xf32>) -> tensor<4xf32> {
  // NORMAL:          "test.branch"()[^bb1, ^bb2]
  // DISABLED:        "test.branch"()[^bb1, ^bb2]
  // AGGRESSIVE:      "test.branch"()[^bb1, ^bb1]
  // AGGRESSIVE-NEXT: ^bb1:
  // AGGRESSIVE-NEXT:   %[[SUM:.*]] = stablehlo.add %arg0, %arg0
  // AGGRESSIVE-NEXT:   "test.branch"(%[[SUM]])[^bb2]
  // AGGRESSIVE-NEXT: ^bb2:
  "test.branch"()[^this, ^that] : () -> ()
^this:
  %0 = stablehlo.add %x, %x : tensor<4xf32>
  "test.branch"(%0)[^end] : (tensor<4xf32>) -> ()
^that:
  %1 = stablehlo.add %x, %x : tensor<4xf32>
  "test.branch"(%1)[^end] : (tensor<4xf32>) -> ()
^end:
  return %x : tensor<4xf32>
}

// Values that only use each other are dead. This requires a graph region.
// CHECK-LABEL: module @needed_by_each_other
module @needed_by_each_other {
  // NORMAL-NEXT:     }
  // AGGRESSIVE-NEXT: }
  // DISABLED-NEXT:   stablehlo.negate
  // DISABLED-NEXT:   stablehlo.negate
  %0 = stablehlo.negate %1 : tensor<4xf32>
  %1 = stablehlo.negate %0 : tensor<4xf32>
}
