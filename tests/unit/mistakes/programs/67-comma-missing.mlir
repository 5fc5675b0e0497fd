// The operands are not separated by a comma.
// RUN: sdy-opt %s

func.func @f(%x: tensor<8x16xf32>) {
  %0 = stablehlo.add %x %x : tensor<8x16xf32>
  return
}
