// RUN: sdy-opt %s --allow-unregistered-dialect | filecheck %s

// In a graph region a value may be used before its definition.
// CHECK: "t.use"(%[[GROUP:.*]]#1, %[[ONE:.*]]) : (f32, i32) -> ()
// CHECK-NEXT: %[[ONE]] = "t.one"() : () -> i32
// CHECK-NEXT: %[[GROUP]]:2 = "t.group"() : () -> (i32, f32)
"t.use"(%group#1, %one) : (f32, i32) -> ()
%one = "t.one"() : () -> i32
%group:2 = "t.group"() : () -> (i32, f32)

// Blocks need not be in dominance order.
// CHECK-LABEL: func.func @blocks
func.func @blocks() -> i32 {
  "t.branch"()[^second] : () -> ()
^first:
  // CHECK: return %[[VALUE:.*]] : i32
  return %value : i32
^second:
  // CHECK: %[[VALUE]] = "t.value"() : () -> i32
  %value = "t.value"() : () -> i32
  "t.branch"()[^first] : () -> ()
}

// A region may use values that are defined after its operation.
// CHECK: "t.graph"() ({
// CHECK-NEXT: "t.use"(%[[LATE:.*]]) : (i32) -> ()
"t.graph"() ({
  "t.use"(%late) : (i32) -> ()
}) : () -> ()
// CHECK: %[[LATE]] = "t.late"() : () -> i32
%late = "t.late"() : () -> i32
