// RUN: sdy-opt %s --sdy-version=jaxlib-0.10.2 -sdy-reshard-single-devices -sdy-insert-explicit-reshards=enable-full-version | filecheck %s --check-prefixes=CHECK,MESH-TOKEN
// RUN: sdy-opt %s -sdy-insert-explicit-reshards=enable-full-version | filecheck %s --check-prefixes=CHECK,TOKEN
// RUN: sdy-opt %s -sdy-insert-explicit-reshards=enable-full-version --sdy-version=jaxlib-0.10.2 | filecheck %s --check-prefix=OFF
// RUN: sdy-opt %s -sdy-insert-explicit-reshards=enable-full-version -sdy-reshard-to-collectives | filecheck %s --check-prefix=COLLECTIVES

sdy.mesh @device_0 = <[], device_ids=[0]>
sdy.mesh @mesh = <["x"=2]>

// The operand is replicated and resharded to the device; the result is replicated, then sharded for its user. The
// pass that runs an operation on one device needs the reshards to and from it, so they are not lowered.
// CHECK-LABEL: func.func @custom_call
// CHECK-NEXT: %0 = sdy.reshard %arg0 <@mesh, [{}]>
// CHECK-NEXT: %1 = sdy.reshard %0 <@device_0, []>
// CHECK-NEXT: %2 = stablehlo.custom_call @f(%1) {sdy.sharding = #sdy.sharding_per_value<[<@device_0, []>]>}
// CHECK-NEXT: %3 = sdy.reshard %2 <@mesh, [{}]>
// CHECK-NEXT: %4 = sdy.reshard %3 <@mesh, [{"x"}]>
// CHECK-NEXT: %5 = stablehlo.add %4, %arg0
// COLLECTIVES-LABEL: func.func @custom_call
// COLLECTIVES-NEXT: sdy.all_gather
// COLLECTIVES-NEXT: sdy.reshard %0 <@device_0, []>
// COLLECTIVES-NEXT: stablehlo.custom_call
// COLLECTIVES-NEXT: sdy.reshard %2 <@mesh, [{}]>
// COLLECTIVES-NEXT: sdy.all_slice [{"x"}] %3
// OFF-LABEL: func.func @custom_call
// OFF-NEXT: stablehlo.custom_call @f(%arg0)
// OFF-NEXT: stablehlo.add %0, %arg0
func.func @custom_call(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  %0 = stablehlo.custom_call @f(%a) {sdy.sharding = #sdy.sharding_per_value<[<@device_0, []>]>} : (tensor<8xf32>) -> tensor<8xf32>
  %1 = stablehlo.add %0, %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : tensor<8xf32>
  return %1 : tensor<8xf32>
}

// Tokens are not resharded, and keep their sharding. In jaxlib 0.10.2, they are on all devices.
// CHECK-LABEL: func.func @token
// TOKEN-NEXT: stablehlo.custom_call @g(%arg0) {sdy.sharding = #sdy.sharding_per_value<[<@device_0, []>, <@device_0, []>]>}
// MESH-TOKEN-NEXT: stablehlo.custom_call @g(%arg0) {sdy.sharding = #sdy.sharding_per_value<[<@device_0, []>, <@mesh, []>]>}
// CHECK-NEXT: sdy.reshard %0#0 <@mesh, []>
// CHECK-NEXT: return %1, %0#1
func.func @token(%a: !stablehlo.token) -> (tensor<f32>, !stablehlo.token) {
  %0:2 = stablehlo.custom_call @g(%a) {sdy.sharding = #sdy.sharding_per_value<[<@device_0, []>, <@device_0, []>]>} : (!stablehlo.token) -> (tensor<f32>, !stablehlo.token)
  return %0#0, %0#1 : tensor<f32>, !stablehlo.token
}

// CHECK-LABEL: func.func @token_on_mesh
// CHECK-NEXT: stablehlo.custom_call @g(%arg0) {sdy.sharding = #sdy.sharding_per_value<[<@device_0, []>, <@mesh, []>]>}
func.func @token_on_mesh(%a: !stablehlo.token) -> (tensor<f32>, !stablehlo.token) {
  %0:2 = stablehlo.custom_call @g(%a) {sdy.sharding = #sdy.sharding_per_value<[<@device_0, []>, <@mesh, []>]>} : (!stablehlo.token) -> (tensor<f32>, !stablehlo.token)
  return %0#0, %0#1 : tensor<f32>, !stablehlo.token
}
