// RUN: sdy-opt %s -xla-sdy-stablehlo-import-pipeline -split-input-file | filecheck %s
// RUN: sdy-opt %s -sdy-import-hlo-shardings -split-input-file | filecheck %s

// The mesh has the axes that all shardings have in common; of a transposed order, too.
// CHECK-LABEL: module @gspmd
// CHECK-NEXT:    sdy.mesh @mesh = <["_axis_0"=2, "_axis_1"=2, "_axis_2"=2]>
// CHECK-NEXT:    sdy.mesh @maximal_mesh_5 = <[], device_ids=[5]>
// CHECK-NEXT:    func.func @main(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"_axis_0", "_axis_1"}, {"_axis_2"}]>},
// CHECK-SAME:        %arg1: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"_axis_1", "_axis_2"}, {}]>},
// CHECK-SAME:        %arg2: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"_axis_0", "_axis_1", "_axis_2"}]>},
// CHECK-SAME:        %arg3: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {?}]>},
// CHECK-SAME:        %arg4: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"_axis_0"}, {}], unreduced={"_axis_1"}>})
// CHECK-SAME:        -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) {
// CHECK-NEXT:      %0:2 = stablehlo.custom_call @f(%arg0) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"_axis_0"}, {}]>, <@maximal_mesh_5, []>]>}
// CHECK-NEXT:      %1 = sdy.sharding_constraint %0#0 <@mesh, [{"_axis_0", "_axis_1"}, {?}]> : tensor<8x8xf32>
module @gspmd {
  func.func @main(%a: tensor<8x8xf32> {mhlo.sharding = "{devices=[4,2]<=[8]}"},
                  %b: tensor<8x8xf32> {mhlo.sharding = "{devices=[4,1,2]<=[2,4]T(1,0) last_tile_dim_replicate}"},
                  %c: tensor<8x8xf32> {mhlo.sharding = "{devices=[1,8]0,1,2,3,4,5,6,7}"},
                  %d: tensor<8x8xf32> {mhlo.sharding = "{unknown}"},
                  %e: tensor<8x8xf32> {mhlo.sharding = "{devices=[2,1,2,2]<=[8] last_tile_dims={unreduced, replicated}}"})
      -> (tensor<8x8xf32> {mhlo.sharding = "{replicated}"}) {
    %0:2 = stablehlo.custom_call @f(%a) {mhlo.sharding = "{{devices=[2,1,4]<=[8] last_tile_dim_replicate}, {maximal device=5}}"} : (tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>)
    %1 = stablehlo.custom_call @Sharding(%0#0) {backend_config = "unspecified_dims=[1]", mhlo.sharding = "{devices=[4,1,2]<=[8] last_tile_dim_replicate}"} : (tensor<8x8xf32>) -> tensor<8x8xf32>
    return %1 : tensor<8x8xf32>
  }
}
