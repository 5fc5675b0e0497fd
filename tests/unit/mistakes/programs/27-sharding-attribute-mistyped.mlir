// The sharding attribute of an argument is an attribute of another kind.
// RUN: sdy-opt %s

sdy.mesh @mesh = <["data"=4, "model"=2]>
func.func @main(%x: tensor<8x16xf32> {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"data"}, {}]>]>}) -> tensor<8x16xf32> {
  return %x : tensor<8x16xf32>
}
