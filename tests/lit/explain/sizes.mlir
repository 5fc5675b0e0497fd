// RUN: sdy-opt %s -sdy-propagation-pipeline --explain='@main %%0' --explain='@overflow_of_neighbor %%0' --explain='@major %%0' --explain='@manual %%b' --explain='@unrelated %%0' --explain='@scalar %%0' --explain='@same %%0' | filecheck %s

sdy.mesh @mesh = <["x"=2, "z"=5]>
sdy.mesh @other = <["a"=2]>

// %0 is open, but five devices do not divide the more major part of its dimension, of size 6.
// CHECK: %0 of @main: f32[24] is sharded P('z')
// CHECK-NEXT: ├─ in sdy: tensor<24xf32> [{"z", ?}]; ? is open: no annotation keeps further axes out
// CHECK-NEXT: ├─ "z" shards dimension 0
// CHECK-NEXT: │  └─ annotated: the sdy.sharding attribute of stablehlo.reshape, for %0
// CHECK-NEXT: └─ "x" does not shard dimension 0, though it shards dimension 1 of %a
// CHECK-NEXT:    ├─ stablehlo.reshape: dimension 0 of %0 is also sharded along "z", whose size does not divide the
// CHECK-NEXT:    │    more major part of it
// CHECK-NEXT:    └─ help: jax.lax.with_sharding_constraint(%0, P(('z', 'x')))
// CHECK-NEXT:       ├─ tried: "x" shards it; as much sent
// CHECK-NEXT:       └─ in sdy: sdy.sharding_constraint %0 <@mesh, [{"z", "x"}]>
func.func @main(%a: tensor<6x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}) -> tensor<24xf32> {
  %0 = stablehlo.reshape %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"z", ?}]>]>} : (tensor<6x4xf32>) -> tensor<24xf32>
  return %0 : tensor<24xf32>
}

// Nor does the axis of an operand propagate whose size does not divide.
// CHECK: %0 of @overflow_of_neighbor: f32[6,4] is not sharded
// CHECK-NEXT: └─ "z" does not shard dimension 0, though it shards dimension 0 of %a
// CHECK-NEXT:    ├─ stablehlo.reshape: the size of "z" does not divide the corresponding part of %a
// CHECK-NEXT:    └─ help: jax.lax.with_sharding_constraint(%0, P('z'))
// CHECK-NEXT:       ├─ tried: "z" shards it; no figures, because @main does not run this function
// CHECK-NEXT:       └─ in sdy: sdy.sharding_constraint %0 <@mesh, [{"z"}, {}]>
func.func @overflow_of_neighbor(%a: tensor<24xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"z"}]>}) -> tensor<6x4xf32> {
  %0 = stablehlo.reshape %a : (tensor<24xf32>) -> tensor<6x4xf32>
  return %0 : tensor<6x4xf32>
}

// Columns that are sharded would not be contiguous in the reshaped tensor.
// CHECK: %0 of @major: f32[24] is not sharded
// CHECK-NEXT: └─ "x" does not shard dimension 0, though it shards dimension 1 of %a
// CHECK-NEXT:    ├─ stablehlo.reshape: dimension 0 is several dimensions in one, and the more major one is not
// CHECK-NEXT:    │    fully sharded: shards along "x" would not be contiguous
// CHECK-NEXT:    └─ help: jax.lax.with_sharding_constraint(%0, P('x'))
// CHECK-NEXT:       ├─ tried: "x" shards it; no figures, because @main does not run this function
// CHECK-NEXT:       └─ in sdy: sdy.sharding_constraint %0 <@mesh, [{"x"}]>
func.func @major(%a: tensor<6x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}) -> tensor<24xf32> {
  %0 = stablehlo.reshape %a : (tensor<6x4xf32>) -> tensor<24xf32>
  return %0 : tensor<24xf32>
}

// A manual axis shards an input only as in_shardings say.
// CHECK: %b of @manual: f32[8] is not sharded
// CHECK-NEXT: ├─ in sdy: tensor<8xf32> [{?}]; ? is open: no annotation keeps further axes out
// CHECK-NEXT: └─ "x" does not shard dimension 0, though it shards dimension 0 of %a
// CHECK-NEXT:    ├─ the data-flow edge of sdy.manual_computation: "x" is a manual axis of the computation, so only
// CHECK-NEXT:    │    in_shardings shard its inputs along it
// CHECK-NEXT:    └─ no help was found: 1 other sharding was tried, without success
func.func @manual(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<8xf32> {
  %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{?}], replicated={"x"}>] out_shardings=[<@mesh, [{?}], replicated={"x"}>] manual_axes={"x"} (%b: tensor<8xf32>) {
    %1 = stablehlo.negate %b : tensor<8xf32>
    sdy.return %1 : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// Whether the meshes are the same does not matter where no dimension corresponds.
// CHECK: %0 of @unrelated: f32[8,8] is not sharded
// CHECK-NEXT: └─ "a" does not shard dimension 1, though it shards dimension 1 of %b
// CHECK-NEXT:    ├─ stablehlo.dot: its operands and results have shardings on different meshes
// CHECK-NEXT:    └─ help: jax.lax.with_sharding_constraint(%0, P(None, 'a'))
// CHECK-NEXT:       ├─ tried: "a" shards it; no figures, because @main does not run this function
// CHECK-NEXT:       └─ in sdy: sdy.sharding_constraint %0 <@other, [{}, {"a"}]>
func.func @unrelated(
    %a: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>},
    %b: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@other, [{}, {"a"}]>}) -> tensor<8x8xf32> {
  %0 = stablehlo.dot %a, %b : (tensor<8x4xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// A scalar has no dimension to shard.
// CHECK: %0 of @scalar: f32[] is not sharded
// CHECK-NEXT: └─ "x" does not shard any dimension, though it shards dimension 0 of %a
// CHECK-NEXT:    └─ stablehlo.custom_call: no dimension of this value corresponds to that one
func.func @scalar(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<f32> {
  %0 = stablehlo.custom_call @foo(%a) : (tensor<8xf32>) -> tensor<f32>
  return %0 : tensor<f32>
}

// The dimension has the axis already, though it shards another of the dimensions that it consists of.
// CHECK: %0 of @same: f32[24] is sharded P('z')
// CHECK-NEXT: ├─ in sdy: tensor<24xf32> [{"z"}]
// CHECK-NEXT: └─ "z" shards dimension 0
// CHECK-NEXT:    └─ annotated: the sdy.sharding attribute of stablehlo.reshape, for %0
// CHECK-NOT: does not shard
func.func @same(%a: tensor<6x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"z"}]>}) -> tensor<24xf32> {
  %0 = stablehlo.reshape %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"z"}]>]>} : (tensor<6x4xf32>) -> tensor<24xf32>
  return %0 : tensor<24xf32>
}
