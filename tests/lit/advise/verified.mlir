// REQUIRES: jax
// RUN: sdy-opt %s --advise --advise-verify --report-rows=1 | filecheck %s

// XLA compiles the program before and after the change, and sends less after it, too.
//
// CHECK:      1. shard weights['up'] as P(None, 'model')
// CHECK:        conflict-free: no activation is resharded
// CHECK-NEXT:   XLA for the CPU sends {{[0-9.]+}} KiB → 2.00 KiB (−{{[0-9.]+}}%), time {{[0-9.]+}} us → {{[0-9.]+}} us (−{{[0-9.]+}}%)

sdy.mesh @mesh = <["data"=4, "model"=2]>
func.func @main(
    %x: tensor<64x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>} loc("x"),
    %up: tensor<32x128xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>} loc("weights['up']"),
    %down: tensor<128x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}]>} loc("weights['down']"))
    -> tensor<64x32xf32> {
  %0 = stablehlo.dot_general %x, %up, contracting_dims = [1] x [0]
    : (tensor<64x32xf32>, tensor<32x128xf32>) -> tensor<64x128xf32>
  %1 = stablehlo.tanh %0 : tensor<64x128xf32>
  %2 = stablehlo.dot_general %1, %down, contracting_dims = [1] x [0]
    : (tensor<64x128xf32>, tensor<128x32xf32>) -> tensor<64x32xf32>
  return %2 : tensor<64x32xf32>
}
