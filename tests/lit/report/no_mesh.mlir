// A program without a mesh runs on one device. This one has a product and no collective.
// RUN: sdy-opt %s --report | filecheck %s

// CHECK:      {{^}}1 device, no mesh{{$}}
// CHECK:      {{^}}communication: 0 B on the wire per device, 0 collectives{{$}}
// CHECK-NOT:  ring model
// CHECK:      memory per device
// CHECK:        arguments 640 B, results 256 B, constants 0 B
// CHECK:      in 1 product, 100% of them useful
func.func @main(%x: tensor<4x8xf32>, %y: tensor<8x16xf32>) -> tensor<4x16xf32> {
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
  return %0 : tensor<4x16xf32>
}
