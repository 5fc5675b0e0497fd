// RUN: printf '// -----\nfunc.func private @between()\n// -----\n' > %t
// RUN: sdy-opt %t --split-input-file | filecheck %s

// The text before the first marker and after the last is a chunk too, even if it is empty.
// CHECK:      module {
// CHECK-NEXT: }
// CHECK:      {{^//}} -----
// CHECK:      func.func private @between()
// CHECK:      {{^//}} -----
// CHECK-NEXT: module {
// CHECK-NEXT: }
