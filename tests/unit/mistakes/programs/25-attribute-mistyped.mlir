// The name of a required attribute is mistyped.
// RUN: sdy-opt %s

sdy.mesh @mesh = <["data"=4, "model"=2]>
func.func @main(%x: tensor<8x16xf32>) -> tensor<16x8xf32> {
  %0 = "stablehlo.transpose"(%x) {permuttion = array<i64: 1, 0>} : (tensor<8x16xf32>) -> tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}
