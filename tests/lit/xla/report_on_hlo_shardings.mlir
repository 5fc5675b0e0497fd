// RUN: sdy-opt %s --report | filecheck %s
// RUN: sdy-opt %s -sdy-jax-pipeline | filecheck %s --check-prefix=PIPELINE
// RUN: sdy-opt %s -sdy-basic-propagate 2>&1 | filecheck %s --check-prefix=BARE

// A program with the shardings of GSPMD is imported before it is reported on; bare passes warn.
// CHECK:      8 devices, mesh <["_axis_0"=4, "_axis_1"=2]>
// CHECK-NEXT: assumed: sdy-jax-pipeline, which imports shardings by xla-sdy-stablehlo-import-pipeline
// CHECK:      all_reduce {"_axis_1"}
// PIPELINE: sdy.all_reduce {"_axis_1"}
// BARE: warning: the program has shardings of HLO only (`mhlo.sharding`), which do not propagate
// BARE: help: import them before, with -xla-sdy-stablehlo-import-pipeline
func.func @main(%a: tensor<64x128xf32> {mhlo.sharding = "{devices=[4,2]<=[8]}"}, %b: tensor<128x32xf32> {mhlo.sharding = "{devices=[2,1,4]<=[4,2]T(1,0) last_tile_dim_replicate}"}) -> tensor<64x32xf32> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<64x128xf32>, tensor<128x32xf32>) -> tensor<64x32xf32>
  return %0 : tensor<64x32xf32>
}
