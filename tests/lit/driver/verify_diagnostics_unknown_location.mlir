// RUN: not sdy-opt %s -verify-diagnostics 2>&1 | filecheck %s

// An unexpected error of an operation whose location is unknown is shown where the operation is in the program.
// CHECK: <unknown>:0: error: unexpected error: 'func.func' op arguments may only have dialect attributes
// CHECK-NEXT: --> {{.*}}verify_diagnostics_unknown_location.mlir:7:33
module {
  func.func @f(%a: tensor<f32> {none = 1 : i32}) {
    return
  } loc(#unknown)
}
#unknown = loc(unknown)
