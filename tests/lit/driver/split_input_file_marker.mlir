// RUN: sdy-opt %s -split-input-file="// ==""==" --output-split-marker="// next" | filecheck %s

// CHECK:      @before
// CHECK:      // next
// CHECK-NEXT: module {
// CHECK-NEXT:   func.func @after
func.func @before() {
  return
}
// ====
func.func @after() {
  return
}
