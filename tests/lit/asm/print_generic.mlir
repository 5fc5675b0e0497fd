// RUN: sdy-opt %s --allow-unregistered-dialect --mlir-print-op-generic | filecheck %s
// RUN: sdy-opt %s --allow-unregistered-dialect --mlir-print-op-generic | sdy-opt --allow-unregistered-dialect --mlir-print-op-generic | filecheck %s

// The generic form: inherent attributes as properties, discardable ones after regions,
// and unique names of values.
// CHECK:      "builtin.module"() <{sym_name = "m"}> ({
// CHECK-NEXT:   "func.func"() <{arg_attrs = [{a.b}, {}], function_type = (i32, i32) -> i32, sym_name = "f"}> ({
// CHECK-NEXT:   ^bb0(%arg0: i32, %arg1: i32):
// CHECK-NEXT:     %0 = "func.call"(%arg0, %arg1) <{callee = @f}> {c.d = 1 : i32} : (i32, i32) -> i32
// CHECK-NEXT:     "func.return"(%0) : (i32) -> ()
// CHECK-NEXT:   }) {e.f} : () -> ()
// CHECK-NEXT:   "func.func"() <{function_type = () -> (), sym_name = "g", sym_visibility = "private"}> ({
// CHECK-NEXT:   }) : () -> ()
// CHECK-NEXT: }) {m.n} : () -> ()
module @m attributes {m.n} {
  func.func @f(%a: i32 {a.b}, %b: i32) -> i32 attributes {e.f} {
    %0 = call @f(%a, %b) {c.d = 1 : i32} : (i32, i32) -> i32
    return %0 : i32
  }
  func.func private @g()
}
