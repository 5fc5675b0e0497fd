// A program has no mesh.
// RUN: sdy-opt %s

func.func @main(%x: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>}) -> tensor<8x16xf32> {
  return %x : tensor<8x16xf32>
}
