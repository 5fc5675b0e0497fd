// RUN: sdy-opt %s -split-input-file -verify-diagnostics

// expected-error @+1 {{unknown quantized type foo}}
func.func private @f(!quant.foo<i8>)

// -----

// expected-error @+1 {{illegal storage type size: 33}}
func.func private @f(!quant.uniform<i33:f32, 1.0>)

// -----

// expected-error @+1 {{illegal storage type prefix}}
func.func private @f(!quant.uniform<index:f32, 1.0>)

// -----

// expected-error @+1 {{illegal storage type minimum: -129}}
func.func private @f(!quant.uniform<i8<-129:5>:f32, 1.0>)

// -----

// expected-error @+1 {{illegal storage type maximum: 128}}
func.func private @f(!quant.uniform<i8<-12:128>:f32, 1.0>)

// -----

// expected-error @+1 {{illegal storage min and storage max: (12:5)}}
func.func private @f(!quant.uniform<i8<12:5>:f32, 1.0>)

// -----

// expected-error @+1 {{invalid kind of type specified}}
func.func private @f(!quant.uniform<i8:i32, 1.0>)

// -----

// expected-error @+1 {{scale 1.000000e+10 out of expressed type range [5.960464e-08, 6.550400e+04]}}
func.func private @f(!quant.uniform<i8:f16, 1.0e10>)

// -----

// expected-error @+1 {{illegal quantized dimension: -1}}
func.func private @f(!quant.uniform<i8:f32:-1, {1.0}>)

// -----

// expected-error @+1 {{tensor literal is invalid; ranks are not consistent between elements}}
func.func private @f(!quant.uniform<i8:f32:1, {1.0, {2.0}}>)

// -----

// expected-error @+1 {{illegal block size: 0}}
func.func private @f(!quant.uniform<i8:f32:{0:0}, {1.0}>)

// -----

// expected-error @+1 {{illegal min and max: (1.000000e+00:0.000000e+00)}}
func.func private @f(!quant.calibrated<f32<1.0:0.0>>)

// -----

// expected-error @+2 {{expected '<'}}
// expected-error @+1 {{calibrated values must be present}}
func.func private @f(!quant.calibrated<f32>)

// -----

// expected-error @+1 {{quantile LUT size (1) must equal the number of representable storage values (2)}}
func.func private @f(!quant.quantile<i1:f16, {1.0}>)
