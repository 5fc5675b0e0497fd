// Casts of themselves are errors, and do not loop.
// RUN: not sdy-opt %s 2>&1 | filecheck %s

// CHECK: cast_errors.mlir:{{[0-9:]+}} error: operand #0 does not dominate this use
vhlo.func_v1 @f(%arg0: !vhlo.tensor_v1<4x!vhlo.f32_v1>) -> (!vhlo.tensor_v1<4x!vhlo.f32_v1>) {
  %0 = builtin.unrealized_conversion_cast %1 : tensor<2xf32> to tensor<2xf32>
  %1 = builtin.unrealized_conversion_cast %0 : tensor<2xf32> to tensor<2xf32>
  "vhlo.return_v1"(%arg0) : (!vhlo.tensor_v1<4x!vhlo.f32_v1>) -> ()
}
