// The label of a branch is mistyped.
// RUN: sdy-opt %s

sdy.mesh @mesh = <["data"=4, "model"=2]>
func.func @main(%x: tensor<8x16xf32>) -> tensor<8x16xf32> {
  cf.br ^exti(%x : tensor<8x16xf32>)
^exit(%y: tensor<8x16xf32>):
  return %y : tensor<8x16xf32>
}
