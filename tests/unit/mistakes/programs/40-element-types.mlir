// The operands of an addition have different element types.
// RUN: sdy-opt %s

sdy.mesh @mesh = <["data"=4, "model"=2]>
func.func @main(%x: tensor<8x16xf32>, %y: tensor<8x16xbf16>) -> tensor<8x16xf32> {
  %0 = "stablehlo.add"(%x, %y) : (tensor<8x16xf32>, tensor<8x16xbf16>) -> tensor<8x16xf32>
  return %0 : tensor<8x16xf32>
}
