// The directory of the output file is a file.
// RUN: sdy-opt %s -o %s/out.mlir

sdy.mesh @mesh = <["data"=4, "model"=2]>
func.func @main(%x: tensor<8x16xf32>) -> tensor<8x16xf32> {
  return %x : tensor<8x16xf32>
}
