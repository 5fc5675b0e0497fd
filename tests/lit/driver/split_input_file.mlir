// RUN: sdy-opt %s --split-input-file | filecheck %s

// Chunks are separate programs, so both may define @same.
// CHECK:      module {
// CHECK-NEXT:   func.func @same() {
// CHECK-NEXT:     return
// CHECK-NEXT:   }
// CHECK-NEXT: }
// CHECK-EMPTY:
// CHECK-NEXT: {{//}} -----
// CHECK-NEXT: module {
// CHECK-NEXT:   func.func @same() {
func.func @same() {
  return
}
// -----
func.func @same() {
  return
}
