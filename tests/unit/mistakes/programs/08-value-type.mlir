// A value is used with another type than it has.
// RUN: sdy-opt %s

sdy.mesh @mesh = <["data"=4, "model"=2]>
func.func @main(%x: tensor<8x16xf32>) -> tensor<16x8xf32> {
  %0 = stablehlo.abs %x : tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}
