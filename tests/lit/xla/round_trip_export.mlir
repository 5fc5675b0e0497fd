// RUN: sdy-opt %s -xla-sdy-round-trip-export-pipeline | filecheck %s
// RUN: sdy-opt %s -xla-sdy-round-trip-export-pipeline='enable-hlo-sharding-v3=true' | filecheck %s --check-prefix=V3
// RUN: sdy-opt %s -xla-sdy-round-trip-export-pipeline -xla-sdy-round-trip-import-pipeline | filecheck %s --check-prefix=BACK

// CHECK:      module attributes {mhlo.frontend_attributes = {xla.sdy.meshes = "{mesh = #sdy.mesh<[\22x\22=2]>}"}} {
// CHECK-NEXT:   sdy.mesh @mesh
// CHECK-NEXT:   func.func @main(%arg0: tensor<8xf32> {mhlo.frontend_attributes = {xla.sdy.sharding = "#sdy.sharding<@mesh, [{\22x\22}]>"}, sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>})
// CHECK-NEXT:     %cst = stablehlo.constant dense<1.000000e+00> : tensor<8xf32>
// CHECK-NEXT:     %0 = stablehlo.add %arg0, %cst {mhlo.frontend_attributes = {xla.sdy.sharding_rule = "#sdy.op_sharding_rule<([i], [i])->([i]) {i=8}>"}} : tensor<8xf32>
// CHECK-NEXT:     %1 = stablehlo.custom_call @Sharding(%0) {has_side_effect = true, mhlo.frontend_attributes = {xla.sdy.sharding = "#sdy.sharding_per_value<[<@mesh, [{}], unreduced={\22x\22}>]>"}, sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}], unreduced={"x"}>]>}
// CHECK-NEXT:     %2 = stablehlo.custom_call @xla.sdy.PropagationBarrier(%1) {mhlo.frontend_attributes = {xla.sdy.allowed_direction = "1 : i32"}}
// CHECK-NEXT:     stablehlo.custom_call @xla.sdy.ShardingGroup(%2) {has_side_effect = true, mhlo.frontend_attributes = {xla.sdy.sharding_group_id = "3 : i64"}} : (tensor<8xf32>) -> ()
// CHECK-NEXT:     %3 = stablehlo.custom_call @xla.sdy.GlobalToLocalShape(%arg0) {has_side_effect = true, mhlo.frontend_attributes = {xla.sdy.in_shardings = "#sdy.sharding_per_value<[<@mesh, [{\22x\22}]>]>", xla.sdy.manual_axes = "#sdy<manual_axes{\22x\22}>"}} : (tensor<8xf32>) -> tensor<4xf32>
// CHECK-NEXT:     %4 = call @xla.sdy.manual_computation_body(%3) {mhlo.frontend_attributes = {inlineable = "xla_late"}}
// CHECK-NEXT:     %5 = stablehlo.custom_call @xla.sdy.LocalToGlobalShape(%4)
// CHECK-NEXT:     %6 = stablehlo.custom_call @xla.sdy.FuncResultSharding(%5) {has_side_effect = true, mhlo.frontend_attributes = {xla.sdy.sharding = "#sdy.sharding_per_value<[<@mesh, [{\22x\22}]>]>"}}
// CHECK-NEXT:     return %2, %6

// V3:     func.func @main(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>})
// V3:     xla.sdy.sharding_rule
// V3-NOT: FuncResultSharding

// BACK:      module {
// BACK-NEXT:   sdy.mesh @mesh = <["x"=2]>
// BACK-NEXT:   func.func @main(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> (tensor<8xf32>, tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
// BACK-NEXT:     %0 = sdy.constant dense<1.000000e+00> : tensor<8xf32>
// BACK-NEXT:     %1 = stablehlo.add %arg0, %0 {sdy.sharding_rule = #sdy.op_sharding_rule<([i], [i])->([i]) {i=8}>} : tensor<8xf32>
// BACK-NEXT:     %2 = sdy.sharding_constraint %1 <@mesh, [{}], unreduced={"x"}> : tensor<8xf32>
// BACK-NEXT:     %3 = sdy.propagation_barrier %2 allowed_direction=FORWARD : tensor<8xf32>
// BACK-NEXT:     sdy.sharding_group %3 group_id=3 : tensor<8xf32>
// BACK-NEXT:     %4 = sdy.manual_computation(%arg0)
sdy.mesh @mesh = <["x"=2]>
func.func @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> (tensor<8xf32>, tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  %c = sdy.constant dense<1.0> : tensor<8xf32>
  %0 = stablehlo.add %a, %c {sdy.sharding_rule = #sdy.op_sharding_rule<([i], [i])->([i]) {i=8}>} : tensor<8xf32>
  %1 = sdy.sharding_constraint %0 <@mesh, [{}], unreduced={"x"}> : tensor<8xf32>
  %2 = sdy.propagation_barrier %1 allowed_direction=FORWARD : tensor<8xf32>
  sdy.sharding_group %2 group_id=3 : tensor<8xf32>
  %3 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[<@mesh, [{"x"}]>] manual_axes={"x"} (%b: tensor<4xf32>) {
    sdy.return %b : tensor<4xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %2, %3 : tensor<8xf32>, tensor<8xf32>
}
