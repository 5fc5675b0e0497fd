// RUN: sdy-opt %s | filecheck %s

// The names of the segment sizes before LLVM 17, as attributes and as properties.
// CHECK-COUNT-2: tensor.insert_slice %arg1 into %arg0[0] [4] [1] : tensor<4xf32> into tensor<8xf32>
func.func @main(%0: tensor<8xf32>, %1: tensor<4xf32>) {
  %2 = "tensor.insert_slice"(%1, %0) {operand_segment_sizes = array<i32: 1, 1, 0, 0, 0>, static_offsets = array<i64: 0>, static_sizes = array<i64: 4>, static_strides = array<i64: 1>} : (tensor<4xf32>, tensor<8xf32>) -> tensor<8xf32>
  %3 = "tensor.insert_slice"(%1, %0) <{operand_segment_sizes = array<i32: 1, 1, 0, 0, 0>, static_offsets = array<i64: 0>, static_sizes = array<i64: 4>, static_strides = array<i64: 1>}> : (tensor<4xf32>, tensor<8xf32>) -> tensor<8xf32>
  return
}
