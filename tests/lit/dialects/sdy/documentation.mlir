// RUN: sdy-opt %s | filecheck %s

// The examples of Shardy's dialect documentation, completed. Where the documentation differs from the
// implementation, the implementation counts: see also mesh.mlir (iota device ids are dropped, meshes of
// different sizes are valid), sharding_rule.mlir (any operation may have a custom rule) and
// attribute_syntax_errors.mlir.

// CHECK: sdy.mesh @placeholder = <[]>
sdy.mesh @placeholder = <[]>
// CHECK: sdy.mesh @maximal = <[], device_ids=[3]>
sdy.mesh @maximal = <[], device_ids=[3]>
// CHECK: sdy.mesh @implicit_devices = <["a"=2, "b"=3]>
sdy.mesh @implicit_devices = <["a"=2, "b"=3]>
// CHECK: sdy.mesh @explicit_devices = <["a"=3, "b"=2], device_ids=[0, 2, 4, 1, 3, 5]>
sdy.mesh @explicit_devices = <["a"=3, "b"=2], device_ids=[0, 2, 4, 1, 3, 5]>

sdy.mesh @mesh = <["a"=2, "b"=2, "c"=4, "d"=2, "e"=2, "f"=2]>

// CHECK-LABEL: func.func @all_gather
func.func @all_gather(%0: tensor<8x8x8xf32>) -> tensor<8x8x8xf32> {
  %1 = stablehlo.tanh %0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a", "b", "c"}, {}, {"d"}]>]>} : tensor<8x8x8xf32>
  // CHECK: sdy.all_gather [{"b", "c"}, {}, {"d"}] %0 out_sharding=<@mesh, [{"a"}, {}, {}]> : tensor<8x8x8xf32>
  %2 = sdy.all_gather [{"b", "c"}, {}, {"d"}] %1 out_sharding=<@mesh, [{"a"}, {}, {}]> : tensor<8x8x8xf32>
  return %2 : tensor<8x8x8xf32>
}

// CHECK-LABEL: func.func @all_slice
func.func @all_slice(%0: tensor<8x8x8xf32>) -> tensor<8x8x8xf32> {
  %1 = stablehlo.tanh %0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a"}, {}, {}]>]>} : tensor<8x8x8xf32>
  // CHECK: sdy.all_slice [{"b", "c"}, {}, {"d"}] %0 out_sharding=<@mesh, [{"a", "b", "c"}, {}, {"d"}]> : tensor<8x8x8xf32>
  %2 = sdy.all_slice [{"b", "c"}, {}, {"d"}] %1 out_sharding=<@mesh, [{"a", "b", "c"}, {}, {"d"}]> : tensor<8x8x8xf32>
  return %2 : tensor<8x8x8xf32>
}

// The documentation's type, 8x8x4x4x32, has no element type.
// CHECK-LABEL: func.func @all_to_all
func.func @all_to_all(%0: tensor<8x8x4x4xf32>) -> tensor<8x8x4x4xf32> {
  %1 = stablehlo.tanh %0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a", "b"}, {"c"}, {}, {}]>]>} : tensor<8x8x4x4xf32>
  // CHECK: sdy.all_to_all [{"b"}: 0->2, {"c"}: 1->3] %0 out_sharding=<@mesh, [{"a"}, {}, {"b"}, {"c"}]> : tensor<8x8x4x4xf32>
  %2 = sdy.all_to_all [{"b"}: 0->2, {"c"}: 1->3] %1 out_sharding=<@mesh, [{"a"}, {}, {"b"}, {"c"}]> : tensor<8x8x4x4xf32>
  return %2 : tensor<8x8x4x4xf32>
}

// CHECK-LABEL: func.func @collective_permute
func.func @collective_permute(%0: tensor<8x8x8xf32>) -> tensor<8x8x8xf32> {
  %1 = stablehlo.tanh %0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a", "c"}, {"f"}, {"d", "e"}]>]>} : tensor<8x8x8xf32>
  // CHECK: sdy.collective_permute %0 out_sharding=<@mesh, [{"c":(1)2, "b", "f"}, {"a"}, {"e", "d"}]> : tensor<8x8x8xf32>
  %2 = sdy.collective_permute %1 out_sharding=<@mesh, [{"c":(1)2, "b", "f"}, {"a"}, {"e", "d"}]> : tensor<8x8x8xf32>
  return %2 : tensor<8x8x8xf32>
}

