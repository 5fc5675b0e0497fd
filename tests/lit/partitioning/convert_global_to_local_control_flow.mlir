// RUN: sdy-opt %s -sdy-convert-global-to-local | filecheck %s

// Calls, loops and branches take and return shards.

sdy.mesh @mesh = <["x"=2]>

// A call has the local types of its callee.
// CHECK-LABEL: func.func @main(%arg0: tensor<4xf32>{{.*}}) -> (tensor<4xf32>{{.*}})
// CHECK-NEXT: %0 = call @layer(%arg0){{.*}} : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: return %0 : tensor<4xf32>
func.func @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  %0 = call @layer(%a) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// CHECK-LABEL: func.func private @layer(%arg0: tensor<4xf32>{{.*}}) -> (tensor<4xf32>{{.*}})
// CHECK-NEXT: %0 = stablehlo.sine %arg0{{.*}} : tensor<4xf32>
// CHECK-NEXT: return %0 : tensor<4xf32>
func.func private @layer(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  %0 = stablehlo.sine %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// A loop carries a shard. The counter, which has no sharding, is the same on every device.
// CHECK-LABEL: func.func @loop(%arg0: tensor<4xf32>{{.*}}) -> (tensor<4xf32>{{.*}})
// CHECK-NEXT: %c = stablehlo.constant dense<0> : tensor<i32>
// CHECK-NEXT: %0:2 = stablehlo.while(%iterArg = %c, %iterArg_0 = %arg0) : tensor<i32>, tensor<4xf32> attributes{{.*}}
// CHECK-NEXT: cond {
// CHECK-NEXT: %c_1 = stablehlo.constant dense<3> : tensor<i32>
// CHECK-NEXT: %1 = stablehlo.compare LT, %iterArg, %c_1 : (tensor<i32>, tensor<i32>) -> tensor<i1>
// CHECK-NEXT: stablehlo.return %1 : tensor<i1>
// CHECK-NEXT: } do {
// CHECK-NEXT: %c_1 = stablehlo.constant dense<1> : tensor<i32>
// CHECK-NEXT: %1 = stablehlo.add %iterArg, %c_1 : tensor<i32>
// CHECK-NEXT: %2 = stablehlo.sine %iterArg_0{{.*}} : tensor<4xf32>
// CHECK-NEXT: stablehlo.return %1, %2 : tensor<i32>, tensor<4xf32>
// CHECK-NEXT: }
// CHECK-NEXT: return %0#1 : tensor<4xf32>
func.func @loop(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  %c0 = stablehlo.constant dense<0> : tensor<i32>
  %0:2 = stablehlo.while(%i = %c0, %b = %a) : tensor<i32>, tensor<8xf32> attributes {sdy.sharding = #sdy.sharding_per_value<[<@mesh, []>, <@mesh, [{"x"}]>]>}
   cond {
    %c3 = stablehlo.constant dense<3> : tensor<i32>
    %1 = stablehlo.compare LT, %i, %c3 : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %c1 = stablehlo.constant dense<1> : tensor<i32>
    %1 = stablehlo.add %i, %c1 : tensor<i32>
    %2 = stablehlo.sine %b {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : tensor<8xf32>
    stablehlo.return %1, %2 : tensor<i32>, tensor<8xf32>
  }
  return %0#1 : tensor<8xf32>
}

// Every branch returns a shard.
// CHECK-LABEL: func.func @branches(%arg0: tensor<i1>, %arg1: tensor<4xf32>{{.*}}) -> (tensor<4xf32>{{.*}})
// CHECK-NEXT: %0 = "stablehlo.if"(%arg0) ({
// CHECK-NEXT: stablehlo.return %arg1 : tensor<4xf32>
// CHECK-NEXT: }, {
// CHECK-NEXT: %1 = stablehlo.negate %arg1{{.*}} : tensor<4xf32>
// CHECK-NEXT: stablehlo.return %1 : tensor<4xf32>
// CHECK-NEXT: }){{.*}} : (tensor<i1>) -> tensor<4xf32>
// CHECK-NEXT: return %0 : tensor<4xf32>
func.func @branches(%p: tensor<i1>, %a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  %0 = "stablehlo.if"(%p) ({
    stablehlo.return %a : tensor<8xf32>
  }, {
    %1 = stablehlo.negate %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : tensor<8xf32>
    stablehlo.return %1 : tensor<8xf32>
  }) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : (tensor<i1>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
