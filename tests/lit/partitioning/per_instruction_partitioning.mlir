// RUN: sdy-opt %s -sdy-per-instruction-partitioning | filecheck %s
// RUN: sdy-opt %s -sdy-per-instruction-partitioning --sdy-version=jaxlib-0.10.2 | filecheck %s --check-prefix=BEFORE

// Each operation becomes a manual computation that has its local program.

sdy.mesh @mesh = <["x"=2, "y"=4]>

// The manual axes are those of the mesh. Before jaxlib 0.11.2, they are those of the operation's operands and
// results, in the order of their occurrence.
// BEFORE-LABEL: func.func @dot
// BEFORE-NEXT: %0 = sdy.manual_computation{{.*}} manual_axes={"y", "x"}
// CHECK-LABEL: func.func @dot
// CHECK-NEXT: %0 = sdy.manual_computation(%arg0, %arg1) in_shardings=[<@mesh, [{"y"}, {}]>, <@mesh, [{}, {"x"}]>] out_shardings=[<@mesh, [{"y"}, {"x"}]>] manual_axes={"x", "y"} (%arg2: tensor<2x16xf32>, %arg3: tensor<16x4xf32>) {
// CHECK-NEXT: %1 = stablehlo.dot %arg2, %arg3 : (tensor<2x16xf32>, tensor<16x4xf32>) -> tensor<2x4xf32>
// CHECK-NEXT: sdy.return %1 : tensor<2x4xf32>
// CHECK-NEXT: } : (tensor<8x16xf32>, tensor<16x8xf32>) -> tensor<8x8xf32>
// CHECK-NEXT: return %0 : tensor<8x8xf32>
func.func @dot(%a: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}, %b: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}) -> tensor<8x8xf32> {
  %0 = stablehlo.dot %a, %b {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}, {"x"}]>]>} : (tensor<8x16xf32>, tensor<16x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// The collectives that the operation needs are in the computation; every collective has its own channel.
// CHECK-LABEL: func.func @collectives
// CHECK: sdy.manual_computation(%arg0, %cst)
// CHECK: "stablehlo.all_reduce"{{.*}}handle = 1
// CHECK: sdy.manual_computation(%0)
// CHECK: "stablehlo.all_gather"{{.*}}handle = 2
func.func @collectives(%a: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}) -> tensor<4xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%a init: %zero) applies stablehlo.add across dimensions = [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}]>]>} : (tensor<8x4xf32>, tensor<f32>) -> tensor<4xf32>
  %1 = sdy.reshard %0 <@mesh, [{}]> : tensor<4xf32>
  return %1 : tensor<4xf32>
}

// Uneven shards: operands are padded before the computation, and results are cut after it. Inside, the padding
// is overwritten where it would count: here by the identity of the maximum.
// CHECK-LABEL: func.func @uneven
// CHECK: %1 = stablehlo.pad %0, %cst_0, low = [0], high = [1]
// CHECK-NEXT: %2 = sdy.manual_computation(%1, %cst){{.*}} (%arg1: tensor<4xf32>, %arg2: tensor<f32>)
// CHECK: stablehlo.select
// CHECK: applies stablehlo.maximum across dimensions = [0]
// CHECK: stablehlo.maximum
// CHECK: } : (tensor<8xf32>, tensor<f32>) -> tensor<f32>
// CHECK: %3 = stablehlo.pad %0
// CHECK-NEXT: %4 = sdy.manual_computation(%3)
// CHECK: } : (tensor<8xf32>) -> tensor<8xf32>
// CHECK-NEXT: %5 = stablehlo.slice %4 [0:7]
func.func @uneven(%a: tensor<7xf32>) -> (tensor<f32>, tensor<7xf32>) {
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %0 = sdy.sharding_constraint %a <@mesh, [{"x"}]> : tensor<7xf32>
  %1 = stablehlo.reduce(%0 init: %low) applies stablehlo.maximum across dimensions = [0] : (tensor<7xf32>, tensor<f32>) -> tensor<f32>
  %2 = stablehlo.negate %0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : tensor<7xf32>
  return %1, %2 : tensor<f32>, tensor<7xf32>
}

// A reshard is padded to the larger of both padded sizes.
// CHECK-LABEL: func.func @uneven_reshard
// CHECK: stablehlo.pad %arg0{{.*}} high = [2]{{.*}} -> tensor<8xf32>
// CHECK-NEXT: sdy.manual_computation
// CHECK: } : (tensor<8xf32>) -> tensor<8xf32>
// CHECK-NEXT: stablehlo.slice %{{.*}} [0:6] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}]>]>}
func.func @uneven_reshard(%a: tensor<6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<6xf32> {
  %0 = sdy.reshard %a <@mesh, [{"y"}]> : tensor<6xf32>
  return %0 : tensor<6xf32>
}

// The values that a region uses become operands, and called functions are inlined.
// CHECK-LABEL: func.func @regions_and_calls
// CHECK-NEXT: %0 = sdy.manual_computation(%arg0, %arg1){{.*}} (%arg2: tensor<i32>, %arg3: tensor<4xf32>)
// CHECK-NEXT: %2 = "stablehlo.case"(%arg2) ({
// CHECK-NEXT: stablehlo.return %arg3 : tensor<4xf32>
// CHECK: sdy.manual_computation(%0)
// CHECK-NEXT: %2 = stablehlo.add %arg2, %arg2 : tensor<4xf32>
// CHECK-NEXT: sdy.return %2
func.func @regions_and_calls(%i: tensor<i32>, %a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<8xf32> {
  %0 = "stablehlo.case"(%i) ({
    stablehlo.return %a : tensor<8xf32>
  }) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : (tensor<i32>) -> tensor<8xf32>
  %1 = call @twice(%0) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : (tensor<8xf32>) -> tensor<8xf32>
  return %1 : tensor<8xf32>
}
func.func private @twice(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  %0 = stablehlo.add %a, %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// No candidates: what is not sharded, constraints, collectives, and manual computations.
// CHECK-LABEL: func.func @kept
// CHECK-NEXT: stablehlo.sine %arg0
// CHECK-NEXT: sdy.sharding_constraint
// CHECK-NEXT: sdy.all_gather
// CHECK-NEXT: return
func.func @kept(%a: tensor<8xf32>) -> tensor<8xf32> {
  %0 = stablehlo.sine %a : tensor<8xf32>
  %1 = sdy.sharding_constraint %0 <@mesh, [{"x"}]> : tensor<8xf32>
  %2 = sdy.all_gather [{"x"}] %1 out_sharding=<@mesh, [{}]> : tensor<8xf32>
  return %2 : tensor<8xf32>
}
