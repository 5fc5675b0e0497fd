// RUN: sdy-opt %s --report --topology=tpu-v5e:2x2 | filecheck %s --check-prefix=TPU
// RUN: sdy-opt %s --report --topology=h100:4 | filecheck %s --check-prefix=GPU

// On TPU, a slice of a replicated value looks its position up in a kernel of 1.22 us, and copies it in another.

// TPU: other operations 3.19 us
// GPU: other operations 0.00 s

sdy.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<512x512xf32>, %b: tensor<512x512xf32>) -> tensor<512x512xf32> {
  %0 = sdy.all_slice [{"x"}, {}] %a out_sharding=<@mesh, [{"x"}, {}]> : tensor<512x512xf32>
  return %0 : tensor<512x512xf32>
}
