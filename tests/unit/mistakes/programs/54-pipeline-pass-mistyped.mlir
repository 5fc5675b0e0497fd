// A pass in a pipeline is mistyped.
// RUN: sdy-opt %s '--pass-pipeline=builtin.module(sdy-basic-propagat)'

sdy.mesh @mesh = <["data"=4, "model"=2]>
func.func @main(%x: tensor<8x16xf32>) -> tensor<8x16xf32> {
  return %x : tensor<8x16xf32>
}
