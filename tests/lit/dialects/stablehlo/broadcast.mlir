// RUN: sdy-opt %s | filecheck %s

// CHECK-LABEL: func.func @broadcast_in_dim
func.func @broadcast_in_dim(%x: tensor<4xf32>) {
  // CHECK: stablehlo.broadcast_in_dim %{{.*}}, dims = [1] : (tensor<4xf32>) -> tensor<2x4xf32>
  %0 = stablehlo.broadcast_in_dim %x, dims = [1] : (tensor<4xf32>) -> tensor<2x4xf32>
  // CHECK: stablehlo.broadcast_in_dim %{{.*}}, dims = [0] : (tensor<4xf32>) -> tensor<4x?xf32, #stablehlo.bounds<?, 3>>
  %1 = stablehlo.broadcast_in_dim %x, dims = [0] : (tensor<4xf32>) -> tensor<4x?xf32, #stablehlo.bounds<?, 3>>
  return
}

// CHECK-LABEL: func.func @from_a_scalar
func.func @from_a_scalar(%x: tensor<f32>) {
  // CHECK: stablehlo.broadcast_in_dim %{{.*}}, dims = [] : (tensor<f32>) -> tensor<2x4xf32>
  %0 = stablehlo.broadcast_in_dim %x, dims = [] : (tensor<f32>) -> tensor<2x4xf32>
  return
}

// CHECK-LABEL: func.func @dynamic_broadcast_in_dim
func.func @dynamic_broadcast_in_dim(%x: tensor<4xf32>, %s: tensor<2xi32>) {
  // CHECK: stablehlo.dynamic_broadcast_in_dim %{{.*}}, %{{.*}}, dims = [1] : (tensor<4xf32>, tensor<2xi32>) -> tensor<?x4xf32>
  %0 = stablehlo.dynamic_broadcast_in_dim %x, %s, dims = [1] : (tensor<4xf32>, tensor<2xi32>) -> tensor<?x4xf32>
  // CHECK: stablehlo.dynamic_broadcast_in_dim %{{.*}}, %{{.*}}, dims = [1] {known_nonexpanding_dimensions = array<i64: 0>} : (tensor<4xf32>, tensor<2xi32>) -> tensor<?x4xf32>
  %1 = stablehlo.dynamic_broadcast_in_dim %x, %s, dims = [1] {known_nonexpanding_dimensions = array<i64: 0>} : (tensor<4xf32>, tensor<2xi32>) -> tensor<?x4xf32>
  return
}

// New dimensions are the major-most ones.
// CHECK-LABEL: func.func @broadcast
func.func @broadcast(%x: tensor<4xf32>) {
  // CHECK: stablehlo.broadcast %{{.*}}, sizes = [2] : (tensor<4xf32>) -> tensor<2x4xf32>
  %0 = stablehlo.broadcast %x, sizes = [2] : (tensor<4xf32>) -> tensor<2x4xf32>
  return
}
