// RUN: sdy-opt %s -sdy-resolve-single-device-sharding | filecheck %s
// RUN: sdy-opt %s -sdy-resolve-single-device-sharding=replica-count=2 | filecheck %s --check-prefix=REPLICAS

sdy.mesh @empty = <[]>
sdy.mesh @device_1 = <[], device_ids=[1]>
sdy.mesh @mesh = <["x"=2]>

// The device computes the result, the others have zeros, and the sum of all is the result.
// CHECK-LABEL: func.func @one_device
// CHECK-NEXT: %0 = stablehlo.partition_id : tensor<ui32>
// CHECK-NEXT: %c = stablehlo.constant dense<1> : tensor<ui32>
// CHECK-NEXT: %1 = stablehlo.compare EQ, %0, %c : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
// CHECK-NEXT: %2 = "stablehlo.if"(%1) ({
// CHECK-NEXT: %4 = stablehlo.add %arg0, %arg0 : tensor<8xf32>
// CHECK-NEXT: stablehlo.return %4 : tensor<8xf32>
// CHECK-NEXT: }, {
// CHECK-NEXT: %cst = stablehlo.constant dense<0.000000e+00> : tensor<8xf32>
// CHECK-NEXT: stablehlo.return %cst : tensor<8xf32>
// CHECK-NEXT: }) : (tensor<i1>) -> tensor<8xf32>
// CHECK-NEXT: %3 = sdy.all_reduce {"x"} %2 out_sharding=<@mesh, [{}]> : tensor<8xf32>
// CHECK-NEXT: return %3 : tensor<8xf32>
// REPLICAS-LABEL: func.func @one_device
// REPLICAS-NEXT: %0 = stablehlo.replica_id : tensor<ui32>
func.func @one_device(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}) -> tensor<8xf32> {
  %0 = sdy.reshard %a <@device_1, []> : tensor<8xf32>
  %1 = stablehlo.add %0, %0 {sdy.sharding = #sdy.sharding_per_value<[<@device_1, []>]>} : tensor<8xf32>
  %2 = sdy.reshard %1 <@mesh, [{}]> : tensor<8xf32>
  return %2 : tensor<8xf32>
}

// The other devices make a token of their own. Results of a complex type are zero in both parts.
// CHECK-LABEL: func.func @token
// CHECK: "stablehlo.if"
// CHECK-NEXT: %[[CALL:.*]]:2 = stablehlo.custom_call @f(%arg0) {has_side_effect = true} :
// CHECK-NEXT: stablehlo.return %[[CALL]]#0, %[[CALL]]#1
// CHECK: stablehlo.constant dense<(0.000000e+00,0.000000e+00)> : tensor<complex<f32>>
// CHECK-NEXT: stablehlo.create_token : !stablehlo.token
// CHECK: sdy.all_reduce {"x"} %{{.*}}#0
// CHECK: return %{{.*}}, %{{.*}}#1
func.func @token(%a: tensor<8xf32>) -> (tensor<complex<f32>>, !stablehlo.token) {
  %0:2 = stablehlo.custom_call @f(%a) {has_side_effect = true, sdy.sharding = #sdy.sharding_per_value<[<@device_1, []>, <@mesh, []>]>} : (tensor<8xf32>) -> (tensor<complex<f32>>, !stablehlo.token)
  return %0#0, %0#1 : tensor<complex<f32>>, !stablehlo.token
}

// A region runs with its operation; nothing in it is resolved by itself.
// CHECK-LABEL: func.func @region
// CHECK-COUNT-1: "stablehlo.if"
// CHECK: stablehlo.reduce(%arg0 init: %arg1) across
// CHECK: stablehlo.add %{{.*}}, %{{.*}} : tensor<f32>
// CHECK-NOT: stablehlo.if
// CHECK: return
func.func @region(%a: tensor<8xf32>, %b: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.reduce(%a init: %b) across dimensions = [0] {sdy.sharding = #sdy.sharding_per_value<[<@device_1, []>]>} : (tensor<8xf32>, tensor<f32>) -> tensor<f32>
    reducer(%c: tensor<f32>, %d: tensor<f32>) {
    %1 = stablehlo.add %c, %d {sdy.sharding = #sdy.sharding_per_value<[<@device_1, []>]>} : tensor<f32>
    %2 = stablehlo.add %1, %1 : tensor<f32>
    stablehlo.return %2 : tensor<f32>
  }
  return %0 : tensor<f32>
}

// Operations that communicate must run on every device, and calls run on every device, too.
// CHECK-LABEL: func.func @everywhere
// CHECK-NEXT: %0 = call @callee(%arg0){{.*}} : (tensor<8xf32>) -> tensor<8xf32>
// CHECK-NEXT: %1 = sdy.manual_computation(%0) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[<@mesh, [{"x"}]>] manual_axes={"x"} (%arg1: tensor<4xf32>) {
// CHECK-NEXT: %2 = stablehlo.negate %arg1{{.*}} : tensor<4xf32>
func.func @everywhere(%a: tensor<8xf32>) -> tensor<8xf32> {
  %0 = call @callee(%a) {sdy.sharding = #sdy.sharding_per_value<[<@device_1, []>]>} : (tensor<8xf32>) -> tensor<8xf32>
  %1 = sdy.manual_computation(%0) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[<@mesh, [{"x"}]>] manual_axes={"x"} (%b: tensor<4xf32>) {
    %2 = stablehlo.negate %b {sdy.sharding = #sdy.sharding_per_value<[<@device_1, []>]>} : tensor<4xf32>
    sdy.return %2 : tensor<4xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %1 : tensor<8xf32>
}
func.func private @callee(tensor<8xf32>) -> tensor<8xf32>

// An argument whose sharding is on a single device is available on all devices; its reshard is removed.
// CHECK-LABEL: func.func @argument
// CHECK-NEXT: return %arg0 : tensor<8xf32>
func.func @argument(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@device_1, []>}) -> tensor<8xf32> {
  %0 = sdy.reshard %a <@mesh, [{}]> : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// A region that reads shards of a value from outside runs on every device: one device alone does not have them.
// CHECK-LABEL: func.func @captures_shards
// CHECK-NEXT: %0 = stablehlo.optimization_barrier{{.*}} %arg0 : tensor<8xf32>
// CHECK-NEXT: %1 = "stablehlo.case"(%arg1) ({
func.func @captures_shards(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %i: tensor<i32>) -> tensor<i32> {
  %0 = stablehlo.optimization_barrier {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} %a : tensor<8xf32>
  %1 = "stablehlo.case"(%i) ({
    %2 = stablehlo.negate %0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : tensor<8xf32>
    stablehlo.custom_call @print(%2) {has_side_effect = true} : (tensor<8xf32>) -> ()
    stablehlo.return %i : tensor<i32>
  }) {sdy.sharding = #sdy.sharding_per_value<[<@device_1, []>]>} : (tensor<i32>) -> tensor<i32>
  return %1 : tensor<i32>
}

// Every device has the result of a call, also one that is declared to be on a single device. Where it is sharded, it
// counts as replicated, which a barrier without a sharding says.
// CHECK-LABEL: func.func @sharded_result_of_call
// CHECK-NEXT: %0:2 = call @one_of_two(%arg0){{.*}} : (tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
// CHECK-NEXT: %1 = stablehlo.optimization_barrier %0#0 : tensor<8xf32>
// CHECK-NEXT: %2 = sdy.reshard %1 <@mesh, [{"x"}]> : tensor<8xf32>
func.func @sharded_result_of_call(%a: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %0:2 = call @one_of_two(%a) {sdy.sharding = #sdy.sharding_per_value<[<@device_1, []>, <@mesh, [{"x"}]>]>} : (tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
  %1 = sdy.reshard %0#0 <@mesh, [{}]> : tensor<8xf32>
  %2 = sdy.reshard %1 <@mesh, [{"x"}]> : tensor<8xf32>
  return %2, %0#1 : tensor<8xf32>, tensor<8xf32>
}
func.func private @one_of_two(tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
