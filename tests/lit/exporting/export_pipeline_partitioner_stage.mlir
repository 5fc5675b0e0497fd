// RUN: sdy-opt %s -sdy-export-pipeline=partitioner-stage=convert-global-to-local | filecheck %s
// RUN: sdy-opt %s -sdy-export-pipeline=partitioner-stage=resolve-permutation-factors | filecheck %s --check-prefix=RESHARDS
// RUN: sdy-opt %s -sdy-export-pipeline=partitioner-stage=pad-for-divisibility | filecheck %s --check-prefix=COLLECTIVES
// RUN: sdy-opt %s -sdy-export-pipeline | filecheck %s --check-prefix=UNSPECIFIED
// RUN: not sdy-opt %s -sdy-export-pipeline=partitioner-stage=convert-global-to-local --sdy-version=jaxlib-0.11.2 2>&1 | filecheck %s --check-prefix=OLDER

// OLDER: <Pass-Options-Parser>: no such option partitioner-stage
// OLDER: help: the option came with jaxlib-0.12.0.1; change --sdy-version

sdy.mesh @mesh = <["x"=2]>

// A stage is the last pass that runs. The final one is the program of one device.
// CHECK-LABEL: func.func @gather(%arg0: tensor<4xf32>) -> tensor<8xf32>
// CHECK-NEXT:    %0 = stablehlo.sine %arg0 : tensor<4xf32>
// CHECK-NEXT:    %1 = "stablehlo.all_gather"(%0) <{all_gather_dim = 0 : i64, {{.*}}}> : (tensor<4xf32>) -> tensor<8xf32>
// CHECK-NEXT:    return %1 : tensor<8xf32>
// RESHARDS-LABEL: func.func @gather(
// RESHARDS:         sdy.reshard
// COLLECTIVES-LABEL: func.func @gather(
// COLLECTIVES:         sdy.all_gather
// UNSPECIFIED-LABEL: func.func @gather(
// UNSPECIFIED-NOT:     sdy.reshard
// UNSPECIFIED-NOT:     sdy.all_gather
func.func @gather(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<8xf32> {
  %0 = stablehlo.sine %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : tensor<8xf32>
  return %0 : tensor<8xf32>
}
