// An all-gather does not produce the sharding that it declares.
// RUN: sdy-opt %s

sdy.mesh @mesh = <["data"=4, "model"=2]>
func.func @main(%x: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>}) -> tensor<8x16xf32> {
  %0 = sdy.all_gather [{"data"}, {}] %x out_sharding=<@mesh, [{"data"}, {}]> : tensor<8x16xf32>
  return %0 : tensor<8x16xf32>
}
