// Lines that are the same, and that no change helps, are one place. What follows them has its place, too.
// RUN: sdy-opt %s --check | filecheck %s
// RUN: sdy-opt %s --check=%t.json && filecheck %s --check-prefix=JSON < %t.json

// CHECK: 1. same_lines.mlir:{{[0-9]+}} and 1 line like it: 420 B (70%) sent in 2 all_reduce along x
// CHECK: 2. same_lines.mlir:{{[0-9]+}}: 180 B (30%) sent in all_reduce along x
// JSON:  "further_lines": 1
// JSON:  "further_lines": 0
sdy.mesh @mesh = <["x"=4]>
func.func @main(
    %a: tensor<16x7xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
    %b: tensor<16x5xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
    %c: tensor<16x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
    -> (tensor<7x5xf32>, tensor<7x5xf32>, tensor<6x5xf32>) {
  %t = stablehlo.tanh %a : tensor<16x7xf32>
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [0] x [0] : (tensor<16x7xf32>, tensor<16x5xf32>) -> tensor<7x5xf32>
  %1 = stablehlo.dot_general %t, %b, contracting_dims = [0] x [0] : (tensor<16x7xf32>, tensor<16x5xf32>) -> tensor<7x5xf32>
  %2 = stablehlo.dot_general %c, %b, contracting_dims = [0] x [0] : (tensor<16x6xf32>, tensor<16x5xf32>) -> tensor<6x5xf32>
  return %0, %1, %2 : tensor<7x5xf32>, tensor<7x5xf32>, tensor<6x5xf32>
}
