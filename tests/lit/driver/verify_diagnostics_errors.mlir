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

// Expected diagnostics that were not produced are reported at the end of the chunk.
// CHECK:      verify_diagnostics_errors.mlir:24:4: error: expected error "never produced" was not produced
// CHECK-NEXT: // expected-error @+1
// CHECK-NEXT: {{^   \^~+$}}
// expected-error @+1 {{never produced}}
func.func @missing() {
  return
}

// -----

// A chunk expects no diagnostics of another, and `below` is its last line at most.
// CHECK-NEXT: verify_diagnostics_errors.mlir:34:4: error: expected error "of the next chunk" was not produced
// CHECK:      verify_diagnostics_errors.mlir:37:15: error: unexpected error: use of undeclared SSA value name
// expected-error @+3 {{of the next chunk}}
// expected-error @below {{use of undeclared}}
// -----
"func.return"(%of_the_next_chunk) : (i32) -> ()
