// The device ids of a mesh are not as many as its devices.
// RUN: sdy-opt %s

sdy.mesh @mesh = <["data"=4, "model"=2], device_ids=[0, 2, 1]>
func.func @main(%x: tensor<8x16xf32>) -> tensor<8x16xf32> {
  return %x : tensor<8x16xf32>
}
