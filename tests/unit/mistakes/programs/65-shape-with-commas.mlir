// The dimensions of a type are separated by commas.
// RUN: sdy-opt %s

func.func @f(%x: tensor<8,16xf32>) {
  return
}
