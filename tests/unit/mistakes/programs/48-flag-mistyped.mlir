// A flag is mistyped.
// RUN: sdy-opt %s --mlir-print-debug-info

sdy.mesh @mesh = <["data"=4, "model"=2]>
func.func @main(%x: tensor<8x16xf32>) -> tensor<8x16xf32> {
  return %x : tensor<8x16xf32>
}
