// A function returns another type than it declares.
// RUN: sdy-opt %s

sdy.mesh @mesh = <["data"=4, "model"=2]>
func.func @main(%x: tensor<8x16xf32>) -> tensor<16x8xf32> {
  return %x : tensor<8x16xf32>
}
