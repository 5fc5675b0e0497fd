// An operation in generic form has fewer operand types than operands.
// RUN: sdy-opt %s

func.func @f(%x: tensor<8x16xf32>) {
  %0 = "stablehlo.add"(%x, %x) : (tensor<8x16xf32>) -> tensor<8x16xf32>
  return
}
