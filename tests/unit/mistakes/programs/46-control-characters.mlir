// A name and a comment contain escape sequences for the terminal.
// RUN: sdy-opt %s

sdy.mesh @mesh = <["data"=4, "model"=2]>
func.func @main(%x: tensor<8x16xf32>) -> tensor<8x16xf32> {
  %0 = call @"\1B[31mevil"(%x) : (tensor<8x16xf32>) -> tensor<8x16xf32> // [2J‮
  return %0 : tensor<8x16xf32>
}
