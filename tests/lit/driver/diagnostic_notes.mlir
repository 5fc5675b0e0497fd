// A diagnostic is printed with its notes: the operation, and others.
// RUN: not sdy-opt %s 2>&1 | filecheck %s --check-prefix=NOTES
// NOTES: error: type of return operand 0
// NOTES: note: see current operation:

// RUN: not sdy-opt %s --mlir-disable-diagnostic-notes 2>&1 | filecheck %s --check-prefix=NO-NOTES
// NO-NOTES:     error: type of return operand 0
// NO-NOTES-NOT: note:

// The stack trace of a diagnostic, innermost call first, shows the author of a pass or a dialect where it is emitted.
// RUN: not sdy-opt %s --mlir-print-stacktrace-on-diagnostic 2>&1 | filecheck %s --check-prefix=TRACE
// TRACE:      note: diagnostic emitted with trace:
// TRACE-NEXT:  #0 ReturnOp.verify_in_context ({{.*}}func.py:{{[0-9]+}})
// TRACE:      note: see current operation:
func.func @main(%a: i32) -> i64 {
  return %a : i32
}
