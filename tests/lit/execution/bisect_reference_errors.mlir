// REQUIRES: jax && reference
// RUN: sdy-opt %s --validate --bisect=%t/small.mlir --reference-python -verify-diagnostics -o /dev/null -sdy-insert-explicit-reshards=enable-full-version=true -sdy-reshard-to-collectives -sdy-convert-global-to-local
// RUN: filecheck %s < %t/small.mlir

// Each device starts its sum with the initial value, and the C++ passes add these sums.

// CHECK: // This operation computes something else after sdy-convert-global-to-local:
// CHECK: %0 = stablehlo.reduce(%arg0 init: %arg1) applies stablehlo.add across dimensions = [0]
// CHECK-NEXT: return %0
sdy.mesh @mesh = <["x"=2]>
func.func @main(%a: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, tensor<4xf32>) {
  %one = stablehlo.constant dense<1.0> : tensor<f32>
  %0 = stablehlo.negate %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : tensor<8x4xf32>
  // expected-error @+4 {{result #1 of @main differs on all 2 devices}}
  // expected-note @+3 {{of the shard on device 0 is}}
  // expected-remark @+2 {{bisected: pass 'sdy-convert-global-to-local' makes it differ, by this 'stablehlo.reduce' op}}
  // expected-note @+1 {{shardings: (<@mesh, [{"x"}, {}]>, none) -> (none)}}
  %1 = stablehlo.reduce(%0 init: %one) applies stablehlo.add across dimensions = [0] : (tensor<8x4xf32>, tensor<f32>) -> tensor<4xf32>
  return %0, %1 : tensor<8x4xf32>, tensor<4xf32>
}
