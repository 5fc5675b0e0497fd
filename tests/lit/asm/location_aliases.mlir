// RUN: sdy-opt %s --allow-unregistered-dialect --mlir-print-debuginfo | filecheck %s
// RUN: sdy-opt %s --allow-unregistered-dialect --mlir-print-debuginfo | sdy-opt --allow-unregistered-dialect --mlir-print-debuginfo | filecheck %s

// An alias may be defined before its use, or after it if it is a whole location.
#early = loc("file.py":1:2)

// Aliases that arguments use are defined before the module.
// CHECK: #[[ARGUMENT:loc.*]] = loc("argument")
// CHECK: module {
module {
  // CHECK-NEXT: func.func @f(%arg0: i32 loc("argument")) {
  func.func @f(%a: i32 loc("argument")) {
    // CHECK-NEXT: "t.late"() : () -> () loc(#[[LATE:loc.*]])
    "t.late"() : () -> () loc(#late)
    // CHECK-NEXT: "t.same"() : () -> () loc(#[[ARGUMENT]])
    "t.same"() : () -> () loc("argument")
    // CHECK-NEXT: "t.nested"() : () -> () loc(#[[NESTED:loc.*]])
    "t.nested"() : () -> () loc(callsite("callee" at #early))
    // CHECK-NEXT: return loc(#[[RETURN:loc.*]])
    return loc(unknown)
  } loc("function")
} loc("module")

#late = loc("late")

// Aliases that only trailing locations use are defined after it, in the order of the operations,
// nested ones first.
// CHECK: #[[MODULE:loc.*]] = loc("module")
// CHECK-NEXT: #[[FUNCTION:loc.*]] = loc("function")
// CHECK-NEXT: #[[LATE]] = loc("late")
// CHECK-NEXT: #[[CALLEE:loc.*]] = loc("callee")
// CHECK-NEXT: #[[EARLY:loc.*]] = loc("file.py":1:2)
// CHECK-NEXT: #[[RETURN]] = loc(unknown)
// CHECK-NEXT: #[[NESTED]] = loc(callsite(#[[CALLEE]] at #[[EARLY]]))
