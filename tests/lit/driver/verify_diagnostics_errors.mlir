// RUN: not sdy-opt %s --split-input-file --verify-diagnostics 2>&1 > /dev/null | filecheck %s

// Unexpected diagnostics are reported at once.
// CHECK:      verify_diagnostics_errors.mlir:7:17: error: unexpected error: use of undeclared SSA value name
// CHECK-NEXT:   "func.return"(%missing) : (i32) -> ()
func.func @unexpected() {
  "func.return"(%missing) : (i32) -> ()
}

// -----

func.func @wrong_severity() {
  // CHECK: verify_diagnostics_errors.mlir:14:6: error: 'error' diagnostic emitted when expecting a 'warning'
  // expected-warning @+1 {{use of undeclared}}
  "func.return"(%missing) : (i32) -> ()
}

// -----

// Expected diagnostics that were not produced are reported at the end.
// CHECK:      verify_diagnostics_errors.mlir:24:4: error: expected error "never produced" was not produced
// CHECK-NEXT: // expected-error @+1
// CHECK-NEXT: {{^   \^~+$}}
// expected-error @+1 {{never produced}}
func.func @missing() {
  return
}
