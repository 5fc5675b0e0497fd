// RUN: sdy-opt %s -split-input-file -sdy-sharding-group-import | filecheck %s

// Groups are numbered from 0, in the order in which they appear.
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

// Two groups that share a value are one, which takes the value in once.
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

// The number of a group made of several is that of the one by which the last ones were joined: 3 is
// first here, because the value in both was in 3 before.
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

// Sharing goes on from group to group, and across functions.
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

// All values of a group may stand in one manual computation, and in loops inside it.
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
