// RUN: sdy-opt %s -test-mesh-process-multi-index-op-lowering | filecheck %s
// RUN: sdy-opt %s -test-mesh-process-multi-index-op-lowering -test-mesh-simplifications | filecheck %s --check-prefix=FOLDED

mesh.mesh @g(shape = 2x3x4)

// The multi-index follows from the linear index and the mesh shape.
// CHECK-LABEL: func.func @some
// FOLDED-LABEL: func.func @some
func.func @some() -> (index, index) {
  // CHECK-NEXT: %[[NUMBER:.*]] = mesh.process_linear_index on @g : index
  // CHECK-NEXT: %[[SIZES:.*]]:3 = mesh.mesh_shape @g : index, index, index
  // CHECK-NEXT: %[[PLACE:.*]]:3 = affine.delinearize_index %[[NUMBER]] into (%[[SIZES]]#0, %[[SIZES]]#1, %[[SIZES]]#2) : index, index, index
  // CHECK-NEXT: return %[[PLACE]]#2, %[[PLACE]]#0
  // FOLDED: affine.delinearize_index %{{.*}} into (%c2, %c3, %c4) : index, index, index
  %0:2 = mesh.process_multi_index on @g axes = [2, 0] : index, index
  return %0#0, %0#1 : index, index
}
