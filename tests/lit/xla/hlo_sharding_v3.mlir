// RUN: sdy-opt %s -xla-sdy-round-trip-import-pipeline='enable-hlo-sharding-v3=true' | filecheck %s --check-prefix=IMPORT
// RUN: sdy-opt %s -xla-sdy-round-trip-import-pipeline='enable-hlo-sharding-v3=true' -xla-sdy-stablehlo-export-pipeline='enable-hlo-sharding-v3=true' | filecheck %s --check-prefix=EXPORT
// RUN: sdy-opt %s -xla-sdy-round-trip-import-pipeline='enable-hlo-sharding-v3=true' -xla-sdy-stablehlo-export-pipeline | filecheck %s --check-prefix=DEVICES
// RUN: sdy-opt %s -xla-sdy-round-trip-import-pipeline='enable-hlo-sharding-v3=true' -xla-sdy-stablehlo-export-pipeline='keep-hlo-sharding-constraints=true' | filecheck %s --check-prefix=CALLS

// Shardings by mesh axes. Other operations than custom calls of @Sharding lose theirs. A computation is manual
// along the axes of the values in it, and replicated along those of them that a sharding does not mention.
// IMPORT:      sdy.mesh @mesh = <["x"=2, "y"=4]>
// IMPORT-NEXT: sdy.mesh @single_device_3 = <[], device_ids=[3]>
// IMPORT-NEXT: func.func @main(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y":(1)2}, {?}], replicated={"y":(2)2}>},
// IMPORT-SAME:     %arg1: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}, %arg2: tensor<8xf32>)
// IMPORT-NEXT:   %0 = sdy.sharding_constraint %arg0 <@mesh, [{"x"}, {}]> : tensor<8x8xf32>
// IMPORT-NEXT:   %1 = stablehlo.add %0, %0 : tensor<8x8xf32>
// IMPORT-NEXT:   %2 = stablehlo.custom_call @xla_ffi_python_cpu_callback(%arg1) {sdy.sharding = #sdy.sharding_per_value<[<@single_device_3, []>]>}
// IMPORT-NEXT:   %3:2 = sdy.manual_computation(%arg0, %2) in_shardings=[<@mesh, [{"x", ?}, {?}]>, <@mesh, [{?}], replicated={"x"}>]
// IMPORT-SAME:       out_shardings=[<@mesh, [{"x"}, {}]>, <@mesh, [{}], replicated={"x"}>] manual_axes={"x"}
// IMPORT:        return %1, %3#0, %3#1

// EXPORT:      func.func @main(%arg0: tensor<8x8xf32> {mhlo.sharding = "{mesh['x'=2,'y'=4], [{'x', 'y':(1)2}, {?}], replicated={'y':(2)2}}"},
// EXPORT-SAME:     %arg1: tensor<8xf32> {mhlo.sharding = "{mesh[], replicated}"}
// EXPORT-NEXT:   %0 = mhlo.copy %arg0 {mhlo.sharding = "{mesh['x'=2,'y'=4], [{'x'}, {}]}"} : tensor<8x8xf32>
// EXPORT-NEXT:   %1 = stablehlo.add %0, %0 : tensor<8x8xf32>
// EXPORT-NEXT:   %2 = stablehlo.custom_call @xla_ffi_python_cpu_callback(%arg1) {mhlo.sharding = "{single_device[device_id=3]}"} : (tensor<8xf32>) -> tuple<tensor<8xf32>>
// EXPORT-NEXT:   %3 = stablehlo.get_tuple_element %2[0] {mhlo.sharding = "{single_device[device_id=3]}"}
// EXPORT-NEXT:   %4 = mhlo.copy %arg0 {mhlo.sharding = "{mesh['x'=2,'y'=4], [{'x', ?}, {?}]}"}
// EXPORT-NEXT:   %5 = stablehlo.custom_call @SPMDFullToShardShape(%4) {mhlo.sharding = "{mesh['x'=2,'y'=4], [{?}, {?}], manual={'x'}}"}
// EXPORT-NEXT:   %6 = mhlo.copy %3
// EXPORT-NEXT:   %7 = stablehlo.custom_call @SPMDFullToShardShape(%6)
// EXPORT-NEXT:   %8:2 = call @xla.sdy.inlinable_manual_computation_body(%5, %7) {mhlo.sharding = "{{[{][{]}}mesh['x'=2,'y'=4], [{}, {}], manual={'x'}}, {mesh['x'=2,'y'=4], [{}], manual={'x'}{{[}][}]}}"}
// EXPORT:        %10 = stablehlo.custom_call @SPMDShardToFullShape(%9) {mhlo.sharding = "{mesh['x'=2,'y'=4], [{'x'}, {}]}"}
// EXPORT:      func.func private @xla.sdy.inlinable_manual_computation_body(%arg0: tensor<4x8xf32> {mhlo.sharding = "{mesh['x'=2,'y'=4], [{?}, {?}], manual={'x'}}"},
// EXPORT-NEXT:   %0 = stablehlo.negate %arg0 {mhlo.sharding = "{mesh['x'=2,'y'=4], [{}, {}], manual={'x'}}"}

