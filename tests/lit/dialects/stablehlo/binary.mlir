// RUN: sdy-opt %s | filecheck %s

// CHECK-LABEL: func.func @numbers
func.func @numbers(%x: tensor<4xf32>, %y: tensor<4xf32>) {
  // CHECK: stablehlo.add %{{.*}}, %{{.*}} : tensor<4xf32>
  %0 = stablehlo.add %x, %y : tensor<4xf32>
  // CHECK: stablehlo.subtract %{{.*}}, %{{.*}} : tensor<4xf32>
  %1 = stablehlo.subtract %x, %y : tensor<4xf32>
  // CHECK: stablehlo.multiply %{{.*}}, %{{.*}} : tensor<4xf32>
  %2 = stablehlo.multiply %x, %y : tensor<4xf32>
  // CHECK: stablehlo.divide %{{.*}}, %{{.*}} : tensor<4xf32>
  %3 = stablehlo.divide %x, %y : tensor<4xf32>
  // CHECK: stablehlo.remainder %{{.*}}, %{{.*}} : tensor<4xf32>
  %4 = stablehlo.remainder %x, %y : tensor<4xf32>
  // CHECK: stablehlo.power %{{.*}}, %{{.*}} : tensor<4xf32>
  %5 = stablehlo.power %x, %y : tensor<4xf32>
  // CHECK: stablehlo.maximum %{{.*}}, %{{.*}} : tensor<4xf32>
  %6 = stablehlo.maximum %x, %y : tensor<4xf32>
  // CHECK: stablehlo.minimum %{{.*}}, %{{.*}} : tensor<4xf32>
  %7 = stablehlo.minimum %x, %y : tensor<4xf32>
  // CHECK: stablehlo.atan2 %{{.*}}, %{{.*}} : tensor<4xf32>
  %8 = stablehlo.atan2 %x, %y : tensor<4xf32>
  return
}

// CHECK-LABEL: func.func @bits
func.func @bits(%x: tensor<4xi32>, %y: tensor<4xi32>) {
  // CHECK: stablehlo.and %{{.*}}, %{{.*}} : tensor<4xi32>
  %0 = stablehlo.and %x, %y : tensor<4xi32>
  // CHECK: stablehlo.or %{{.*}}, %{{.*}} : tensor<4xi32>
  %1 = stablehlo.or %x, %y : tensor<4xi32>
  // CHECK: stablehlo.xor %{{.*}}, %{{.*}} : tensor<4xi32>
  %2 = stablehlo.xor %x, %y : tensor<4xi32>
  // CHECK: stablehlo.shift_left %{{.*}}, %{{.*}} : tensor<4xi32>
  %3 = stablehlo.shift_left %x, %y : tensor<4xi32>
  // CHECK: stablehlo.shift_right_arithmetic %{{.*}}, %{{.*}} : tensor<4xi32>
  %4 = stablehlo.shift_right_arithmetic %x, %y : tensor<4xi32>
  // CHECK: stablehlo.shift_right_logical %{{.*}}, %{{.*}} : tensor<4xi32>
  %5 = stablehlo.shift_right_logical %x, %y : tensor<4xi32>
  return
}

// CHECK-LABEL: func.func @bools
func.func @bools(%x: tensor<i1>, %y: tensor<i1>) {
  // CHECK: stablehlo.and %{{.*}}, %{{.*}} : tensor<i1>
  %0 = stablehlo.and %x, %y : tensor<i1>
  return
}

// A dimension may be static in one operand and dynamic in the other.
// CHECK-LABEL: func.func @different_sizes
func.func @different_sizes(%x: tensor<4xf32>, %y: tensor<?xf32>) {
  // CHECK: stablehlo.add %{{.*}}, %{{.*}} : (tensor<4xf32>, tensor<?xf32>) -> tensor<4xf32>
  %0 = stablehlo.add %x, %y : (tensor<4xf32>, tensor<?xf32>) -> tensor<4xf32>
  return
}

// Quantized operands may have different scales.
// CHECK-LABEL: func.func @quantized
func.func @quantized(%x: tensor<4x!quant.uniform<i8:f32, 1.0>>, %y: tensor<4x!quant.uniform<i8:f32, 2.0:3>>) {
  // CHECK: stablehlo.multiply %{{.*}}, %{{.*}} : (tensor<4x!quant.uniform<i8:f32, 1.000000e+00>>, tensor<4x!quant.uniform<i8:f32, 2.000000e+00:3>>) -> tensor<4x!quant.uniform<i8:f32, 1.000000e+00>>
  %0 = stablehlo.multiply %x, %y : (tensor<4x!quant.uniform<i8:f32, 1.0>>, tensor<4x!quant.uniform<i8:f32, 2.0:3>>) -> tensor<4x!quant.uniform<i8:f32, 1.0>>
  return
}

// The operand types follow from the complex type.
// CHECK-LABEL: func.func @complex
func.func @complex(%x: tensor<4xf32>, %y: tensor<4xf32>) {
  // CHECK: stablehlo.complex %{{.*}}, %{{.*}} : tensor<4xcomplex<f32>>
  %0 = stablehlo.complex %x, %y : tensor<4xcomplex<f32>>
  // CHECK: stablehlo.complex %{{.*}}, %{{.*}} : (tensor<4xf32>, tensor<4xf32>) -> tensor<?xcomplex<f32>>
  %1 = stablehlo.complex %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<?xcomplex<f32>>
  return
}
