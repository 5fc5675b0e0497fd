// A collective is explained as the compiler of the machine does it, and why.
// RUN: sdy-opt %s --explain='#0' --topology=tpu-v5e | filecheck %s
// CHECK: #0 all_reduce along {"d", "m"} of {{.*}}: a device sends 28.0 MiB
// CHECK: all-reduced: a reduce-scatter is of one dimension

sdy.mesh @mesh = <["d"=4, "m"=2]>

func.func @main(%x: tensor<8x512x2048xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{"d"}, {"m"}, {}]>},
    %y: tensor<8x512x4096xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{"d"}, {"m"}, {}]>})
    -> (tensor<2048x4096xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{"d"}, {"m"}]>}) {
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [0, 1] x [0, 1] : (tensor<8x512x2048xbf16>, tensor<8x512x4096xbf16>) -> tensor<2048x4096xbf16>
  return %0 : tensor<2048x4096xbf16>
}
