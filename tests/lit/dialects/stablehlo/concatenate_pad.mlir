// RUN: sdy-opt %s | filecheck %s

// CHECK-LABEL: func.func @concatenate
func.func @concatenate(%x: tensor<2x4xf32>, %y: tensor<3x4xf32>) {
  // CHECK: stablehlo.concatenate %{{.*}}, %{{.*}}, dim = 0 : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<5x4xf32>
  %0 = stablehlo.concatenate %x, %y, dim = 0 : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<5x4xf32>
  return
}

// CHECK-LABEL: func.func @pad
func.func @pad(%x: tensor<4xf32>, %v: tensor<f32>) {
  // CHECK: stablehlo.pad %{{.*}}, %{{.*}}, low = [1], high = [-2], interior = [1] : (tensor<4xf32>, tensor<f32>) -> tensor<6xf32>
  %0 = stablehlo.pad %x, %v, low = [1], high = [-2], interior = [1] : (tensor<4xf32>, tensor<f32>) -> tensor<6xf32>
  return
}

// CHECK-LABEL: func.func @dynamic_pad
func.func @dynamic_pad(%x: tensor<4xf32>, %v: tensor<f32>, %n: tensor<1xi32>) {
  // CHECK: stablehlo.dynamic_pad %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : (tensor<4xf32>, tensor<f32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<?xf32>
  %0 = stablehlo.dynamic_pad %x, %v, %n, %n, %n : (tensor<4xf32>, tensor<f32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<?xf32>
  return
}
