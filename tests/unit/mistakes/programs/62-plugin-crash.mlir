// A pass of a plugin raises an exception.
// RUN: sdy-opt %s --load-pass-plugin=broken -broken-count

sdy.mesh @mesh = <["data"=4, "model"=2]>
func.func @main(%x: tensor<8x16xf32>) -> tensor<8x16xf32> {
  return %x : tensor<8x16xf32>
}
