// RUN: sdy-opt %s | filecheck %s

// CHECK: @token(!stablehlo.token)
func.func private @token(!stablehlo.token)

// CHECK: @future(!stablehlo.future<tensor<4xf32>, tensor<i32>>)
func.func private @future(!stablehlo.future<tensor<4xf32>, tensor<i32>>)

// A dynamic dimension may have a bound.
// CHECK: @bounds(tensor<4x?x?xf32, #stablehlo.bounds<?, 8, ?>>)
func.func private @bounds(tensor<4x?x?xf32, #stablehlo.bounds<?, 8, ?>>)

// The older `type_extensions` syntax is parsed.
// CHECK: @long_bounds(tensor<?xf32, #stablehlo.bounds<8>>)
func.func private @long_bounds(tensor<?xf32, #stablehlo.type_extensions<bounds = [8]>>)
