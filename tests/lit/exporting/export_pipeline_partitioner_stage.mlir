// RUN: sdy-opt %s -sdy-export-pipeline='partitioner-stage=resolve-permutation-factors partition-count=2' | filecheck %s --check-prefix=RESHARDS
// RUN: sdy-opt %s -sdy-export-pipeline='partitioner-stage=reshard-to-collectives partition-count=2' | filecheck %s --check-prefix=COLLECTIVES
// RUN: sdy-opt %s -sdy-export-pipeline='partitioner-stage=pad-for-divisibility partition-count=2' | filecheck %s --check-prefix=PADDED
// RUN: sdy-opt %s -sdy-export-pipeline='partitioner-stage=resolve-single-device-sharding partition-count=2' | filecheck %s --check-prefix=ONE-DEVICE
// RUN: sdy-opt %s -sdy-export-pipeline='partitioner-stage=convert-global-to-local partition-count=2' | filecheck %s --check-prefix=LOCAL
// RUN: sdy-opt %s -sdy-export-pipeline | filecheck %s --check-prefix=UNSPECIFIED
// RUN: sdy-opt %s -sdy-export-pipeline=partitioner-stage=convert-global-to-local --dump-pass-pipeline 2>&1 | filecheck %s --check-prefix=PASSES
// RUN: sdy-opt %s -sdy-export-pipeline='avoid-export-for-partitioning=true partitioner-stage=convert-global-to-local' | filecheck %s --check-prefix=AVOIDED
// RUN: not sdy-opt %s -sdy-export-pipeline=partitioner-stage=convert-global-to-local --sdy-version=jaxlib-0.11.2 2>&1 | filecheck %s --check-prefix=OLDER

// OLDER: <Pass-Options-Parser>: no such option partitioner-stage
// OLDER: help: the option came with jaxlib-0.12.0.1; change --sdy-version

// PASSES:      func.func(sdy-insert-explicit-reshards{enable-full-version=true mark-partial-result-with-unreduced-axes=true}),
// PASSES-SAME: canonicalize{{{[^}]*}} enable-patterns={sdy-reshard} {{[^}]*}}},
// PASSES-SAME: sdy-resolve-permutation-factors{{{[^}]*}}},
// PASSES-SAME: func.func(sdy-reshard-to-collectives{keep-redundant-reshards=false}),
// PASSES-SAME: func.func(sdy-optimize-collectives),
// PASSES-SAME: canonicalize{{{[^}]*}} enable-patterns={sdy-collective} {{[^}]*}}},
// PASSES-SAME: sdy-pad-for-divisibility,
// PASSES-SAME: func.func(sdy-resolve-single-device-sharding{{{[^}]*}}}),
// PASSES-SAME: sdy-convert-global-to-local{{{[^}]*}}},
// PASSES-SAME: sdy-drop-sharding-and-mesh{keep-module-sharding-metadata=true},
// PASSES-SAME: canonicalize{{{[^}]*}} enable-patterns={sdy-collective} {{[^}]*}}},

sdy.mesh @mesh = <["x"=2]>
sdy.mesh @first_device = <[], device_ids=[0]>

// Without a stage, and where the export for partitioners is to be avoided, the program is not partitioned.
// UNSPECIFIED:      %0 = stablehlo.sine %arg0
// UNSPECIFIED-NEXT: %1 = "stablehlo.sort"(%0)
// AVOIDED:          %0 = stablehlo.sine %arg0
// AVOIDED-NEXT:     %1 = "stablehlo.sort"(%0)

// A stage is the last of these passes that runs. First, an operation that would need other shards gets the tensor.
// RESHARDS:      %0 = sdy.reshard %arg0 <mesh<["x"=2]>, [{"x"}]> : tensor<7xf32>
// RESHARDS-NEXT: %1 = stablehlo.sine %0
// RESHARDS-NEXT: %2 = sdy.reshard %1 <mesh<["x"=2]>, [{}]> : tensor<7xf32>
// RESHARDS-NEXT: %3 = "stablehlo.sort"(%2)

// Then reshards become collectives, but for those from and to a single device.
// COLLECTIVES:      %0 = sdy.all_slice [{"x"}] %arg0 out_sharding=<mesh<["x"=2]>, [{"x"}]> : tensor<7xf32>
// COLLECTIVES-NEXT: %1 = stablehlo.sine %0
// COLLECTIVES-NEXT: %2 = sdy.all_gather [{"x"}] %1 out_sharding=<mesh<["x"=2]>, [{}]> : tensor<7xf32>
// COLLECTIVES-NEXT: %3 = "stablehlo.sort"(%2)
// COLLECTIVES:      %4 = sdy.reshard %arg1 <mesh<[], device_ids=[0]>, []> : tensor<8xf32>

// The sine of 7 elements is computed in two shards of 4.
// PADDED:      %0 = stablehlo.pad %arg0, %cst, low = [0], high = [1], interior = [0]
// PADDED-NEXT: %1 = sdy.all_slice [{"x"}] %0
// PADDED-NEXT: %2 = stablehlo.sine %1 {{{.*}}} : tensor<8xf32>
// PADDED-NEXT: %3 = sdy.all_gather [{"x"}] %2
// PADDED-NEXT: %4 = stablehlo.slice %3 [0:7]
// PADDED:      sdy.reshard %arg1 <mesh<[], device_ids=[0]>, []> : tensor<8xf32>

// The first device computes the cosine.
// ONE-DEVICE:      %[[ID:.*]] = stablehlo.partition_id
// ONE-DEVICE:      %[[COSINE:.*]] = "stablehlo.if"(
// ONE-DEVICE-NEXT:   stablehlo.cosine %arg1 : tensor<8xf32>
// ONE-DEVICE:      sdy.all_reduce {"x"} %[[COSINE]] out_sharding=<mesh<["x"=2]>, [{}]> : tensor<8xf32>

// Last, the program of one device. Shardings and meshes are dropped; for runtimes, the module keeps those of the
// arguments and results of `@main`.
// LOCAL:      module attributes {sdy.output_shardings = #sdy.sharding_per_value<[<mesh<["x"=2]>, [{}]>, <mesh<["x"=2]>, [{}]>]>, sdy.parameters_shardings = {{.*}}} {
// LOCAL-NEXT:   func.func @main(%arg0: tensor<7xf32>, %arg1: tensor<8xf32>) -> (tensor<7xf32>, tensor<8xf32>) {
// LOCAL:          %[[SINE:.*]] = stablehlo.sine %{{.*}} : tensor<4xf32>
// LOCAL-NEXT:     %[[GATHERED:.*]] = "stablehlo.all_gather"(%[[SINE]])
// LOCAL-NEXT:     %[[SLICE:.*]] = stablehlo.slice %[[GATHERED]] [0:7] : (tensor<8xf32>) -> tensor<7xf32>
// LOCAL-NEXT:     "stablehlo.sort"(%[[SLICE]])
func.func @main(%a: tensor<7xf32>, %b: tensor<8xf32>) -> (tensor<7xf32>, tensor<8xf32>) {
  %0 = stablehlo.sine %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : tensor<7xf32>
  %1 = "stablehlo.sort"(%0) <{dimension = 0 : i64}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %less = stablehlo.compare LT, %x, %y : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %less : tensor<i1>
  }) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : (tensor<7xf32>) -> tensor<7xf32>
  %2 = stablehlo.cosine %b {sdy.sharding = #sdy.sharding_per_value<[<@first_device, []>]>} : tensor<8xf32>
  return %1, %2 : tensor<7xf32>, tensor<8xf32>
}
