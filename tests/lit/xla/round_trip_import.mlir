// RUN: sdy-opt %s -xla-sdy-round-trip-import-pipeline='lift-and-dedup-meshes=true' -split-input-file | filecheck %s
// RUN: sdy-opt %s -sdy-import-hlo-shardings -split-input-file | filecheck %s

// What XLA dumps before Shardy: shardings are text, and results have theirs at a custom call.
// CHECK-LABEL: module @shardings {
// CHECK-NEXT:    sdy.mesh @mesh = <["x"=2, "y"=4]> {stablehlo.mesh
// CHECK-NEXT:    func.func @main(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {?}]>})
// CHECK-SAME:        -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}p1]>}) {
// CHECK-NEXT:      %0 = sdy.constant dense<1.000000e+00> : tensor<f32>
// CHECK-NEXT:      %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<8x8xf32>
// CHECK-NEXT:      %2 = stablehlo.add %arg0, %1 : tensor<8x8xf32>
// CHECK-NEXT:      %3 = sdy.sharding_constraint %2 <@mesh, [{"x"}, {?}]> : tensor<8x8xf32>
// CHECK-NEXT:      sdy.sharding_group %3 group_id=7 : tensor<8x8xf32>
// CHECK-NEXT:      %4 = sdy.propagation_barrier %3 allowed_direction=BACKWARD : tensor<8x8xf32>
// CHECK-NEXT:      %5 = stablehlo.custom_call @ruled(%4) {mhlo.frontend_attributes = {kept = "1"}, sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([i, j]) {i=8, j=8}>}
// CHECK-NEXT:      return %5 : tensor<8x8xf32>
module @shardings attributes {mhlo.frontend_attributes = {xla.sdy.meshes = "{mesh = #sdy.mesh<[\22x\22=2, \22y\22=4]>}"}} {
  func.func private @not_called(%a: tensor<f32>) -> tensor<f32> {
    return %a : tensor<f32>
  }
  func.func @main(%a: tensor<8x8xf32> {mhlo.frontend_attributes = {xla.sdy.sharding = "#sdy.sharding<@mesh, [{\22x\22}, {?}]>"}, mhlo.sharding = "{devices=[2,1,4]<=[8] last_tile_dim_replicate}"}) -> tensor<8x8xf32> {
    %c = stablehlo.constant dense<1.0> : tensor<8x8xf32>
    %0 = stablehlo.add %a, %c {mhlo.sharding = "{replicated}"} : tensor<8x8xf32>
    %1 = stablehlo.custom_call @Sharding(%0) {backend_config = "unspecified_dims=[1]", mhlo.frontend_attributes = {xla.sdy.sharding = "#sdy.sharding_per_value<[<@mesh, [{\22x\22}, {}]>]>"}} : (tensor<8x8xf32>) -> tensor<8x8xf32>
    %2 = stablehlo.custom_call @xla.sdy.ShardingGroup(%1) {has_side_effect = true, mhlo.frontend_attributes = {xla.sdy.sharding_group_id = "7 : i64"}} : (tensor<8x8xf32>) -> tuple<>
    %3 = stablehlo.custom_call @xla.sdy.PropagationBarrier(%1) {mhlo.frontend_attributes = {xla.sdy.allowed_direction = "2 : i32"}} : (tensor<8x8xf32>) -> tensor<8x8xf32>
    %4 = stablehlo.custom_call @ruled(%3) {mhlo.frontend_attributes = {kept = "1", xla.sdy.sharding_rule = "#sdy.op_sharding_rule<([i, j])->([i, j]) {i=8, j=8}>"}} : (tensor<8x8xf32>) -> tensor<8x8xf32>
    %5 = stablehlo.custom_call @xla.sdy.FuncResultSharding(%4) {has_side_effect = true, mhlo.frontend_attributes = {xla.sdy.sharding = "#sdy.sharding_per_value<[<@mesh, [{}, {\22y\22}p1]>]>"}} : (tensor<8x8xf32>) -> tensor<8x8xf32>
    return %5 : tensor<8x8xf32>
  }
}

// -----

