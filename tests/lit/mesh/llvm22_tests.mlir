// RUN: sdy-opt %s -mesh-version=22 -test-grid-process-multi-index-op-lowering | filecheck %s --check-prefix=INDEX
// RUN: sdy-opt %s -mesh-version=22 -test-grid-process-multi-index-op-lowering -test-grid-simplifications | filecheck %s --check-prefix=SIMPLE
// RUN: sdy-opt %s -mesh-version=22 -test-grid-all-slice-op-lowering | filecheck %s --check-prefix=SLICE

// The test passes of LLVM 22. affine.delinearize_index takes static sizes there, so that these are folded.

shard.grid @g(shape = 2x3)

// INDEX-LABEL: func.func @index
// SIMPLE-LABEL: func.func @index
func.func @index() -> (index, index) {
  // INDEX-NEXT: %[[L:.*]] = shard.process_linear_index on @g : index
  // INDEX-NEXT: %[[S:.*]]:2 = shard.grid_shape @g : index, index
  // INDEX-NEXT: affine.delinearize_index %[[L]] into (%[[S]]#0, %[[S]]#1) : index, index
  // SIMPLE-NEXT: %[[L:.*]] = shard.process_linear_index on @g : index
  // SIMPLE-NEXT: affine.delinearize_index %[[L]] into (2, 3) : index, index
  %0:2 = shard.process_multi_index on @g : index, index
  return %0#0, %0#1 : index, index
}

// SLICE-LABEL: func.func @slice
func.func @slice(%t: tensor<6x4xf32>) -> tensor<3x4xf32> {
  // SLICE: shard.process_multi_index on @g axes = [0] : index
  // SLICE: cf.assert %{{.*}}, "Slicing a tensor with axis size that is not exactly divisible by the grid process group size is not supported."
  // SLICE: tensor.extract_slice
  %0 = shard.all_slice %t on @g grid_axes = [0] slice_axis = 0 : tensor<6x4xf32> -> tensor<3x4xf32>
  return %0 : tensor<3x4xf32>
}
