// RUN: sdy-opt %s -split-input-file -sdy-sharding-group-import | filecheck %s

// Groups are numbered from 0, in order of appearance.
// CHECK-LABEL: func.func @numbered
func.func @numbered(%a: tensor<8xf32>, %b: tensor<8xf32>, %c: tensor<4xf32>) {
  // CHECK-NEXT: sdy.sharding_group %arg0 group_id=0
  // CHECK-NEXT: sdy.sharding_group %arg2 group_id=1
  // CHECK-NEXT: sdy.sharding_group %arg1 group_id=0
  sdy.sharding_group %a group_id=1234 : tensor<8xf32>
  sdy.sharding_group %c group_id=-5 : tensor<4xf32>
  sdy.sharding_group %b group_id=1234 : tensor<8xf32>
  return
}

// -----

// Two groups that share a value are merged, and duplicate memberships are removed.
// CHECK-LABEL: func.func @shared_value
func.func @shared_value(%a: tensor<8xf32>, %b: tensor<8xf32>, %c: tensor<8xf32>) {
  // CHECK-NEXT: sdy.sharding_group %arg0 group_id=0
  // CHECK-NEXT: sdy.sharding_group %arg1 group_id=0
  // CHECK-NEXT: sdy.sharding_group %arg2 group_id=0
  // CHECK-NEXT: return
  sdy.sharding_group %a group_id=7 : tensor<8xf32>
  sdy.sharding_group %b group_id=3 : tensor<8xf32>
  sdy.sharding_group %c group_id=7 : tensor<8xf32>
  sdy.sharding_group %c group_id=3 : tensor<8xf32>
  return
}

// -----

// The number of a merged group is that of the leader of the union: 3 appears first, because the shared value was
// in group 3 first.
// CHECK-LABEL: func.func @first_leads
func.func @first_leads(%a: tensor<8xf32>, %b: tensor<8xf32>, %c: tensor<8xf32>) {
  // CHECK-NEXT: sdy.sharding_group %arg0 group_id=1
  // CHECK-NEXT: sdy.sharding_group %arg1 group_id=0
  // CHECK-NEXT: sdy.sharding_group %arg2 group_id=1
  // CHECK-NEXT: return
  sdy.sharding_group %a group_id=9 : tensor<8xf32>
  sdy.sharding_group %b group_id=5 : tensor<8xf32>
  sdy.sharding_group %c group_id=3 : tensor<8xf32>
  sdy.sharding_group %c group_id=9 : tensor<8xf32>
  return
}

// -----

// Merging is transitive, also across functions.
// CHECK-LABEL: func.func @chain_in_f
func.func @chain_in_f(%a: tensor<8xf32>, %b: tensor<8xf32>) {
  // CHECK-NEXT: sdy.sharding_group %arg0 group_id=0
  // CHECK-NEXT: sdy.sharding_group %arg1 group_id=0
  sdy.sharding_group %a group_id=1 : tensor<8xf32>
  sdy.sharding_group %b group_id=3 : tensor<8xf32>
  return
}

// CHECK-LABEL: func.func @chain_in_g
func.func @chain_in_g(%a: tensor<8xf32>, %b: tensor<8xf32>) {
  // CHECK-NEXT: sdy.sharding_group %arg0 group_id=0
  // CHECK-NEXT: sdy.sharding_group %arg1 group_id=0
  // CHECK-NEXT: return
  sdy.sharding_group %a group_id=1 : tensor<8xf32>
  sdy.sharding_group %a group_id=2 : tensor<8xf32>
  sdy.sharding_group %b group_id=2 : tensor<8xf32>
  sdy.sharding_group %b group_id=3 : tensor<8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2]>

// All values of a group may be in one manual computation, nested loops included.
// CHECK-LABEL: func.func @inside_one
func.func @inside_one(%a: tensor<8xf32>) {
  sdy.manual_computation(%a) in_shardings=[<@mesh, [{}]>] out_shardings=[] manual_axes={"x"} (%b: tensor<8xf32>) {
    // CHECK: sdy.sharding_group %{{.*}} group_id=0
    // CHECK-NEXT: sdy.sharding_group %{{.*}} group_id=0
    %0 = stablehlo.negate %b : tensor<8xf32>
    sdy.sharding_group %b group_id=8 : tensor<8xf32>
    sdy.sharding_group %0 group_id=8 : tensor<8xf32>
    sdy.return
  } : (tensor<8xf32>) -> ()
  return
}
