// REQUIRES: jax
// RUN: sdy-opt %s --validate --bisect=%t/small.mlir -verify-diagnostics -o /dev/null -sdy-insert-explicit-reshards=enable-full-version=true -sdy-insert-explicit-reshards=enable-full-version=true
// RUN: filecheck %s < %t/small.mlir

// The second run of the pass adds partial products a second time. The product is the culprit: the other
// operations compute the same, so the reduced program consists of it alone, and says how to see the difference.

// CHECK: // This operation computes something else after sdy-insert-explicit-reshards:
// CHECK-NEXT: //   sdy-opt {{.*}}small.mlir --pass-pipeline='builtin.module(func.func(sdy-insert-explicit-reshards{enable-full-version=true}),func.func(sdy-insert-explicit-reshards{enable-full-version=true}))' --validate
// CHECK: sdy.mesh @mesh = <["x"=2]>
// CHECK-NEXT: func.func @main(%arg0: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}, %arg1: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>})
// CHECK-NEXT: %0 = stablehlo.dot
// CHECK-NEXT: return %0
sdy.mesh @mesh = <["x"=2]>
func.func @main(%a: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}, %b: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<8x8xf32> {
  %0 = stablehlo.negate %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"x"}]>]>} : tensor<8x16xf32>
  // expected-warning @+5 {{op 'sdy.all_reduce' is unknown to SDY sharding rule registry}}
  // expected-warning @+4 {{repeats the all-reduce along {"x"}}}
  // expected-remark @+3 {{bisected: pass 'sdy-insert-explicit-reshards' makes it differ, by this 'stablehlo.dot' op}}
  // expected-note @+2 {{shardings: (<@mesh, [{}, {"x"}]>, <@mesh, [{"x"}, {}]>) -> (<@mesh, [{}, {}]>)}}
  // CHECK-NOT: stablehlo.sine
  %1 = stablehlo.dot %0, %b {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>} : (tensor<8x16xf32>, tensor<16x8xf32>) -> tensor<8x8xf32>
  // expected-error @+2 {{result #0 of @main differs on all 2 devices}}
  // expected-note @+1 {{of the shard on device 0 is}}
  %2 = stablehlo.sine %1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>} : tensor<8x8xf32>
  return %2 : tensor<8x8xf32>
}
