// RUN: not sdy-opt %s --split-input-file 2> %t | filecheck %s
// RUN: filecheck %s --check-prefix=ERROR --input-file %t
// RUN: filecheck %s --check-prefix=NEAR --input-file %t

// Chunks after one that fails are processed, and errors refer to lines of the whole file.
// CHECK:      @before
// CHECK:      {{//}} -----
// CHECK-NEXT: {{//}} -----
// CHECK-NEXT: module
// CHECK:      @after
func.func @before() {
  return
}

// -----

// ERROR: split_input_file_errors.mlir:20:17: error: use of undeclared SSA value name
// ERROR-NEXT: "func.return"(%missing)
func.func @fails() {
  "func.return"(%missing) : (i32) -> ()
}

// -----

// A nearly correct marker does not split, and causes a warning.
// NEAR: split_input_file_errors.mlir:27:7: warning: near miss with file split marker
// ----
func.func @after() {
  return
}
