// RUN: sdy-opt %s --load-plugin=%S/fragments.py --report | filecheck %s

sdy.mesh @mesh = <["x"=2]>

// What is in a loop of a plugin counts as often as it runs, and takes memory.
// CHECK:      communication: 2.00 KiB on the wire per device, 1 collective
// CHECK:      memory per device: peak
// CHECK:      compute per device: 16.4 kFLOP in 1 product
func.func @main(%x: tensor<16x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}) -> tensor<16x16xf32> {
  %0 = fragments.for(%x) iterations = 4 {
  ^bb0(%a: tensor<16x16xf32>):
    %1 = stablehlo.dot_general %a, %a, contracting_dims = [1] x [1] : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
    %2 = sdy.sharding_constraint %1 <@mesh, [{}, {}]> : tensor<16x16xf32>
    fragments.return %2 : tensor<16x16xf32>
  } : (tensor<16x16xf32>) -> tensor<16x16xf32>
  return %0 : tensor<16x16xf32>
}
