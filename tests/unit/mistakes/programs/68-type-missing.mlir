// The type of the returned value is missing.
// RUN: sdy-opt %s

func.func @f(%x: tensor<8x16xf32>) -> tensor<8x16xf32> {
  return %x
}
