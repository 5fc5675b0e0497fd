// RUN: sdy-opt %s | filecheck %s

// CHECK-LABEL: func.func @real_parts
func.func @real_parts(%x: tensor<4xcomplex<f32>>) {
  // CHECK: stablehlo.abs %{{.*}} : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
  %0 = stablehlo.abs %x : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
  // CHECK: stablehlo.real %{{.*}} : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
  %1 = stablehlo.real %x : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
  // CHECK: stablehlo.imag %{{.*}} : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
  %2 = stablehlo.imag %x : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
  return
}

// CHECK-LABEL: func.func @convert
func.func @convert(%x: tensor<4xf32>) {
  // CHECK: stablehlo.convert %{{.*}} : (tensor<4xf32>) -> tensor<4xi1>
  %0 = stablehlo.convert %x : (tensor<4xf32>) -> tensor<4xi1>
  // CHECK: stablehlo.convert %{{.*}} : tensor<4xf32>
  %1 = stablehlo.convert %x : tensor<4xf32>
  return
}

// CHECK-LABEL: func.func @is_finite
func.func @is_finite(%x: tensor<4xf32>) {
  // CHECK: stablehlo.is_finite %{{.*}} : (tensor<4xf32>) -> tensor<4xi1>
  %0 = stablehlo.is_finite %x : (tensor<4xf32>) -> tensor<4xi1>
  return
}

// A wide element is bitcast to several narrow ones along an extra dimension.
// CHECK-LABEL: func.func @bitcast_convert
func.func @bitcast_convert(%x: tensor<4xf32>) {
  // CHECK: stablehlo.bitcast_convert %{{.*}} : (tensor<4xf32>) -> tensor<4xi32>
  %0 = stablehlo.bitcast_convert %x : (tensor<4xf32>) -> tensor<4xi32>
  // CHECK: stablehlo.bitcast_convert %{{.*}} : (tensor<4xf32>) -> tensor<4x2xbf16>
  %1 = stablehlo.bitcast_convert %x : (tensor<4xf32>) -> tensor<4x2xbf16>
  return
}

// CHECK-LABEL: func.func @reduce_precision
func.func @reduce_precision(%x: tensor<4xf32>) {
  // CHECK: stablehlo.reduce_precision %{{.*}}, format = e5m10 : tensor<4xf32>
  %0 = stablehlo.reduce_precision %x, format = e5m10 : tensor<4xf32>
  return
}

// CHECK-LABEL: func.func @quantize
func.func @quantize(%x: tensor<4xf32>) {
  // CHECK: stablehlo.uniform_quantize %{{.*}} : (tensor<4xf32>) -> tensor<4x!quant.uniform<i8:f32, 5.000000e-01:3>>
  %0 = stablehlo.uniform_quantize %x : (tensor<4xf32>) -> tensor<4x!quant.uniform<i8:f32, 0.5:3>>
  // CHECK: stablehlo.uniform_dequantize %{{.*}} : (tensor<4x!quant.uniform<i8:f32, 5.000000e-01:3>>) -> tensor<4xf32>
  %1 = stablehlo.uniform_dequantize %0 : (tensor<4x!quant.uniform<i8:f32, 0.5:3>>) -> tensor<4xf32>
  return
}
