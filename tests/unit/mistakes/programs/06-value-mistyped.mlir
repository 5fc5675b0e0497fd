// An operand is mistyped.
// RUN: sdy-opt %s

sdy.mesh @mesh = <["data"=4, "model"=2]>
func.func @main(%x: tensor<8x16xf32>) -> tensor<8x16xf32> {
  %sum = stablehlo.add %x, %x : tensor<8x16xf32>
  %1 = stablehlo.abs %smu : tensor<8x16xf32>
  return %1 : tensor<8x16xf32>
}
