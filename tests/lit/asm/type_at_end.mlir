// A type that the text ends before. The last character is a space.

// RUN: not sdy-opt %s 2>&1 | filecheck %s

// CHECK: type_at_end.mlir:8:26: error: expected non-function type
// CHECK-NOT: internal error

sdy.constant dense<1.0> : 