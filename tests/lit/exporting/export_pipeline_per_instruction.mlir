// RUN: sdy-opt %s "-sdy-export-pipeline=enable-per-instruction-partitioning per-instruction-partitioning-filter=tanh inline-meshes=false" | filecheck %s

// One operation is partitioned, for debugging, and the other one is left to a later partitioner.

sdy.mesh @mesh = <["x"=2]>

// CHECK-LABEL: func.func @main
// CHECK-NEXT: sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[<@mesh, [{"x"}]>] manual_axes={"x"} (%arg1: tensor<4xf32>) {
// CHECK-NEXT: stablehlo.tanh %arg1 : tensor<4xf32>
// CHECK-NEXT: sdy.return
// CHECK-NEXT: }
// CHECK-NEXT: stablehlo.negate %0 {{.*}} : tensor<8xf32>
func.func @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  %0 = stablehlo.tanh %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : tensor<8xf32>
  %1 = stablehlo.negate %0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : tensor<8xf32>
  return %1 : tensor<8xf32>
}
