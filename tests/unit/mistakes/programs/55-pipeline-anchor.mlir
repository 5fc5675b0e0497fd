// A pass pipeline starts with another operation than the program.
// RUN: sdy-opt %s '--pass-pipeline=func.func(canonicalize)'

sdy.mesh @mesh = <["data"=4, "model"=2]>
func.func @main(%x: tensor<8x16xf32>) -> tensor<8x16xf32> {
  return %x : tensor<8x16xf32>
}
