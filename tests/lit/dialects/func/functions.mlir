// RUN: sdy-opt %s --allow-unregistered-dialect | filecheck %s

// Arguments are renamed, and the dialect prefix of func operations is optional.
// CHECK-LABEL: func.func @identity(%arg0: i32) -> i32 {
// CHECK-NEXT:    return %arg0 : i32
func.func @identity(%value: i32) -> i32 {
  func.return %value : i32
}

// Attributes of arguments, of results and of the function.
// CHECK-LABEL: func.func public @attributes(%arg0: i32 {a.b = "c"}, %arg1: f32) -> (f32 {d.e}) attributes {f.g = 1 : i64} {
func.func public @attributes(%a: i32 {a.b = "c"}, %b: f32) -> (f32 {d.e}) attributes {f.g = 1} {
  return %b : f32
}

// A body may start with a label, which names the arguments.
// CHECK-LABEL: func.func @label(%arg0: i32, %arg1: f32) {
func.func @label(i32, f32) {
^entry(%a: i32, %b: f32):
  return
}

// A function without results may have an empty result list.
// CHECK-LABEL: func.func @nothing() {
func.func @nothing() -> () {
  return
}

// CHECK-LABEL: func.func @calls
func.func @calls(%a: i32) -> i32 {
  // CHECK-NEXT: %0 = call @identity(%arg0) : (i32) -> i32
  %0 = func.call @identity(%a) : (i32) -> i32
  // A call of a function defined below.
  // CHECK-NEXT: call @later() {a.b} : () -> ()
  call @later() {a.b} : () -> ()
  // A function value.
  // CHECK-NEXT: %f = constant @identity : (i32) -> i32
  %f = constant @identity : (i32) -> i32
  // CHECK-NEXT: %1 = call_indirect %f(%0) : (i32) -> i32
  %1 = call_indirect %f(%0) : (i32) -> i32
  // CHECK-NEXT: return %1 : i32
  return %1 : i32
}

// CHECK-LABEL: func.func @later
func.func @later() {
  return {a.b}
}
