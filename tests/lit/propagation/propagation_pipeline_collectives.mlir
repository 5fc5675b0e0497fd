// RUN: mkdir -p %t
// RUN: sdy-opt %s -sdy-propagation-pipeline='dump-directory=%t enable-insert-explicit-collectives=true' | filecheck %s
// RUN: filecheck %s --check-prefix=BEFORE --input-file %t/01.before_propagation.mlir
// RUN: filecheck %s --check-prefix=PROPAGATED --input-file %t/02.after_propagation.mlir
// RUN: filecheck %s --check-prefix=RESHARDS --input-file %t/03.after_explicit_reshards.mlir
// RUN: filecheck %s --check-prefix=COLLECTIVES --input-file %t/04.after_partitioner_passes.mlir

sdy.mesh @mesh = <["x"=2]>

// A dot with a sharded contracting dimension and a sharded result: the dumped files show the all-reduce and the
// reshard, which are combined to a reduce-scatter.
// BEFORE:          stablehlo.dot %arg0, %arg1 :
// PROPAGATED:      stablehlo.dot %arg0, %arg1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>
// PROPAGATED-NOT:  sdy.all_reduce
// RESHARDS:        sdy.all_reduce {"x"} {{.*}} out_sharding=<@mesh, [{}, {}]>
// RESHARDS-NEXT:   sdy.reshard {{.*}} <@mesh, [{"x"}, {}]>
// COLLECTIVES-NOT: sdy.reshard
// COLLECTIVES:     sdy.reduce_scatter [{"x"}, {}] {{.*}} out_sharding=<@mesh, [{"x"}, {}]>
// CHECK-NOT:       sdy.reshard
// CHECK:           sdy.reduce_scatter [{"x"}, {}] {{.*}} out_sharding=<@mesh, [{"x"}, {}]>
func.func @main(%a: tensor<8x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}, %b: tensor<32x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  %0 = stablehlo.dot %a, %b : (tensor<8x32xf32>, tensor<32x16xf32>) -> tensor<8x16xf32>
  return %0 : tensor<8x16xf32>
}
