// RUN: sdy-opt %s -split-input-file -sdy-basic-propagate | filecheck %s
// RUN: sdy-opt %s -split-input-file -sdy-basic-propagate --sdy-version=jaxlib-0.11.2 | filecheck %s --check-prefix=BEFORE

sdy.mesh @mesh = <["x"=2, "y"=2]>

// If the values of a group have different shardings, a constraint after each becomes the member instead.
// CHECK-LABEL: func.func @conflict
// CHECK-NEXT: %[[FIRST:.*]] = sdy.sharding_constraint %arg0 <@mesh, [{"x", ?}]>
// CHECK-NEXT: %[[SUM:.*]] = stablehlo.add %arg1, %arg1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}]>]>}
// CHECK-NEXT: %[[SECOND:.*]] = sdy.sharding_constraint %[[SUM]] <@mesh, [{"x", ?}]>
// CHECK-NEXT: sdy.sharding_group %[[FIRST]] group_id=0
// CHECK-NEXT: sdy.sharding_group %[[SECOND]] group_id=0
// CHECK-NEXT: return %[[SECOND]]
func.func @conflict(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %b: tensor<8xf32>) -> tensor<8xf32> {
  %0 = stablehlo.add %b, %b {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}]>]>} : tensor<8xf32>
  sdy.sharding_group %a group_id = 0 : tensor<8xf32>
  sdy.sharding_group %0 group_id = 0 : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=2]>

// A value that is in its group twice gets one constraint. Until jaxlib 0.11.2, it got two.
// CHECK-LABEL: func.func @twice
// CHECK: %[[SUM:.*]] = stablehlo.add
// CHECK-NEXT: %[[OUTER:.*]] = sdy.sharding_constraint %[[SUM]] <@mesh, [{"x", ?}]>
// CHECK-NEXT: sdy.sharding_group
// CHECK-NEXT: sdy.sharding_group %[[OUTER]] group_id=0
// CHECK-NEXT: sdy.sharding_group %[[OUTER]] group_id=0
// CHECK-NEXT: return %[[OUTER]]
// BEFORE-LABEL: func.func @twice
// BEFORE: %[[SUM:.*]] = stablehlo.add
// BEFORE-NEXT: %[[INNER:.*]] = sdy.sharding_constraint %[[SUM]] <@mesh, [{"x", ?}]>
// BEFORE-NEXT: %[[OUTER:.*]] = sdy.sharding_constraint %[[INNER]] <@mesh, [{"x", ?}]>
// BEFORE: sdy.sharding_group %[[OUTER]] group_id=0
// BEFORE-NEXT: sdy.sharding_group %[[OUTER]] group_id=0
// BEFORE-NEXT: return %[[OUTER]]
func.func @twice(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %b: tensor<8xf32>) -> tensor<8xf32> {
  %0 = stablehlo.add %b, %b {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}]>]>} : tensor<8xf32>
  sdy.sharding_group %a group_id = 0 : tensor<8xf32>
  sdy.sharding_group %0 group_id = 0 : tensor<8xf32>
  sdy.sharding_group %0 group_id = 0 : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=2]>

// A group with values of several ranks is rejected on import. Without import, an argument of a manual computation gets
// the dimension shardings that it has dimensions for, as in C++.
// CHECK-LABEL: func.func @several_ranks
// CHECK: sdy.manual_computation(%arg1) in_shardings=[<@mesh, [{"x", ?}]>]
func.func @several_ranks(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}, %b: tensor<8xf32>) -> tensor<8xf32> {
  %0 = stablehlo.negate %a : tensor<8x8xf32>
  sdy.sharding_group %0 group_id=1 : tensor<8x8xf32>
  %1 = sdy.manual_computation(%b) in_shardings=[<@mesh, [{?}]>] out_shardings=[<@mesh, [{?}]>] manual_axes={} (%c: tensor<8xf32>) {
    sdy.sharding_group %c group_id=1 : tensor<8xf32>
    sdy.return %c : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %1 : tensor<8xf32>
}
