// RUN: sdy-opt %s | filecheck %s

// CHECK-LABEL: func.func @reshape
func.func @reshape(%x: tensor<4xf32>) {
  // CHECK: stablehlo.reshape %{{.*}} : (tensor<4xf32>) -> tensor<2x2xf32>
  %0 = stablehlo.reshape %x : (tensor<4xf32>) -> tensor<2x2xf32>
  return
}

// CHECK-LABEL: func.func @dynamic_reshape
func.func @dynamic_reshape(%x: tensor<4xf32>, %s: tensor<2xindex>) {
  // CHECK: stablehlo.dynamic_reshape %{{.*}}, %{{.*}} : (tensor<4xf32>, tensor<2xindex>) -> tensor<?x?xf32>
  %0 = stablehlo.dynamic_reshape %x, %s : (tensor<4xf32>, tensor<2xindex>) -> tensor<?x?xf32>
  return
}

// CHECK-LABEL: func.func @transpose
func.func @transpose(%x: tensor<2x4xf32>) {
  // CHECK: stablehlo.transpose %{{.*}}, dims = [1, 0] : (tensor<2x4xf32>) -> tensor<4x2xf32>
  %0 = stablehlo.transpose %x, dims = [1, 0] : (tensor<2x4xf32>) -> tensor<4x2xf32>
  return
}

// CHECK-LABEL: func.func @reverse
func.func @reverse(%x: tensor<2x4xf32>) {
  // CHECK: stablehlo.reverse %{{.*}}, dims = [1] : tensor<2x4xf32>
  %0 = stablehlo.reverse %x, dims = [1] : tensor<2x4xf32>
  return
}

// CHECK-LABEL: func.func @dimension_size
func.func @dimension_size(%x: tensor<2x4xf32>, %n: tensor<i32>) {
  // CHECK: stablehlo.get_dimension_size %{{.*}}, dim = 0 : (tensor<2x4xf32>) -> tensor<i32>
  %0 = stablehlo.get_dimension_size %x, dim = 0 : (tensor<2x4xf32>) -> tensor<i32>
  // CHECK: stablehlo.set_dimension_size %{{.*}}, %{{.*}}, dim = 0 : (tensor<2x4xf32>, tensor<i32>) -> tensor<?x4xf32, #stablehlo.bounds<2, ?>>
  %1 = stablehlo.set_dimension_size %x, %n, dim = 0 : (tensor<2x4xf32>, tensor<i32>) -> tensor<?x4xf32, #stablehlo.bounds<2, ?>>
  return
}
