// RUN: sdy-opt %s -sdy-apply-sharding-constraints | filecheck %s

sdy.mesh @mesh = <["x"=2, "y"=2]>

// The last constraint of a chain replaces its input in users after the chain, except returns. Only the first
// one is applied to the input.
// CHECK-LABEL: func.func @chain
func.func @chain(%a: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  // CHECK-NEXT: %[[VALUE:.*]] = stablehlo.negate %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>}
  // CHECK-NEXT: %[[BEFORE:.*]] = stablehlo.abs %[[VALUE]]
  // CHECK-NEXT: %[[HEAD:.*]] = sdy.sharding_constraint %[[VALUE]] <@mesh, [{"x"}]>
  // CHECK-NEXT: %[[TAIL:.*]] = sdy.sharding_constraint %[[HEAD]] <@mesh, [{"y"}]>
  // CHECK-NEXT: %[[BEHIND:.*]] = stablehlo.add %[[TAIL]], %[[TAIL]]
  // CHECK-NEXT: return %[[VALUE]], %[[BEFORE]], %[[BEHIND]]
  %0 = stablehlo.negate %a : tensor<8xf32>
  %1 = stablehlo.abs %0 : tensor<8xf32>
  %2 = sdy.sharding_constraint %0 <@mesh, [{"x"}]> : tensor<8xf32>
  %3 = sdy.sharding_constraint %2 <@mesh, [{"y"}]> : tensor<8xf32>
  %4 = stablehlo.add %0, %3 : tensor<8xf32>
  return %0, %1, %4 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}

// Constraints of a chain may be open.
// CHECK-LABEL: func.func @open_chain
func.func @open_chain(%a: tensor<8xf32>) -> tensor<8xf32> {
  // CHECK-NEXT: sdy.sharding_constraint %arg0 <@mesh, [{"x", ?}]>
  // CHECK-NEXT: %[[TAIL:.*]] = sdy.sharding_constraint %0 <@mesh, [{?}]>
  // CHECK-NEXT: stablehlo.negate %[[TAIL]]
  %0 = sdy.sharding_constraint %a <@mesh, [{"x", ?}]> : tensor<8xf32>
  %1 = sdy.sharding_constraint %0 <@mesh, [{?}]> : tensor<8xf32>
  %2 = stablehlo.negate %a : tensor<8xf32>
  return %2 : tensor<8xf32>
}

// A use in a loop is in another block.
// CHECK-LABEL: func.func @other_block
func.func @other_block(%a: tensor<8xf32>, %which: tensor<i32>) -> tensor<8xf32> {
  // CHECK: "stablehlo.case"
  // CHECK-NEXT: stablehlo.return %arg0
  %0 = sdy.sharding_constraint %a <@mesh, [{"x"}]> : tensor<8xf32>
  %1 = sdy.sharding_constraint %0 <@mesh, [{"y"}]> : tensor<8xf32>
  %2 = "stablehlo.case"(%which) ({
    stablehlo.return %a : tensor<8xf32>
  }) : (tensor<i32>) -> tensor<8xf32>
  return %2 : tensor<8xf32>
}

// One constraint is not a chain.
// CHECK-LABEL: func.func @single
func.func @single(%a: tensor<8xf32>) -> tensor<8xf32> {
  // CHECK: stablehlo.negate %arg0
  %0 = sdy.sharding_constraint %a <@mesh, [{"x"}]> : tensor<8xf32>
  %1 = stablehlo.negate %a : tensor<8xf32>
  return %1 : tensor<8xf32>
}

// A chain on a value with a sharding, or with another constraint, has no effect.
// CHECK-LABEL: func.func @decided_elsewhere
func.func @decided_elsewhere(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}, %b: tensor<8xf32>)
    -> (tensor<8xf32>, tensor<8xf32>) {
  // CHECK: stablehlo.negate %arg0
  // CHECK: stablehlo.negate %arg1
  %0 = sdy.sharding_constraint %a <@mesh, [{"x"}]> : tensor<8xf32>
  %1 = sdy.sharding_constraint %0 <@mesh, [{"y"}]> : tensor<8xf32>
  %2 = stablehlo.negate %a : tensor<8xf32>
  %3 = sdy.sharding_constraint %b <@mesh, [{"x"}]> : tensor<8xf32>
  %4 = sdy.sharding_constraint %3 <@mesh, [{"y"}]> : tensor<8xf32>
  %5 = stablehlo.negate %b : tensor<8xf32>
  %6 = sdy.sharding_constraint %b <@mesh, [{"y"}]> : tensor<8xf32>
  return %2, %5 : tensor<8xf32>, tensor<8xf32>
}

// A chain ends at a constraint with several uses; if one of those is a constraint, there is no chain.
// CHECK-LABEL: func.func @several_uses
func.func @several_uses(%a: tensor<8xf32>, %b: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  // CHECK: %[[END:.*]] = sdy.sharding_constraint %0 <@mesh, [{"y"}]>
  // CHECK-NEXT: stablehlo.abs %[[END]]
  // CHECK-NEXT: stablehlo.negate %[[END]]
  %0 = sdy.sharding_constraint %a <@mesh, [{"x"}]> : tensor<8xf32>
  %1 = sdy.sharding_constraint %0 <@mesh, [{"y"}]> : tensor<8xf32>
  %2 = stablehlo.abs %1 : tensor<8xf32>
  %3 = stablehlo.negate %a : tensor<8xf32>
  // CHECK: stablehlo.negate %arg1
  %4 = sdy.sharding_constraint %b <@mesh, [{"x"}]> : tensor<8xf32>
  %5 = sdy.sharding_constraint %4 <@mesh, [{"y"}]> : tensor<8xf32>
  %6 = sdy.sharding_constraint %5 <@mesh, [{"x"}]> : tensor<8xf32>
  %7 = sdy.sharding_constraint %5 <@mesh, [{}]> : tensor<8xf32>
  %8 = stablehlo.negate %b : tensor<8xf32>
  return %1, %3, %8 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}
