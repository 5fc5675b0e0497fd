// A boolean is written as in Python.
// RUN: sdy-opt %s

sdy.mesh @mesh = <["data"=4, "model"=2]>
func.func @main(%x: tensor<8x16xf32> {jax.buffer_donor = True}) -> tensor<8x16xf32> {
  return %x : tensor<8x16xf32>
}
