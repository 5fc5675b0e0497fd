// RUN: sdy-opt %s -sdy-flatten-call-graph -split-input-file -verify-diagnostics

// Cloning a recursive function with its callees would not terminate.
func.func @calls_recursive() {
  // expected-error @+1 {{'func.call' op cannot clone 'recursive' for this call: its calls are recursive}}
  call @recursive() : () -> ()
  return
}
func.func private @recursive() {
  call @other() : () -> ()
  return
}
func.func private @other() {
  call @recursive() : () -> ()
  return
}

// -----

// Sixteen calls in each of five functions would be more than a million clones. The limit is 100,000 operations, and 100
// for each of the 92 operations of the program.
func.func @grows() {
  call @f1() : () -> ()  call @f1() : () -> ()  call @f1() : () -> ()  call @f1() : () -> ()
  call @f1() : () -> ()  call @f1() : () -> ()  call @f1() : () -> ()  call @f1() : () -> ()
  call @f1() : () -> ()  call @f1() : () -> ()  call @f1() : () -> ()  call @f1() : () -> ()
  call @f1() : () -> ()  call @f1() : () -> ()  call @f1() : () -> ()  call @f1() : () -> ()
  return
}
func.func private @f1() {
  call @f2() : () -> ()  call @f2() : () -> ()  call @f2() : () -> ()  call @f2() : () -> ()
  call @f2() : () -> ()  call @f2() : () -> ()  call @f2() : () -> ()  call @f2() : () -> ()
  // expected-error @+1 {{'func.call' op cannot clone 'f2' for this call: the copies for all calls would exceed 109200 operations}}
  call @f2() : () -> ()  call @f2() : () -> ()  call @f2() : () -> ()  call @f2() : () -> ()
  call @f2() : () -> ()  call @f2() : () -> ()  call @f2() : () -> ()  call @f2() : () -> ()
  return
}
func.func private @f2() {
  call @f3() : () -> ()  call @f3() : () -> ()  call @f3() : () -> ()  call @f3() : () -> ()
  call @f3() : () -> ()  call @f3() : () -> ()  call @f3() : () -> ()  call @f3() : () -> ()
  call @f3() : () -> ()  call @f3() : () -> ()  call @f3() : () -> ()  call @f3() : () -> ()
  call @f3() : () -> ()  call @f3() : () -> ()  call @f3() : () -> ()  call @f3() : () -> ()
  return
}
func.func private @f3() {
  call @f4() : () -> ()  call @f4() : () -> ()  call @f4() : () -> ()  call @f4() : () -> ()
  call @f4() : () -> ()  call @f4() : () -> ()  call @f4() : () -> ()  call @f4() : () -> ()
  call @f4() : () -> ()  call @f4() : () -> ()  call @f4() : () -> ()  call @f4() : () -> ()
  call @f4() : () -> ()  call @f4() : () -> ()  call @f4() : () -> ()  call @f4() : () -> ()
  return
}
func.func private @f4() {
  call @f5() : () -> ()  call @f5() : () -> ()  call @f5() : () -> ()  call @f5() : () -> ()
  call @f5() : () -> ()  call @f5() : () -> ()  call @f5() : () -> ()  call @f5() : () -> ()
  call @f5() : () -> ()  call @f5() : () -> ()  call @f5() : () -> ()  call @f5() : () -> ()
  call @f5() : () -> ()  call @f5() : () -> ()  call @f5() : () -> ()  call @f5() : () -> ()
  return
}
func.func private @f5() {
  return
}

// -----

// The callee of a call in a nested module is not looked up there.
func.func @g() {
  return
}
module @inside {
  func.func private @f() {
    return
  }
  func.func @calls() {
    // expected-error @+1 {{Failed to lookup function: f}}
    call @f() : () -> ()
    return
  }
}