// DEVICES:      func.func @main(%arg0: tensor<8x8xf32> {mhlo.sharding = "{devices=[4,1,2]<=[8] last_tile_dim_replicate}"},
// DEVICES-SAME:     %arg1: tensor<8xf32> {mhlo.sharding = "{replicated}"}
// DEVICES-NEXT:   %0 = mhlo.copy %arg0 {mhlo.sharding = "{devices=[2,1,4]<=[8] last_tile_dim_replicate}"}
// DEVICES:        @SPMDFullToShardShape{{.*}} {mhlo.sharding = "{devices=[1,1,2,4]<=[8] last_tile_dims={manual, replicated}}"}

// CALLS: %0 = stablehlo.custom_call @Sharding(%arg0) {mhlo.sharding = "{devices=[2,1,4]<=[8] last_tile_dim_replicate}"}
func.func private @xla.sdy.manual_computation_body(%a: tensor<4x8xf32>, %b: tensor<8xf32>) -> (tensor<4x8xf32>, tensor<8xf32>) {
  %0 = stablehlo.negate %a {mhlo.sharding = "{replicated}"} : tensor<4x8xf32>
  return %0, %b : tensor<4x8xf32>, tensor<8xf32>
}
func.func @main(%a: tensor<8x8xf32> {mhlo.sharding = "{mesh['x'=2,'y'=4], [{'x', 'y':(1)2}, {?}], replicated={'y':(2)2}}"}, %b: tensor<8xf32> {mhlo.sharding = "{mesh['x'=2,'y'=4], replicated}"}, %c: tensor<8xf32> {mhlo.sharding = "{replicated}"}) -> (tensor<8x8xf32>, tensor<8x8xf32>, tensor<8xf32>) {
  %0 = stablehlo.custom_call @Sharding(%a) {mhlo.sharding = "{mesh['x'=2,'y'=4], [{'x'}, {}]}"} : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = stablehlo.add %0, %0 {mhlo.sharding = "{mesh['x'=2,'y'=4], [{'y'}, {}]}"} : tensor<8x8xf32>
  %2 = stablehlo.custom_call @xla_ffi_python_cpu_callback(%b) {mhlo.sharding = "{single_device[device_id=3]}"} : (tensor<8xf32>) -> tensor<8xf32>
  %3 = stablehlo.custom_call @Sharding(%a) {has_side_effect = true, mhlo.sharding = "{mesh['x'=2,'y'=4], [{'x', ?}, {?}]}"} : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %4 = stablehlo.custom_call @Sharding(%2) {has_side_effect = true, mhlo.sharding = "{mesh['x'=2,'y'=4], [{?}]}"} : (tensor<8xf32>) -> tensor<8xf32>
  %5 = stablehlo.custom_call @xla.sdy.GlobalToLocalShape(%3, %4) {has_side_effect = true, mhlo.sharding = "{{mesh['x'=2,'y'=4], [{?}, {?}], manual={'x'}}, {mesh['x'=2,'y'=4], [{?}], manual={'x'}}}"} : (tensor<8x8xf32>, tensor<8xf32>) -> tuple<tensor<4x8xf32>, tensor<8xf32>>
  %6 = stablehlo.get_tuple_element %5[0] : (tuple<tensor<4x8xf32>, tensor<8xf32>>) -> tensor<4x8xf32>
  %7 = stablehlo.get_tuple_element %5[1] : (tuple<tensor<4x8xf32>, tensor<8xf32>>) -> tensor<8xf32>
  %8:2 = call @xla.sdy.manual_computation_body(%6, %7) {mhlo.sharding = "{{mesh['x'=2,'y'=4], [{}, {}], manual={'x'}}, {mesh['x'=2,'y'=4], [{}], manual={'x'}}}"} : (tensor<4x8xf32>, tensor<8xf32>) -> (tensor<4x8xf32>, tensor<8xf32>)
  %9:2 = stablehlo.custom_call @xla.sdy.LocalToGlobalShape(%8#0, %8#1) {has_side_effect = true, mhlo.sharding = "{{mesh['x'=2,'y'=4], [{'x'}, {}]}, {mesh['x'=2,'y'=4], [{}]}}"} : (tensor<4x8xf32>, tensor<8xf32>) -> (tensor<8x8xf32>, tensor<8xf32>)
  return %1, %9#0, %9#1 : tensor<8x8xf32>, tensor<8x8xf32>, tensor<8xf32>
}
