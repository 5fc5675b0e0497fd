// RUN: sdy-opt %s | filecheck %s
// RUN: sdy-opt %s | sdy-opt - | filecheck %s
// RUN: sdy-opt %s -mlir-print-op-generic | sdy-opt - | filecheck %s

// A loop with loop-carried values, and one without: its yield is not written.
// CHECK-LABEL: func.func @for
func.func @for(%lower: index, %upper: index, %step: index, %a: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %0 = scf.for %arg4 = %arg0 to %arg1 step %arg2 iter_args(%arg5 = %arg3) -> (tensor<4xf32>) {
  %r = scf.for %i = %lower to %upper step %step iter_args(%x = %a) -> (tensor<4xf32>) {
    // CHECK-NEXT: %1 = arith.addf %arg5, %arg5 : tensor<4xf32>
    %y = arith.addf %x, %x : tensor<4xf32>
    // CHECK-NEXT: scf.yield %1 : tensor<4xf32>
    scf.yield %y : tensor<4xf32>
  }
  // CHECK: scf.for %arg4 = %arg0 to %arg1 step %arg2 {
  scf.for %i = %lower to %upper step %step {
    // CHECK-NEXT: func.call @g(%arg4) : (index) -> ()
    func.call @g(%i) : (index) -> ()
  // CHECK-NEXT: } {foo}
  } {foo}
  return %r : tensor<4xf32>
}
func.func private @g(index)

// The type of bounds that are not of type index.
// CHECK-LABEL: func.func @integers
func.func @integers(%lower: i32, %upper: i32, %step: i32, %a: f32, %b: f32) -> (f32, f32) {
  // CHECK-NEXT: %0:2 = scf.for %arg5 = %arg0 to %arg1 step %arg2 iter_args(%arg6 = %arg3, %arg7 = %arg4) -> (f32, f32)  : i32 {
  %r:2 = scf.for %i = %lower to %upper step %step iter_args(%x = %a, %z = %b) -> (f32, f32) : i32 {
    scf.yield %z, %x : f32, f32
  }
  // CHECK: scf.for unsigned %arg5 = %arg0 to %arg1 step %arg2  : i32 {
  scf.for unsigned %i = %lower to %upper step %step : i32 {
  }
  return %r#0, %r#1 : f32, f32
}

// The first region says whether to go on, and with which values; the second computes the next values.
// CHECK-LABEL: func.func @while
func.func @while(%a: f32, %c: i1, %b: i32) -> f32 {
  // CHECK-NEXT: %0 = scf.while (%arg3 = %arg0, %arg4 = %arg2) : (f32, i32) -> f32 {
  // CHECK-NEXT:   scf.condition(%arg1) %arg3 : f32
  // CHECK-NEXT: } do {
  // CHECK-NEXT: ^bb0(%arg3: f32):
  %r = scf.while (%x = %a, %y = %b) : (f32, i32) -> f32 {
    scf.condition(%c) %x : f32
  } do {
  ^bb0(%z: f32):
    %w = arith.addf %z, %z : f32
    // CHECK: scf.yield %1, %arg2 : f32, i32
    scf.yield %w, %b : f32, i32
  // CHECK-NEXT: } attributes {bar}
  } attributes {bar}
  // CHECK: scf.while : () -> () {
  scf.while : () -> () {
    scf.condition(%c)
  } do {
    scf.yield
  }
  return %r : f32
}
