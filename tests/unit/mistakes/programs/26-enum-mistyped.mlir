// The direction of a comparison is mistyped.
// RUN: sdy-opt %s

sdy.mesh @mesh = <["data"=4, "model"=2]>
func.func @main(%x: tensor<8x16xf32>) -> tensor<8x16xi1> {
  %0 = stablehlo.compare LTE, %x, %x : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xi1>
  return %0 : tensor<8x16xi1>
}
