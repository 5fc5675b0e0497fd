// An attribute alias is mistyped.
// RUN: sdy-opt %s

#batch = #sdy.sharding<@mesh, [{"data"}, {}]>
sdy.mesh @mesh = <["data"=4, "model"=2]>
func.func @main(%x: tensor<8x16xf32> {sdy.sharding = #bacth}) -> tensor<8x16xf32> {
  return %x : tensor<8x16xf32>
}
