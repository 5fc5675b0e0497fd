// RUN: sdy-opt %s -sdy-flatten-call-graph -allow-unregistered-dialect | filecheck %s

// In a graph region, a value may be used before its definition. The copy of the function uses its own values.
// CHECK-LABEL: func.func @main
// CHECK-NEXT: call @f()
// CHECK-NEXT: call @f_0()
func.func @main() {
  call @f() : () -> ()
  call @f() : () -> ()
  return
}

// CHECK: func.func private @f()
// CHECK: "test.use"(%0)
// CHECK-NEXT: %0 = "test.value"()
// CHECK: func.func private @f_0()
// CHECK: "test.use"(%0)
// CHECK-NEXT: %0 = "test.value"()
func.func private @f() {
  "test.graph"() ({
    "test.use"(%0) : (tensor<8xf32>) -> ()
    %0 = "test.value"() : () -> tensor<8xf32>
  }) : () -> ()
  return
}
