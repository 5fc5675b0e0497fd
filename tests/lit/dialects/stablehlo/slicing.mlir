// RUN: sdy-opt %s | filecheck %s

// A stride of 1 is not printed.
// CHECK-LABEL: func.func @slice
func.func @slice(%x: tensor<5x6xf32>) {
  // CHECK: stablehlo.slice %{{.*}} [0:5, 1:6:2] : (tensor<5x6xf32>) -> tensor<5x3xf32>
  %0 = stablehlo.slice %x [0:5:1, 1:6:2] : (tensor<5x6xf32>) -> tensor<5x3xf32>
  return
}

// CHECK-LABEL: func.func @slice_of_a_scalar
func.func @slice_of_a_scalar(%x: tensor<f32>) {
  // CHECK: stablehlo.slice %{{.*}} [] : (tensor<f32>) -> tensor<f32>
  %0 = stablehlo.slice %x [] : (tensor<f32>) -> tensor<f32>
  return
}

// CHECK-LABEL: func.func @dynamic_slice
func.func @dynamic_slice(%x: tensor<5x6xf32>, %i: tensor<i32>) {
  // CHECK: stablehlo.dynamic_slice %{{.*}}, %{{.*}}, %{{.*}}, sizes = [2, 3] : (tensor<5x6xf32>, tensor<i32>, tensor<i32>) -> tensor<2x3xf32>
  %0 = stablehlo.dynamic_slice %x, %i, %i, sizes = [2, 3] : (tensor<5x6xf32>, tensor<i32>, tensor<i32>) -> tensor<2x3xf32>
  return
}

// Without start indices, their comma is printed, and may be missing.
// CHECK-LABEL: func.func @dynamic_slice_of_a_scalar
func.func @dynamic_slice_of_a_scalar(%x: tensor<f32>) {
  // CHECK-COUNT-2: stablehlo.dynamic_slice %{{.*}}, , sizes = [] : (tensor<f32>) -> tensor<f32>
  %0 = stablehlo.dynamic_slice %x, , sizes = [] : (tensor<f32>) -> tensor<f32>
  %1 = stablehlo.dynamic_slice %x, sizes = [] : (tensor<f32>) -> tensor<f32>
  return
}

// CHECK-LABEL: func.func @dynamic_update_slice
func.func @dynamic_update_slice(%x: tensor<5x6xf32>, %u: tensor<2x3xf32>, %i: tensor<i32>) {
  // CHECK: stablehlo.dynamic_update_slice %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : (tensor<5x6xf32>, tensor<2x3xf32>, tensor<i32>, tensor<i32>) -> tensor<5x6xf32>
  %0 = stablehlo.dynamic_update_slice %x, %u, %i, %i : (tensor<5x6xf32>, tensor<2x3xf32>, tensor<i32>, tensor<i32>) -> tensor<5x6xf32>
  return
}

// CHECK-LABEL: func.func @real_dynamic_slice
func.func @real_dynamic_slice(%x: tensor<5xf32>, %i: tensor<1xindex>) {
  // CHECK: stablehlo.real_dynamic_slice %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : (tensor<5xf32>, tensor<1xindex>, tensor<1xindex>, tensor<1xindex>) -> tensor<?xf32>
  %0 = stablehlo.real_dynamic_slice %x, %i, %i, %i : (tensor<5xf32>, tensor<1xindex>, tensor<1xindex>, tensor<1xindex>) -> tensor<?xf32>
  return
}
