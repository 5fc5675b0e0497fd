// A program with locations has a mistyped axis.
// RUN: sdy-opt %s

sdy.mesh @mesh = <["data"=4, "model"=2]>
func.func @main(%x: tensor<8x16xf32>) -> tensor<8x16xf32> {
  %0 = sdy.sharding_constraint %x <@mesh, [{"data"}, {"modle"}]> : tensor<8x16xf32> loc(#loc2)
  return %0 : tensor<8x16xf32> loc(#loc)
} loc(#loc)
#loc = loc(unknown)
#loc1 = loc("train.py":120:3)
#loc2 = loc("jit(step)/constraint"(#loc1))
