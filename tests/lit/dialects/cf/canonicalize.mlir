// RUN: sdy-opt %s | filecheck %s --check-prefix=SAME
// RUN: sdy-opt %s -canonicalize | filecheck %s

// SAME-LABEL: func.func @branches
// SAME-NEXT: cf.cond_br %arg0, ^bb1, ^bb2(%arg1 : index)
// SAME: cf.br ^bb2(%arg1 : index)
// SAME: ^bb2(%{{.*}}: index):
// CHECK-LABEL: func.func @branches
func.func @branches(%b: i1, %i: index) -> index {
  cf.cond_br %b, ^bb1, ^bb2(%i : index)
^bb1:
  cf.br ^bb2(%i : index)
^bb2(%x: index):
  return %x : index
}

// A block is merged into its only predecessor.
// CHECK-LABEL: func.func @join
func.func @join(%i: index) -> index {
  // CHECK-NEXT: %[[A:.*]] = arith.addi %arg0, %arg0 : index
  // CHECK-NEXT: return %[[A]]
  cf.br ^bb1(%i : index)
^bb1(%x: index):
  %0 = arith.addi %x, %x : index
  return %0 : index
}

// CHECK-LABEL: func.func @decided
func.func @decided(%i: index) -> index {
  // CHECK-NEXT: return %arg0
  %true = arith.constant true
  cf.cond_br %true, ^bb1, ^bb2
^bb1:
  return %i : index
^bb2:
  %0 = arith.addi %i, %i : index
  return %0 : index
}

// A true assertion is erased.
// CHECK-LABEL: func.func @assert
func.func @assert(%b: i1) {
  // CHECK-NEXT: cf.assert %arg0, "b"
  // CHECK-NEXT: return
  %true = arith.constant true
  cf.assert %true, "a"
  cf.assert %b, "b"
  return
}