// A loop keeps only what it changes; the sharding of what it uses is open inside. Of two meshes of the same
// devices, one is kept. The sharding of an inlined result is a constraint.
// CHECK-LABEL: module @loop {
// CHECK-NEXT:    sdy.mesh @fine = <["a"=2, "b"=2]>
// CHECK-NEXT:    func.func @main(%arg0: tensor<8xf32>, %arg1: tensor<8xf32> {sdy.sharding = #sdy.sharding<@fine, [{"a", "b"}]>})
// CHECK-NEXT:      %0 = sdy.sharding_constraint %arg0 <@fine, [{"a", ?}]> : tensor<8xf32>
// CHECK-NEXT:      %1 = sdy.sharding_constraint %arg1 <@fine, [{?}]> : tensor<8xf32>
// CHECK-NEXT:      %2 = stablehlo.while(%iterArg = %0) : tensor<8xf32>
// CHECK:             %3 = stablehlo.add %iterArg, %1 : tensor<8xf32>
// CHECK-NEXT:        stablehlo.return %3 : tensor<8xf32>
// CHECK:           return %2 : tensor<8xf32>
module @loop attributes {mhlo.frontend_attributes = {xla.sdy.meshes = "{coarse = #sdy.mesh<[\22x\22=4]>, fine = #sdy.mesh<[\22a\22=2, \22b\22=2]>}"}} {
  func.func @main(%a: tensor<8xf32>, %b: tensor<8xf32> {mhlo.frontend_attributes = {xla.sdy.sharding = "#sdy.sharding<@coarse, [{\22x\22}]>"}}) -> tensor<8xf32> {
    %0 = stablehlo.custom_call @xla.sdy.FuncResultSharding(%a) {mhlo.frontend_attributes = {xla.sdy.sharding = "#sdy.sharding_per_value<[<@coarse, [{\22x\22:(1)2}]>]>"}} : (tensor<8xf32>) -> tensor<8xf32>
    %1:2 = stablehlo.while(%i = %0, %j = %b) : tensor<8xf32>, tensor<8xf32> cond {
      %c = stablehlo.constant dense<true> : tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      %2 = stablehlo.add %i, %j : tensor<8xf32>
      stablehlo.return %2, %j : tensor<8xf32>, tensor<8xf32>
    }
    return %1#0 : tensor<8xf32>
  }
}

// -----

// Two calls of one body become two computations; values without elements have lost their custom calls.
// CHECK-LABEL: module @manual {
// CHECK:         func.func @main(%arg0: tensor<8xf32>) -> tensor<8xf32> {
// CHECK-NEXT:      %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[<@mesh, [{"x"}]>] manual_axes={"x"} (%arg1: tensor<4xf32>) {
// CHECK-NEXT:        %2 = stablehlo.negate %arg1 : tensor<4xf32>
// CHECK-NEXT:        sdy.return %2 : tensor<4xf32>
// CHECK:           %1 = sdy.manual_computation(%0)
// CHECK:           return %1 : tensor<8xf32>
// CHECK-NOT:     func.func
module @manual attributes {mhlo.frontend_attributes = {xla.sdy.meshes = "{mesh = #sdy.mesh<[\22x\22=2]>}"}} {
  func.func private @xla.sdy.manual_computation_body.3(%a: tensor<4xf32>) -> tensor<4xf32> {
    %0 = stablehlo.negate %a : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
  func.func @main(%a: tensor<8xf32>) -> tensor<8xf32> {
    %0 = stablehlo.custom_call @xla.sdy.GlobalToLocalShape(%a) {mhlo.frontend_attributes = {xla.sdy.in_shardings = "#sdy.sharding_per_value<[<@mesh, [{\22x\22}]>]>", xla.sdy.manual_axes = "#sdy<manual_axes{\22x\22}>"}} : (tensor<8xf32>) -> tensor<4xf32>
    %1 = call @xla.sdy.manual_computation_body.3(%0) : (tensor<4xf32>) -> tensor<4xf32>
    %2 = stablehlo.custom_call @xla.sdy.LocalToGlobalShape(%1) {mhlo.frontend_attributes = {xla.sdy.out_shardings = "#sdy.sharding_per_value<[<@mesh, [{\22x\22}]>]>", xla.sdy.manual_axes = "#sdy<manual_axes{\22x\22}>"}} : (tensor<4xf32>) -> tensor<8xf32>
    %3 = stablehlo.custom_call @xla.sdy.GlobalToLocalShape(%2) {mhlo.frontend_attributes = {xla.sdy.in_shardings = "#sdy.sharding_per_value<[<@mesh, [{\22x\22}]>]>", xla.sdy.manual_axes = "#sdy<manual_axes{\22x\22}>"}} : (tensor<8xf32>) -> tuple<tensor<4xf32>>
    %4 = stablehlo.get_tuple_element %3[0] : (tuple<tensor<4xf32>>) -> tensor<4xf32>
    %5 = call @xla.sdy.manual_computation_body.3(%4) : (tensor<4xf32>) -> tensor<4xf32>
    %6 = stablehlo.custom_call @xla.sdy.LocalToGlobalShape(%5) {mhlo.frontend_attributes = {xla.sdy.out_shardings = "#sdy.sharding_per_value<[<@mesh, [{\22x\22}]>]>", xla.sdy.manual_axes = "#sdy<manual_axes{\22x\22}>"}} : (tensor<4xf32>) -> tensor<8xf32>
    %7 = stablehlo.custom_call @xla.sdy.GlobalToLocalShape(%a) : (tensor<8xf32>) -> tensor<4xf32>
    return %6 : tensor<8xf32>
  }
}
