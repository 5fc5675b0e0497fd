// A sharding is written without `#sdy.sharding`.
// RUN: sdy-opt %s

sdy.mesh @mesh = <["data"=4, "model"=2]>
func.func @main(%x: tensor<8x16xf32> {sdy.sharding = <@mesh, [{"data"}, {}]>}) -> tensor<8x16xf32> {
  return %x : tensor<8x16xf32>
}
