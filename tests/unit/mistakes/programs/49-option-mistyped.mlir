// An option of a pass is mistyped.
// RUN: sdy-opt %s -sdy-basic-propagate=keep-sharding-rule=true

sdy.mesh @mesh = <["data"=4, "model"=2]>
func.func @main(%x: tensor<8x16xf32>) -> tensor<8x16xf32> {
  return %x : tensor<8x16xf32>
}
