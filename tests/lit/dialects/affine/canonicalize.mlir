// RUN: sdy-opt %s -canonicalize | filecheck %s

// Maps are composed, constants folded, and unused operands removed.
// CHECK-LABEL: func.func @apply
func.func @apply(%i: index, %j: index) -> (index, index, index, index) {
  // CHECK-NEXT: %[[EIGHT:.*]] = arith.constant 8 : index
  // CHECK-NEXT: %[[A:.*]] = affine.apply #map()[%arg0]
  // CHECK-NEXT: %[[B:.*]] = affine.apply #map1()[%arg1, %arg0]
  // CHECK-NEXT: return %[[A]], %[[EIGHT]], %arg0, %[[B]]
  %c4 = arith.constant 4 : index
  %c2 = arith.constant 2 : index
  %0 = affine.apply affine_map<(d0)[s0] -> (d0 + s0)>(%i)[%c4]
  %1 = affine.apply affine_map<(d0)[s0] -> (d0 * s0)>(%c2)[%c4]
  %2 = affine.apply affine_map<(d0)[s0] -> (d0)>(%i)[%c4]
  %3 = affine.apply affine_map<()[s0, s1] -> (s0 + 2 * s1)>()[%0, %j]
  return %0, %1, %2, %3 : index, index, index, index
}

// CHECK-LABEL: func.func @delinearize
func.func @delinearize(%i: index) -> (index, index) {
  // CHECK: affine.delinearize_index %arg0 into (%c2, %c4) : index, index
  %c4 = arith.constant 4 : index
  %c2 = arith.constant 2 : index
  %0:2 = affine.delinearize_index %i into (%c2, %c4) : index, index
  return %0#0, %0#1 : index, index
}
