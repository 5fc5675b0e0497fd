// RUN: sdy-opt %s -sdy-propagation-pipeline=enable-insert-explicit-collectives=true | FileCheck %s

// The hidden layer stays sharded along "model": one all-reduce completes the second product, and there is no other
// communication.

sdy.mesh @mesh = <["data"=4, "model"=2]>

// CHECK-LABEL: func.func @layer
// CHECK-NOT:     sdy.all_gather
// CHECK:         %[[PARTIAL:.*]] = stablehlo.dot_general %{{.*}}, %arg2
// CHECK-NEXT:    sdy.all_reduce {"model"} %[[PARTIAL]]
// CHECK-NOT:     sdy.all_
func.func @layer(%x: tensor<64x256xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>},
                 %w_in: tensor<256x1024xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>},
                 %w_out: tensor<1024x256xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}]>})
    -> tensor<64x256xf32> {
  %0 = stablehlo.dot_general %x, %w_in, contracting_dims = [1] x [0]
    : (tensor<64x256xf32>, tensor<256x1024xf32>) -> tensor<64x1024xf32>
  %1 = stablehlo.tanh %0 : tensor<64x1024xf32>
  %2 = stablehlo.dot_general %1, %w_out, contracting_dims = [1] x [0]
    : (tensor<64x1024xf32>, tensor<1024x256xf32>) -> tensor<64x256xf32>
  return %2 : tensor<64x256xf32>
}
