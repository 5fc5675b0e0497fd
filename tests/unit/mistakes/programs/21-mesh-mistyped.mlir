// The name of a mesh is mistyped.
// RUN: sdy-opt %s

sdy.mesh @mesh = <["data"=4, "model"=2]>
func.func @main(%x: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mehs, [{"data"}, {}]>}) -> tensor<8x16xf32> {
  return %x : tensor<8x16xf32>
}
