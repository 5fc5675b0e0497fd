// A plugin is not installed.
// RUN: sdy-opt %s --load-pass-plugin=my-passes

sdy.mesh @mesh = <["data"=4, "model"=2]>
func.func @main(%x: tensor<8x16xf32>) -> tensor<8x16xf32> {
  return %x : tensor<8x16xf32>
}
