// RUN: printf '// -----\nfunc.func private @between()\n// -----\n' > %t
// RUN: sdy-opt %t --split-input-file | filecheck %s

// What stands before the first marker and after the last is a program too, if only an empty one.
// CHECK:      module {
// CHECK-NEXT: }
// CHECK:      {{^//}} -----
// CHECK:      func.func private @between()
// CHECK:      {{^//}} -----
// CHECK-NEXT: module {
// CHECK-NEXT: }
