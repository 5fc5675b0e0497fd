// RUN: sdy-opt %s -split-input-file -sdy-remove-size-one-axes | filecheck %s

// The mesh keeps its axes of size one.
// CHECK: sdy.mesh @mesh = <["x"=2, "one"=1, "y"=4, "unit"=1]>
sdy.mesh @mesh = <["x"=2, "one"=1, "y"=4, "unit"=1]>

// They are removed from dimensions, replicated and unreduced axes of functions and operations.
// CHECK-LABEL: func.func @everywhere
// CHECK-SAME: %arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {?}]>}
// CHECK-SAME: -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}], replicated={"x"}>})
func.func @everywhere(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"one", "x"}, {"unit", ?}]>})
    -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}], replicated={"x", "one"}>}) {
  // CHECK-NEXT: stablehlo.negate %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y":(2)2}, {}], unreduced={"x"}>]>}
  %0 = stablehlo.negate %a {sdy.sharding = #sdy.sharding_per_value<
    [<@mesh, [{"y":(2)2}, {}], unreduced={"x", "one"}>]>} : tensor<8x8xf32>
  // CHECK-NEXT: sdy.sharding_constraint %0 <@mesh, [{"x"}, {}]>
  %1 = sdy.sharding_constraint %0 <@mesh, [{"x"}, {"one"}]> : tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}

// A closed dimension that becomes empty loses its priority; an open one keeps it.
// CHECK-LABEL: func.func @priorities
func.func @priorities(%a: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // CHECK-NEXT: <@mesh, [{}, {?}p2]>
  %0 = sdy.sharding_constraint %a <@mesh, [{"one"}p1, {"unit", ?}p2]> : tensor<8x8xf32>
  // CHECK-NEXT: <@mesh, [{"x"}p1, {}]>
  %1 = sdy.sharding_constraint %0 <@mesh, [{"x", "one"}p1, {}]> : tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}

// Manual axes are kept.
// CHECK-LABEL: func.func @manual
func.func @manual(%a: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // CHECK-NEXT: in_shardings=[<@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{"x"}, {}]>] manual_axes={"x", "one"}
  %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"one", "x"}, {}]>]
      out_shardings=[<@mesh, [{"x"}, {}], replicated={"one"}>] manual_axes={"x", "one"} (%b: tensor<4x8xf32>) {
    sdy.return %b : tensor<4x8xf32>
  } : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// Inlined meshes.
// CHECK-LABEL: func.func @inlined
func.func @inlined(%a: tensor<8xf32>) -> tensor<8xf32> {
  // CHECK-NEXT: <mesh<["a"=1, "b"=2]>, [{"b"}]>
  %0 = sdy.sharding_constraint %a <mesh<["a"=1, "b"=2]>, [{"a", "b"}]> : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

sdy.mesh @mesh = <["x"=6, "one"=1]>

// Sub-axes that are adjacent without the axis of size one become one axis. (C++ reports an error.)
// CHECK-LABEL: func.func @sub_axes
func.func @sub_axes(%a: tensor<12xf32>) -> tensor<12xf32> {
  // CHECK-NEXT: sdy.sharding_constraint %arg0 <@mesh, [{"x"}]>
  %0 = sdy.sharding_constraint %a <@mesh, [{"x":(1)2, "one", "x":(2)3}]> : tensor<12xf32>
  return %0 : tensor<12xf32>
}

// -----

sdy.mesh @mesh = <["x"=2]>

// Inlined meshes alone do not trigger the pass.
// CHECK-LABEL: func.func @no_named_mesh_has_one
func.func @no_named_mesh_has_one(%a: tensor<8xf32>) -> tensor<8xf32> {
  // CHECK-NEXT: <mesh<["a"=1, "b"=2]>, [{"a", "b"}]>
  %0 = sdy.sharding_constraint %a <mesh<["a"=1, "b"=2]>, [{"a", "b"}]> : tensor<8xf32>
  return %0 : tensor<8xf32>
}
