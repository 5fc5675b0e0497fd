// RUN: sdy-opt %s -split-input-file -sdy-constant-or-scalar-splitter | filecheck %s

sdy.mesh @mesh = <["x"=2]>

// Every use gets its own sdy constant with the attributes of the original.
// CHECK-LABEL: func.func @constant
func.func @constant(%a: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  // CHECK-NEXT: %[[FIRST:.*]] = sdy.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} dense<1.0
  // CHECK-NEXT: %[[SECOND:.*]] = sdy.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} dense<1.0
  // CHECK-NEXT: %[[THIRD:.*]] = sdy.constant {{.*}} dense<1.0
  // CHECK-NEXT: %[[SUM:.*]] = stablehlo.add %[[FIRST]], %arg0
  // CHECK-NEXT: %[[PRODUCT:.*]] = stablehlo.multiply %[[SECOND]], %[[SUM]]
  // CHECK-NEXT: return %[[PRODUCT]], %[[THIRD]]
  %0 = stablehlo.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} dense<1.0> : tensor<8xf32>
  %1 = stablehlo.add %0, %a : tensor<8xf32>
  %2 = stablehlo.multiply %0, %1 : tensor<8xf32>
  return %2, %0 : tensor<8xf32>, tensor<8xf32>
}

// Two uses by one operation get two constants.
// CHECK-LABEL: func.func @twice
func.func @twice(%a: tensor<i1>) -> tensor<8xi32> {
  // CHECK-NEXT: %[[LEFT:.*]] = stablehlo.iota dim = 0
  // CHECK-NEXT: %[[RIGHT:.*]] = stablehlo.iota dim = 0
  // CHECK-NEXT: stablehlo.select %arg0, %[[LEFT]], %[[RIGHT]]
  %0 = stablehlo.iota dim = 0 : tensor<8xi32>
  %1 = stablehlo.select %a, %0, %0 : tensor<i1>, tensor<8xi32>
  return %1 : tensor<8xi32>
}

// A constant computation is copied as a whole; inside it, values keep their number of uses.
// CHECK-LABEL: func.func @computation
func.func @computation(%a: tensor<8xf32>, %b: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  // CHECK-NEXT: %[[IOTA:.*]] = stablehlo.iota dim = 1 : tensor<1x16xf32>
  // CHECK-NEXT: %[[OTHER_IOTA:.*]] = stablehlo.iota dim = 1 : tensor<1x16xf32>
  // CHECK-NEXT: %[[SLICE:.*]] = stablehlo.slice %[[IOTA]]
  // CHECK-NEXT: %[[OTHER_SLICE:.*]] = stablehlo.slice %[[OTHER_IOTA]]
  // CHECK-NEXT: %[[RESHAPED:.*]] = stablehlo.reshape %[[SLICE]]
  // CHECK-NEXT: %[[OTHER_RESHAPED:.*]] = stablehlo.reshape %[[OTHER_SLICE]]
  // CHECK-NEXT: %[[SUM:.*]] = stablehlo.add %[[RESHAPED]], %[[RESHAPED]]
  // CHECK-NEXT: %[[OTHER_SUM:.*]] = stablehlo.add %[[OTHER_RESHAPED]], %[[OTHER_RESHAPED]]
  // CHECK-NEXT: stablehlo.add %[[SUM]], %arg0
  // CHECK-NEXT: stablehlo.add %[[OTHER_SUM]], %arg1
  %0 = stablehlo.iota dim = 1 : tensor<1x16xf32>
  %1 = stablehlo.slice %0 [0:1, 0:8] : (tensor<1x16xf32>) -> tensor<1x8xf32>
  %2 = stablehlo.reshape %1 : (tensor<1x8xf32>) -> tensor<8xf32>
  %3 = stablehlo.add %2, %2 : tensor<8xf32>
  %4 = stablehlo.add %3, %a : tensor<8xf32>
  %5 = stablehlo.add %3, %b : tensor<8xf32>
  return %4, %5 : tensor<8xf32>, tensor<8xf32>
}

