// RUN: sdy-opt %s --emit-bytecode -o %t.bc
// RUN: sdy-opt %t.bc | filecheck %s
// RUN: not grep -c "quant.uniform\|f8E4M3FN\|mhlo.dot" %t.bc

// Quantized types, small floats, and the attributes and types of mhlo have encodings.
// CHECK: func.func private @small(tensor<4xf8E4M3FN>, tensor<2xtf32>, tensor<2xf4E2M1FN>)
func.func private @small(tensor<4xf8E4M3FN>, tensor<2xtf32>, tensor<2xf4E2M1FN>)

// CHECK: @quantized(tensor<4x!quant.uniform<i8:f32, 2.000000e+00:15>>, tensor<2x!quant.uniform<i8<-8:7>:f32:0, {2.000000e+00,1.000000e+00:3}>>, !quant.any<i8<-8:7>:f32>, !quant.any<i8>, !quant.calibrated<f32<-0.998:1.232100e+00>>, tensor<4x8x!quant.uniform<i8:f32:{0:2, 1:4}, {{.*}}2.000000e+00, 1.000000e+00}, {3.000000e+00:1, 4.000000e+00{{.*}}
func.func private @quantized(tensor<4x!quant.uniform<i8:f32, 2.0:15>>, tensor<2x!quant.uniform<i8<-8:7>:f32:0, {2.0,1.0:3}>>, !quant.any<i8<-8:7>:f32>, !quant.any<i8>, !quant.calibrated<f32<-0.998:1.2321>>, tensor<4x8x!quant.uniform<i8:f32:{0:2, 1:4}, {{2.0, 1.0}, {3.0:1, 4.0}}>>)

// CHECK: func.func @mhlo(%arg0: tensor<4x4xf32>, %arg1: !mhlo.token, %arg2: !mhlo.async_bundle<tensor<2xi8>, tensor<i32>>)
// CHECK-NEXT: "mhlo.dot_general"(%arg0, %arg0) <{dot_dimension_numbers = #mhlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#mhlo<precision HIGH>]}>
// CHECK-NEXT: mhlo.compare LT, %0, %0, FLOAT
func.func @mhlo(%a: tensor<4x4xf32>, %b: !mhlo.token, %c: !mhlo.async_bundle<tensor<2xi8>, tensor<i32>>) {
  %0 = "mhlo.dot_general"(%a, %a) {dot_dimension_numbers = #mhlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#mhlo<precision HIGH>]} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = mhlo.compare LT, %0, %0, FLOAT : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xi1>
  return
}
