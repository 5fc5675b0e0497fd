// RUN: sdy-opt %s | filecheck %s
// RUN: sdy-opt %s | sdy-opt | filecheck %s

// Both regions of a loop use the same argument names.
// CHECK-LABEL: func.func @loop
func.func @loop(%count: tensor<i32>, %state: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %0:2 = stablehlo.while(%iterArg = %arg0, %iterArg_0 = %arg1) : tensor<i32>, tensor<4xf32>
  // CHECK-NEXT: cond {
  // CHECK-NEXT:   %c = stablehlo.constant dense<8> : tensor<i32>
  // CHECK-NEXT:   %1 = stablehlo.compare LT, %iterArg, %c
  // CHECK-NEXT:   stablehlo.return %1 : tensor<i1>
  // CHECK-NEXT: } do {
  // CHECK-NEXT:   %1 = stablehlo.add %iterArg_0, %iterArg_0 : tensor<4xf32>
  // CHECK-NEXT:   stablehlo.return %iterArg, %1 : tensor<i32>, tensor<4xf32>
  // CHECK-NEXT: }
  %0:2 = stablehlo.while(%i = %count, %x = %state) : tensor<i32>, tensor<4xf32>
  cond {
    %limit = stablehlo.constant dense<8> : tensor<i32>
    %goes_on = stablehlo.compare LT, %i, %limit : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %goes_on : tensor<i1>
  } do {
    %twice = stablehlo.add %x, %x : tensor<4xf32>
    stablehlo.return %i, %twice : tensor<i32>, tensor<4xf32>
  }
  return %0#1 : tensor<4xf32>
}

// The arguments of a nested loop get unique names.
// CHECK-LABEL: func.func @nested_loops
func.func @nested_loops(%x: tensor<f32>, %p: tensor<i1>) -> tensor<f32> {
  // CHECK: %0 = stablehlo.while(%iterArg = %arg0) : tensor<f32> attributes {depth = 0 : i64}
  // CHECK: %1 = stablehlo.while(%iterArg_0 = %iterArg) : tensor<f32>
  %0 = stablehlo.while(%outer = %x) : tensor<f32> attributes {depth = 0} cond {
    stablehlo.return %p : tensor<i1>
  } do {
    %1 = stablehlo.while(%inner = %outer) : tensor<f32> cond {
      stablehlo.return %p : tensor<i1>
    } do {
      stablehlo.return %inner : tensor<f32>
    }
    stablehlo.return %1 : tensor<f32>
  }
  return %0 : tensor<f32>
}

// A loop may have no operands.
// CHECK-LABEL: func.func @loop_without_state
func.func @loop_without_state(%p: tensor<i1>) {
  // CHECK-NEXT: stablehlo.while()
  // CHECK-NEXT: cond {
  stablehlo.while() cond {
    stablehlo.return %p : tensor<i1>
  } do {
    // CHECK: stablehlo.return{{ ?$}}
    stablehlo.return
  }
  return
}

// A conditional has the generic form only. A dimension that is dynamic in one branch is dynamic in the result.
// CHECK-LABEL: func.func @branches
func.func @branches(%p: tensor<i1>, %a: tensor<?xf32>, %b: tensor<4xf32>) -> tensor<?xf32> {
  // CHECK-NEXT: %0 = "stablehlo.if"(%arg0) ({
  // CHECK-NEXT:   stablehlo.return %arg1 : tensor<?xf32>
  // CHECK-NEXT: }, {
  // CHECK-NEXT:   stablehlo.return %arg2 : tensor<4xf32>
  // CHECK-NEXT: }) : (tensor<i1>) -> tensor<?xf32>
  %0 = "stablehlo.if"(%p) ({
    stablehlo.return %a : tensor<?xf32>
  }, {
    stablehlo.return %b : tensor<4xf32>
  }) : (tensor<i1>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// Operands and results of a barrier have the same types; without operands, `()` is printed.
// CHECK-LABEL: func.func @barriers
func.func @barriers(%a: tensor<4xf32>, %t: !stablehlo.token) {
  // CHECK-NEXT: %0:2 = stablehlo.optimization_barrier %arg0, %arg1 : tensor<4xf32>, !stablehlo.token
  %0:2 = stablehlo.optimization_barrier %a, %t : tensor<4xf32>, !stablehlo.token
  // CHECK-NEXT: stablehlo.optimization_barrier()
  stablehlo.optimization_barrier()
  // CHECK-NEXT: stablehlo.optimization_barrier {why = "test"}()
  stablehlo.optimization_barrier {why = "test"} ()
  return
}

// CHECK-LABEL: func.func @map
func.func @map(%a: tensor<4xi32>, %b: tensor<4xi32>) -> tensor<4xi1> {
  // CHECK-NEXT: %0 = "stablehlo.map"(%arg0, %arg1) <{dimensions = array<i64: 0>}> ({
  // CHECK-NEXT: ^bb0(%arg2: tensor<i32>, %arg3: tensor<i32>):
  %0 = "stablehlo.map"(%a, %b) <{dimensions = array<i64: 0>}> ({
  ^bb0(%x: tensor<i32>, %y: tensor<i32>):
    %less = stablehlo.compare LT, %x, %y : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %less : tensor<i1>
  }) : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
  return %0 : tensor<4xi1>
}
