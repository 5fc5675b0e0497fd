// The options of a pass are separated by a comma.
// RUN: sdy-opt %s -sdy-basic-propagate=keep-sharding-rules=true,conservative-propagation=true

sdy.mesh @mesh = <["data"=4, "model"=2]>
func.func @main(%x: tensor<8x16xf32>) -> tensor<8x16xf32> {
  return %x : tensor<8x16xf32>
}
