// RUN: sdy-opt %s -split-input-file -verify-diagnostics

// expected-error @+1 {{unknown stablehlo type: foo}}
func.func private @f(!stablehlo.foo)

// -----

// expected-error @+1 {{future element type must be a ranked tensor, but got 'i32'}}
func.func private @f(!stablehlo.future<i32>)

// -----

// expected-error @+1 {{Bounds length is 1, expected to be equal to rank(2) of the tensor 'tensor<4x?xf32>'}}
func.func private @f(tensor<4x?xf32, #stablehlo.bounds<8>>)

// -----

// expected-error @+1 {{Static dimension 0 cannot have a bound, use ShapedType::kDynamic to indicate a missing bound in tensor 'tensor<4x?xf32>'}}
func.func private @f(tensor<4x?xf32, #stablehlo.bounds<4, 8>>)

// -----

// expected-error @+1 {{expected integer value}}
func.func private @f(tensor<?xf32, #stablehlo.bounds<x>>)
