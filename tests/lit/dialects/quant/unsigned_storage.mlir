// RUN: sdy-opt %s -split-input-file -verify-diagnostics | filecheck %s

// Storage may be an unsigned integer type, written `u8` or `ui8`.
// CHECK-LABEL: func.func @unsigned
// CHECK:         !quant.uniform<ui8:f32, 3.400000e+01:16>
func.func @unsigned(%a: tensor<2xf32>) -> tensor<2x!quant.uniform<ui8:f32, 34.0:16>> {
  %0 = stablehlo.uniform_quantize %a : (tensor<2xf32>) -> tensor<2x!quant.uniform<ui8:f32, 34.0:16>>
  return %0 : tensor<2x!quant.uniform<ui8:f32, 34.0:16>>
}

// -----

// StableHLO operations do not accept the signed type `si8`; the signed type is `i8`.
func.func @signed(%a: tensor<2xf32>) -> tensor<2x!quant.uniform<si8:f32, 34.0:16>> {
  // expected-error @+1 {{result #0 must be ranked tensor of per-tensor integer quantized}}
  %0 = stablehlo.uniform_quantize %a : (tensor<2xf32>) -> tensor<2x!quant.uniform<si8:f32, 34.0:16>>
  return %0 : tensor<2x!quant.uniform<si8:f32, 34.0:16>>
}