// Constants that only constants use are erased. A transpose of a constant is not constant.
// CHECK-LABEL: func.func @unused
func.func @unused() -> tensor<8x4xf32> {
  // CHECK-NEXT: %[[CONSTANT:.*]] = sdy.constant dense<2.0
  // CHECK-NEXT: %[[TRANSPOSED:.*]] = stablehlo.transpose %[[CONSTANT]]
  // CHECK-NEXT: return %[[TRANSPOSED]]
  %0 = stablehlo.constant dense<2.0> : tensor<4x8xf32>
  %1 = stablehlo.negate %0 : tensor<4x8xf32>
  %2 = stablehlo.transpose %0, dims = [1, 0] : (tensor<4x8xf32>) -> tensor<8x4xf32>
  return %2 : tensor<8x4xf32>
}

// Scalars stay shared, but broadcasts of scalars are copied, constant or not.
// CHECK-LABEL: func.func @scalars
func.func @scalars(%s: tensor<f32>, %a: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  // CHECK-NEXT: %[[ONE:.*]] = sdy.constant dense<1.0
  // CHECK-NEXT: %[[S1:.*]] = stablehlo.broadcast_in_dim %arg0, dims = []
  // CHECK-NEXT: %[[S2:.*]] = stablehlo.broadcast_in_dim %arg0, dims = []
  // CHECK-NEXT: %[[ONE1:.*]] = stablehlo.broadcast_in_dim %[[ONE]], dims = []
  // CHECK-NEXT: %[[ONE2:.*]] = stablehlo.broadcast_in_dim %[[ONE]], dims = []
  // CHECK-NEXT: stablehlo.add %[[S1]], %[[ONE1]]
  // CHECK-NEXT: stablehlo.multiply %[[S2]], %[[ONE2]]
  %0 = stablehlo.constant dense<1.0> : tensor<f32>
  %1 = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> tensor<8xf32>
  %2 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<8xf32>
  %3 = stablehlo.add %1, %2 : tensor<8xf32>
  %4 = stablehlo.multiply %1, %2 : tensor<8xf32>
  return %3, %4 : tensor<8xf32>, tensor<8xf32>
}

// Copies join the sharding groups of their originals.
// CHECK-LABEL: func.func @groups
func.func @groups(%a: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  // CHECK-NEXT: %[[FIRST:.*]] = sdy.constant
  // CHECK-NEXT: sdy.sharding_group %[[FIRST]] group_id=3
  // CHECK-NEXT: sdy.sharding_group %[[FIRST]] group_id=5
  // CHECK-NEXT: %[[SECOND:.*]] = sdy.constant
  // CHECK-NEXT: sdy.sharding_group %[[SECOND]] group_id=3
  // CHECK-NEXT: sdy.sharding_group %[[SECOND]] group_id=5
  // CHECK-NEXT: stablehlo.add %[[FIRST]], %arg0
  // CHECK-NEXT: stablehlo.add %[[SECOND]], %arg0
  %0 = stablehlo.constant dense<1.0> : tensor<8xf32>
  sdy.sharding_group %0 group_id=3 : tensor<8xf32>
  sdy.sharding_group %0 group_id=5 : tensor<8xf32>
  %1 = stablehlo.add %0, %a : tensor<8xf32>
  %2 = stablehlo.add %0, %a : tensor<8xf32>
  return %1, %2 : tensor<8xf32>, tensor<8xf32>
}

// A constant that is used in a loop is copied before the loop, for the initial value and each use inside.
// CHECK-LABEL: func.func @loop
func.func @loop(%n: tensor<i32>) -> tensor<8xf32> {
  // CHECK-NEXT: %[[START:.*]] = sdy.constant
  // CHECK-NEXT: %[[STEP:.*]] = sdy.constant
  // CHECK-NEXT: stablehlo.while(%iterArg = %[[START]]
  // CHECK: stablehlo.add %iterArg, %[[STEP]]
  %0 = stablehlo.constant dense<1.0> : tensor<8xf32>
  %1:2 = stablehlo.while(%x = %0, %i = %n) : tensor<8xf32>, tensor<i32> cond {
    %2 = stablehlo.compare LT, %i, %i : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %2 : tensor<i1>
  } do {
    %2 = stablehlo.add %x, %0 : tensor<8xf32>
    stablehlo.return %2, %i : tensor<8xf32>, tensor<i32>
  }
  return %1#0 : tensor<8xf32>
}

