// RUN: sdy-opt %s -sdy-sharding-group-import -split-input-file -verify-diagnostics

// What is sharded alike has the same dimensions.
func.func @shapes(%a: tensor<8x8xf32>, %b: tensor<8xf32>) {
  sdy.sharding_group %a group_id=4 : tensor<8x8xf32>
  // expected-error @+1 {{ShardingGroupOps values must have the same shape for groupId: 4}}
  sdy.sharding_group %b group_id=4 : tensor<8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2]>

// Inside a manual computation an axis may be gone that is there outside.
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

// Two manual computations are different places, even if they are manual on the same axes.
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
