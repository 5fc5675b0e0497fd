// Since jaxlib 0.12.0.1, a function is in the manual computation that calls it.
// RUN: sdy-opt %s -sdy-sharding-group-import -split-input-file -verify-diagnostics
// RUN: sdy-opt %s -sdy-sharding-group-import -split-input-file --sdy-version=jaxlib-0.11.2 | filecheck %s

sdy.mesh @mesh = <["x"=2]>

// CHECK-COUNT-2: sdy.sharding_group %arg0 group_id=0
func.func private @f(%a: tensor<8xf32>) {
  sdy.sharding_group %a group_id=5 : tensor<8xf32>
  return
}
func.func private @indirect(%a: tensor<8xf32>) {
  call @f(%a) : (tensor<8xf32>) -> ()
  return
}
func.func @main(%a: tensor<8xf32>) {
  sdy.manual_computation(%a) in_shardings=[<@mesh, [{}]>] out_shardings=[] manual_axes={"x"} (%b: tensor<8xf32>) {
    func.call @indirect(%b) : (tensor<8xf32>) -> ()
    sdy.return
  } : (tensor<8xf32>) -> ()
  // expected-error @+1 {{ShardingGroupOps values cannot cross ManualComputationOp boundaries for groupId: 5}}
  sdy.sharding_group %a group_id=5 : tensor<8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2]>

// The last of several calls counts, so this is no error.
// CHECK-COUNT-2: sdy.sharding_group %arg0 group_id=0
func.func private @f(%a: tensor<8xf32>) {
  sdy.sharding_group %a group_id=5 : tensor<8xf32>
  return
}
func.func @main(%a: tensor<8xf32>) {
  sdy.manual_computation(%a) in_shardings=[<@mesh, [{}]>] out_shardings=[] manual_axes={"x"} (%b: tensor<8xf32>) {
    func.call @f(%b) : (tensor<8xf32>) -> ()
    sdy.return
  } : (tensor<8xf32>) -> ()
  call @f(%a) : (tensor<8xf32>) -> ()
  sdy.sharding_group %a group_id=5 : tensor<8xf32>
  return
}
