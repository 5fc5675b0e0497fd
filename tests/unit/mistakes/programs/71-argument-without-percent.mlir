// The name of an argument has no `%`.
// RUN: sdy-opt %s

func.func @f(x: tensor<8x16xf32>) {
  return
}
