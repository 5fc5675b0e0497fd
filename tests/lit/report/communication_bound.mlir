// A product is communication-bound if the collectives on its operands and of its result take longer than itself.
// RUN: sdy-opt %s --report --topology=%S/Inputs/topology.toml | filecheck %s

// CHECK: 6.00 s    75%      1  communication_bound.mlir:{{[0-9]+}}  all_gather {"x"}  communication
// CHECK: 2.05 s    25%      1  communication_bound.mlir:{{[0-9]+}}  dot_general       compute, communication-bound
// CHECK: communication  compute  where{{ +}}product{{ +}}its collectives
// CHECK:        6.00 s   2.05 s  communication_bound.mlir:{{[0-9]+}}  %1 (dot_general)  #0 all_gather
sdy.mesh @mesh = <["x"=4]>

func.func @main(%a: tensor<64x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %b: tensor<64x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<32x2xf32> {
  %0 = sdy.all_gather [{"x"}, {}] %a out_sharding=<@mesh, [{}, {}]> : tensor<64x32xf32>
  %1 = stablehlo.dot_general %0, %b, contracting_dims = [0] x [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>} : (tensor<64x32xf32>, tensor<64x2xf32>) -> tensor<32x2xf32>
  return %1 : tensor<32x2xf32>
}
