// RUN: sdy-opt %s --report --topology=tpu-v5e:2x2 | filecheck %s --check-prefix=TPU
// RUN: sdy-opt %s --report --topology=h100:4 | filecheck %s --check-prefix=GPU

// All-reduces run beside products that do not need them on GPU, and alone on TPU, where all-gathers run beside
// products. What runs alone is part of the least time. What is gathered for a product is narrowed before.

// TPU:      estimated time: 611.1 us to
// TPU-NEXT: communication 456.4 us, products 224.8 us, other operations 13.3 us
// TPU:      all_reduce {"x"} at overlap.mlir:{{[0-9]+}}, 373.0 us: nothing hides it, the compiler for TPU runs it
// TPU-NEXT: alone
// TPU-NEXT: all_gather {"x"} at overlap.mlir:{{[0-9]+}}, 83.4 us: may hide behind {{.*}} of 2 products
// GPU:      estimated time: 222.8 us to
// GPU-NEXT: communication 222.8 us
// GPU:      all_reduce {"x"} at overlap.mlir:{{[0-9]+}}, 152.8 us: may hide behind {{.*}} of 2 products
// GPU:      all_gather {"x"} at overlap.mlir:{{[0-9]+}}, 70.0 us: may hide behind {{.*}} of 2 products

sdy.mesh @mesh = <["x"=4]>
func.func @main(
    %a: tensor<2048x2048xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>},
    %b: tensor<2048x2048xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
    %c: tensor<2048x2048xf32>) -> (tensor<2048x2048xf32>, tensor<2048x2048xf32>) {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<2048x2048xf32>, tensor<2048x2048xf32>) -> tensor<2048x2048xf32>
  %1 = sdy.all_reduce {"x"} %0 out_sharding=<@mesh, [{}, {}]> : tensor<2048x2048xf32>
  %2 = sdy.all_gather [{"x"}, {}] %b out_sharding=<@mesh, [{}, {}]> : tensor<2048x2048xf32>
  %3 = stablehlo.dot_general %c, %c, contracting_dims = [1] x [0] : (tensor<2048x2048xf32>, tensor<2048x2048xf32>) -> tensor<2048x2048xf32>
  %4 = stablehlo.dot_general %3, %2, contracting_dims = [1] x [0] : (tensor<2048x2048xf32>, tensor<2048x2048xf32>) -> tensor<2048x2048xf32>
  return %1, %4 : tensor<2048x2048xf32>, tensor<2048x2048xf32>
}
