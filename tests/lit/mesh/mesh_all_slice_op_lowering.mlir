// RUN: sdy-opt %s -test-mesh-all-slice-op-lowering | filecheck %s
// RUN: sdy-opt %s -test-mesh-all-slice-op-lowering -test-mesh-simplifications -canonicalize | filecheck %s --check-prefix=FOLDED

mesh.mesh @g(shape = 2x3)

// The offset is the position in the group times the shard size. Divisibility is asserted.
// CHECK-LABEL: func.func @one_axis
// FOLDED-LABEL: func.func @one_axis
func.func @one_axis(%t: tensor<6x4xf32>) -> tensor<2x4xf32> {
  // CHECK: %[[PLACE:.*]] = mesh.process_multi_index on @g axes = [1] : index
  // CHECK-NEXT: %[[COUNT:.*]] = mesh.mesh_shape @g axes = [1] : index
  // CHECK-NEXT: %[[REST:.*]] = arith.remui %c6, %[[COUNT]] : index
  // CHECK-NEXT: %[[EVEN:.*]] = arith.cmpi eq, %[[REST]], %c0 : index
  // CHECK-NEXT: cf.assert %[[EVEN]], "Slicing a tensor with axis size that is not exactly divisible by the mesh process group size is not supported."
  // CHECK-NEXT: %[[SIZE:.*]] = arith.divui %c6, %[[COUNT]] : index
  // CHECK-NEXT: %[[OFFSET:.*]] = arith.muli %[[PLACE]], %[[SIZE]] : index
  // CHECK-NEXT: %[[PART:.*]] = tensor.extract_slice %arg0[%[[OFFSET]], 0] [%[[SIZE]], %c4] [1, 1] : tensor<6x4xf32> to tensor<?x?xf32>
  // CHECK-NEXT: tensor.cast %[[PART]] : tensor<?x?xf32> to tensor<2x4xf32>
  // FOLDED: %[[FOLDED:.*]] = arith.muli %{{.*}}, %c2 : index
  // FOLDED-NEXT: tensor.extract_slice %arg0[%[[FOLDED]], 0] [2, 4] [1, 1] : tensor<6x4xf32> to tensor<2x4xf32>
  %0 = mesh.all_slice %t on @g mesh_axes = [1] slice_axis = 0 : tensor<6x4xf32> -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}

// Along several axes the position is in row-major order.
// CHECK-LABEL: func.func @two_axes
func.func @two_axes(%t: tensor<12xf32>) -> tensor<2xf32> {
  // CHECK: affine.apply #map()[%{{.*}}#0, %{{.*}}#1, %{{.*}}#1]
  %0 = mesh.all_slice %t on @g mesh_axes = [1, 0] slice_axis = 0 : tensor<12xf32> -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// Without axes nothing is sliced; a type with dynamic sizes needs a cast.
// CHECK-LABEL: func.func @no_axes
func.func @no_axes(%t: tensor<6xf32>) -> (tensor<6xf32>, tensor<?xf32>) {
  // CHECK-NEXT: %[[CAST:.*]] = tensor.cast %arg0 : tensor<6xf32> to tensor<?xf32>
  // CHECK-NEXT: return %arg0, %[[CAST]]
  %0 = mesh.all_slice %t on @g slice_axis = 0 : tensor<6xf32> -> tensor<6xf32>
  %1 = mesh.all_slice %t on @g slice_axis = 0 : tensor<6xf32> -> tensor<?xf32>
  return %0, %1 : tensor<6xf32>, tensor<?xf32>
}
