// The options in a pipeline are not closed.
// RUN: sdy-opt %s '--pass-pipeline=builtin.module(sdy-basic-propagate{keep-sharding-rules=true)'

sdy.mesh @mesh = <["data"=4, "model"=2]>
func.func @main(%x: tensor<8x16xf32>) -> tensor<8x16xf32> {
  return %x : tensor<8x16xf32>
}
