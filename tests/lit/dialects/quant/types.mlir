// RUN: sdy-opt %s | filecheck %s

// CHECK: @per_tensor(tensor<4x!quant.uniform<i8:f32, 1.000000e+00>>)
func.func private @per_tensor(tensor<4x!quant.uniform<i8:f32, 1.0>>)

// CHECK: @zero(!quant.uniform<u8:f32, 5.000000e-01:128>)
func.func private @zero(!quant.uniform<u8:f32, 0.5:128>)

// The storage range is printed unless it is the default.
// CHECK: @limits(!quant.uniform<i8<-127:127>:f32, 5.000000e-01>, !quant.uniform<i8:f32, 5.000000e-01>)
func.func private @limits(!quant.uniform<i8<-127:127>:f32, 0.5>, !quant.uniform<i8<-128:127>:f32, 0.5>)

// CHECK: @per_axis(!quant.uniform<i8:bf16:1, {1.000000e+00:1,2.000000e+00,3.000000e+00:-3}>)
func.func private @per_axis(!quant.uniform<i8:bf16:1, {1.0:1, 2.0, 3.0:-3}>)

// Scales of blocks are stored in the expressed type.
// CHECK: @sub_channel(!quant.uniform<i8:bf16:{0:2, 1:4}, {{.*}}1.000980e-01:1, 2.000000e+00}, {3.000000e+00:-3, 4.000000e+00{{.*}}>)
func.func private @sub_channel(!quant.uniform<i8:bf16:{0:2, 1:4}, {{0.1:1, 2.0}, {3.0:-3, 4.0}}>)

// CHECK: @any(!quant.any<i8<-8:7>:f32>, !quant.any<u4>)
func.func private @any(!quant.any<i8<-8:7>:f32>, !quant.any<u4>)

// CHECK: @calibrated(!quant.calibrated<f32<-5.000000e-01:1.500000e+00>>)
func.func private @calibrated(!quant.calibrated<f32<-0.5:1.5>>)

// CHECK: @quantile(!quant.quantile<i1:f16, {-1.000000e+00,1.000000e+00}>, !quant.quantile<i2:f16, {-1.000000e+00,1.000000e+00}, <0:1>>)
func.func private @quantile(!quant.quantile<i1:f16, {-1.0, 1.0}>, !quant.quantile<i2:f16, {-1.0, 1.0}, <0:1>>)