// CHECK-LABEL: func.func @replicated_to_unreduced
func.func @replicated_to_unreduced(%0: tensor<8x8x8xf32>) -> tensor<8x8x8xf32> {
  %1 = stablehlo.tanh %0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"b"}, {}, {}], replicated={"c", "d"}, unreduced={"e"}>]>} : tensor<8x8x8xf32>
  // CHECK: sdy.replicated_to_unreduced {"a", "c", "f"} %0 out_sharding=<@mesh, [{"b"}, {}, {}], replicated={"d"}, unreduced={"a", "c", "e", "f"}> : tensor<8x8x8xf32>
  %2 = sdy.replicated_to_unreduced {"a", "c", "f"} %1 out_sharding=<@mesh, [{"b"}, {}, {}], replicated={"d"}, unreduced={"a", "c", "e", "f"}> : tensor<8x8x8xf32>
  return %2 : tensor<8x8x8xf32>
}

// CHECK-LABEL: func.func @sharded_to_unreduced
func.func @sharded_to_unreduced(%0: tensor<8x8x8xf32>) -> tensor<8x8x8xf32> {
  %1 = stablehlo.tanh %0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a", "b", "c"}, {}, {"d"}], unreduced={"e"}>]>} : tensor<8x8x8xf32>
  // CHECK: sdy.sharded_to_unreduced [{"b", "c"}, {}, {"d"}] %0 out_sharding=<@mesh, [{"a"}, {}, {}], unreduced={"b", "c", "d", "e"}> : tensor<8x8x8xf32>
  %2 = sdy.sharded_to_unreduced [{"b", "c"}, {}, {"d"}] %1 out_sharding=<@mesh, [{"a"}, {}, {}], unreduced={"b", "c", "d", "e"}> : tensor<8x8x8xf32>
  return %2 : tensor<8x8x8xf32>
}

// CHECK-LABEL: func.func @constant
func.func @constant() -> tensor<2x2xf32> {
  // CHECK: sdy.constant dense<{{\[\[}}0.000000e+00, 1.000000e+00], [2.000000e+00, 3.000000e+00]]> : tensor<2x2xf32>
  %output = sdy.constant dense<[[0.0, 1.0], [2.0, 3.0]]> : tensor<2x2xf32>
  return %output : tensor<2x2xf32>
}

// CHECK-LABEL: func.func @named_computation
func.func @named_computation(%0: tensor<16x32xf32>) -> tensor<16x32xf32> {
  // CHECK: sdy.named_computation<"foo">(%arg0) (%arg1: tensor<16x32xf32>) {
  %1 = sdy.named_computation<"foo">(%0) (%arg1: tensor<16x32xf32>) {
    sdy.return %arg1 : tensor<16x32xf32>
  } : (tensor<16x32xf32>) -> tensor<16x32xf32>
  return %1 : tensor<16x32xf32>
}

// CHECK-LABEL: func.func @sharding_rules
func.func @sharding_rules(%arg0: tensor<8x8xf32>, %arg1: tensor<8x8xf32>, %arg2: tensor<8x8xf32>, %arg3: tensor<8x16xf32>) {
  // CHECK: #sdy.op_sharding_rule<([i, j], [i, j])->([i, j]) {i=8, j=8}>
  %0 = stablehlo.add %arg0, %arg1 {
    sdy.sharding_rule = #sdy.op_sharding_rule<
        ([i, j],[i, j])->([i, j])
        {i=8, j=8}>
  } : tensor<8x8xf32>
  // CHECK: #sdy.op_sharding_rule<([i, k], [k, j])->([i, j]) {i=8, j=16, k=8}>
  %1 = stablehlo.dot_general %arg2, %arg3, contracting_dims = [1] x [0] {
    sdy.sharding_rule = #sdy.op_sharding_rule<
        ([i, k],[k, j])->([i, j])
        {i=8, j=16, k=8}>
  }: (tensor<8x8xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
  return
}
