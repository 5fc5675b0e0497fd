// RUN: sdy-opt %s -sdy-sharding-group-import -split-input-file -verify-diagnostics

// The values of a group must have the same shape.
func.func @shapes(%a: tensor<8x8xf32>, %b: tensor<8xf32>) {
  sdy.sharding_group %a group_id=4 : tensor<8x8xf32>
  // expected-error @+1 {{ShardingGroupOps values must have the same shape for groupId: 4}}
  sdy.sharding_group %b group_id=4 : tensor<8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2]>

// Values inside and outside a manual computation have local and global shardings.
func.func @into(%a: tensor<8xf32>) {
  sdy.sharding_group %a group_id=0 : tensor<8xf32>
  sdy.manual_computation(%a) in_shardings=[<@mesh, [{}]>] out_shardings=[] manual_axes={"x"} (%b: tensor<8xf32>) {
    // expected-error @+1 {{ShardingGroupOps values cannot cross ManualComputationOp boundaries for groupId: 0}}
    sdy.sharding_group %b group_id=0 : tensor<8xf32>
    sdy.return
  } : (tensor<8xf32>) -> ()
  return
}

// -----

sdy.mesh @mesh = <["x"=2]>

// Two manual computations are distinct, even with the same manual axes.
func.func @between(%a: tensor<8xf32>) {
  sdy.manual_computation(%a) in_shardings=[<@mesh, [{}]>] out_shardings=[] manual_axes={"x"} (%b: tensor<8xf32>) {
    sdy.sharding_group %b group_id=0 : tensor<8xf32>
    sdy.return
  } : (tensor<8xf32>) -> ()
  sdy.manual_computation(%a) in_shardings=[<@mesh, [{}]>] out_shardings=[] manual_axes={"x"} (%b: tensor<8xf32>) {
    // expected-error @+1 {{ShardingGroupOps values cannot cross ManualComputationOp boundaries for groupId: 0}}
    sdy.sharding_group %b group_id=0 : tensor<8xf32>
    sdy.return
  } : (tensor<8xf32>) -> ()
  return
}