// A named computation that contains only a constant computation is constant, by name; in another one,
// constants are split as elsewhere.
// CHECK-LABEL: func.func @named
func.func @named(%a: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  // CHECK: %[[FIRST:.*]] = sdy.named_computation<"pure">
  // CHECK: %[[SECOND:.*]] = sdy.named_computation<"pure">
  // CHECK: %[[IMPURE:.*]] = sdy.named_computation<"impure">
  // CHECK-NEXT: %[[LEFT:.*]] = sdy.constant
  // CHECK-NEXT: %[[RIGHT:.*]] = sdy.constant
  // CHECK-NEXT: stablehlo.custom_call @f(%[[LEFT]], %[[RIGHT]])
  // CHECK: stablehlo.add %[[FIRST]], %arg0
  // CHECK: stablehlo.add %[[SECOND]], %arg0
  // CHECK: return %{{.*}}, %{{.*}}, %[[IMPURE]]
  %0 = sdy.named_computation<"pure">() () {
    %5 = stablehlo.constant dense<1.0> : tensor<8xf32>
    %6 = stablehlo.negate %5 : tensor<8xf32>
    sdy.return %6 : tensor<8xf32>
  } : () -> tensor<8xf32>
  %1 = sdy.named_computation<"impure">() () {
    %5 = stablehlo.constant dense<1.0> : tensor<8xf32>
    %6 = stablehlo.custom_call @f(%5, %5) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    sdy.return %6 : tensor<8xf32>
  } : () -> tensor<8xf32>
  %2 = stablehlo.add %0, %a : tensor<8xf32>
  %3 = stablehlo.add %0, %a : tensor<8xf32>
  return %2, %3, %1 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}

// -----

// A call of a function that contains only a constant computation is constant. Every use, returns included,
// gets its own call, of a copy of the function with copies of its callees.
// CHECK-LABEL: func.func @calls
func.func @calls(%a: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  // CHECK-NEXT: %[[FIRST:.*]] = call @outer_2()
  // CHECK-NEXT: %[[SECOND:.*]] = call @outer_4()
  // CHECK-NEXT: stablehlo.add %[[FIRST]], %arg0
  // CHECK-NEXT: stablehlo.add %[[SECOND]], %arg0
  %0 = func.call @outer() : () -> tensor<8xf32>
  %1 = stablehlo.add %0, %a : tensor<8xf32>
  %2 = stablehlo.add %0, %a : tensor<8xf32>
  return %1, %2 : tensor<8xf32>, tensor<8xf32>
}

// CHECK: func.func private @outer() -> tensor<8xf32> {
// CHECK-NEXT: call @inner_0()
// CHECK: func.func private @inner() -> tensor<8xf32> {
// CHECK: func.func private @inner_0() -> tensor<8xf32> attributes {sdy.original_func_name = "inner"}
// CHECK: func.func private @inner_0_1() -> tensor<8xf32> attributes {sdy.original_func_name = "inner"}
// CHECK: func.func private @outer_2() -> tensor<8xf32> attributes {sdy.original_func_name = "outer"}
// CHECK-NEXT: call @inner_0_1()
// CHECK: func.func private @inner_0_3() -> tensor<8xf32> attributes {sdy.original_func_name = "inner"}
// CHECK: func.func private @outer_4() -> tensor<8xf32> attributes {sdy.original_func_name = "outer"}
// CHECK-NEXT: call @inner_0_3()
func.func private @outer() -> tensor<8xf32> {
  %0 = func.call @inner() : () -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

func.func private @inner() -> tensor<8xf32> {
  %0 = stablehlo.iota dim = 0 : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// A call of another function is not constant.
// CHECK-LABEL: func.func @impure_call
func.func @impure_call(%a: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  // CHECK-NEXT: %[[CALL:.*]] = call @impure()
  // CHECK-NEXT: stablehlo.add %[[CALL]], %[[CALL]]
  %0 = func.call @impure() : () -> tensor<8xf32>
  %1 = stablehlo.add %0, %0 : tensor<8xf32>
  return %1, %a : tensor<8xf32>, tensor<8xf32>
}

func.func private @impure() -> tensor<8xf32> {
  %0 = stablehlo.custom_call @random() : () -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
