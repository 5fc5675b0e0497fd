// RUN: sdy-opt %s -split-input-file -sdy-update-non-divisible-input-output-shardings | filecheck %s

sdy.mesh @mesh = <["x"=4, "y"=2, "z"=3]>

// A dimension keeps the axes that divide it: here all, half of one, and all of the first but none of the second.
// CHECK-LABEL: func.func @arguments
// CHECK-SAME: (%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}]>},
// CHECK-SAME: %arg1: tensor<6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x":(1)2}]>},
// CHECK-SAME: %arg2: tensor<6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>},
// CHECK-SAME: %arg3: tensor<5xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>})
func.func @arguments(
    %a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}]>},
    %b: tensor<6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>},
    %c: tensor<6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y", "x"}]>},
    %d: tensor<5xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"z"}]>}) {
  return
}

// Axes after a truncated axis are dropped.
// CHECK-LABEL: func.func @behind
// CHECK-SAME: {sdy.sharding = #sdy.sharding<@mesh, [{"x":(1)2}]>}
func.func @behind(%a: tensor<6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "z"}]>}) {
  return
}

// Dimensions are truncated one by one. They stay open or closed; a truncated one loses its priority.
// CHECK-LABEL: func.func @dimensions
// CHECK-SAME: {sdy.sharding = #sdy.sharding<@mesh, [{"x":(1)2, ?}, {"y", ?}p1], replicated={"z"}>}
func.func @dimensions(
    %a: tensor<2x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", ?}p0, {"y", ?}p1], replicated={"z"}>}) {
  return
}

// Function results. An unsharded dimension is divisible.
// CHECK-LABEL: func.func @results
// CHECK-SAME: -> (tensor<2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x":(1)2}]>}, tensor<0xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, tensor<f32>)
// CHECK: stablehlo.abs %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : tensor<2xf32>
func.func @results(%a: tensor<2xf32>, %b: tensor<0xf32>, %c: tensor<f32>)
    -> (tensor<2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>},
        tensor<0xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, tensor<f32>) {
  %0 = stablehlo.abs %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : tensor<2xf32>
  return %0, %b, %c : tensor<2xf32>, tensor<0xf32>, tensor<f32>
}

// Call results, in nested regions too.
// CHECK-LABEL: func.func @calls
// CHECK: func.call @declared(%arg0) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x":(1)2}]>, <@mesh, [{"x"}]>]>}
func.func @calls(%a: tensor<2xf32>, %i: tensor<i32>) -> tensor<2xf32> {
  %0 = "stablehlo.case"(%i) ({
    %1:2 = func.call @declared(%a) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>, <@mesh, [{"x"}]>]>} : (tensor<2xf32>) -> (tensor<2xf32>, tensor<4xf32>)
    stablehlo.return %1#0 : tensor<2xf32>
  }) : (tensor<i32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

func.func private @declared(tensor<2xf32>) -> (tensor<2xf32>, tensor<4xf32>)

// -----

sdy.mesh @mesh = <["x"=8]>

// A sub-axis is truncated like a full axis.
// CHECK-LABEL: func.func @sub_axes
// CHECK-SAME: {sdy.sharding = #sdy.sharding<@mesh, [{"x":(2)2}]>}
func.func @sub_axes(%a: tensor<6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x":(2)4}]>}) {
  return
}

// -----

sdy.mesh @mesh = <["x"=6, "y"=4]>

// The divisor need not be a power of two.
// CHECK-LABEL: func.func @sixths
// CHECK-SAME: {sdy.sharding = #sdy.sharding<@mesh, [{"x":(1)3}, {"x":(3)2, "y":(1)2}]>}
func.func @sixths(%a: tensor<9x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x":(1)3}, {"x":(3)2, "y"}]>}) {
  return
}

// -----

sdy.mesh @mesh = <["one"=1, "x"=2, "y"=2]>

// Axes from an axis of size one on are dropped.
// CHECK-LABEL: func.func @size_one
// CHECK-SAME: {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}
func.func @size_one(%a: tensor<6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "one", "y"}]>}) {
  return
}

// -----

sdy.mesh @one_device = <[], device_ids=[3]>
sdy.mesh @mesh = <["x"=2]>

// Maximal shardings and shardings over inlined meshes.
// CHECK-LABEL: func.func @meshes
// CHECK-SAME: %arg0: tensor<3xf32> {sdy.sharding = #sdy.sharding<@one_device, []>},
// CHECK-SAME: %arg1: tensor<3xf32> {sdy.sharding = #sdy.sharding<mesh<["y"=6]>, [{"y":(1)3}]>})
func.func @meshes(
    %a: tensor<3xf32> {sdy.sharding = #sdy.sharding<@one_device, []>},
    %b: tensor<3xf32> {sdy.sharding = #sdy.sharding<mesh<["y"=6]>, [{"y"}]>}) {
  return
}

// -----

sdy.mesh @mesh = <["x"=4]>

// A call in a nested module refers to the mesh of that module, which has an axis of size 3.
// CHECK-LABEL: module @inner
// CHECK: call @main(%arg0) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>}
module @inner {
  sdy.mesh @mesh = <["x"=3]>
  func.func @main(%a: tensor<6xf32>) -> tensor<6xf32> {
    %0 = call @main(%a) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : (tensor<6xf32>) -> tensor<6xf32>
    return %0 : tensor<6xf32>
  }
}
