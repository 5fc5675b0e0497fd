// A function returns nothing although it has a result.
// RUN: sdy-opt %s

func.func @f(%x: tensor<8x16xf32>) -> tensor<8x16xf32> {
  return
}
