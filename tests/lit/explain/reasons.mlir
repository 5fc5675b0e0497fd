// RUN: sdy-opt %s -sdy-propagation-pipeline --sdy-version=jaxlib-0.10.2 --explain='@main %%w' --explain='@closed %%b' --explain='@replicated %%b' --explain='@unreduced %%b' --explain='@dimensions %%0' --explain='@priorities %%0' --explain='@axes %%0' --explain='@divisibility %%0' --explain='@columns %%0' --explain='@contraction %%0' --explain='@barrier %%0' --explain='@custom_call %%0' --explain='@meshes %%0' | filecheck %s

sdy.mesh @mesh = <["x"=2, "y"=4]>
sdy.mesh @other = <["a"=2]>

// An axis comes step by step: here from a constraint on the product, backward to an input.
// CHECK: %w of @main: f32[16,32] is sharded P(None, 'y')  reasons.mlir:13
// CHECK-NEXT: ├─ in sdy: tensor<16x32xf32> [{?}, {"y", ?}]; ? is open: no annotation keeps further axes out
// CHECK-NEXT: └─ "y" shards dimension 1
// CHECK-NEXT:    ├─ from %0 (dimension 1), backward along stablehlo.dot_general  reasons.mlir:14
// CHECK-NEXT:    ├─ from %1 (dimension 1), backward along sdy.sharding_constraint  reasons.mlir:16
// CHECK-NEXT:    └─ annotated: with_sharding_constraint on %0  reasons.mlir:16
func.func @main(%x: tensor<8x16xf32>, %w: tensor<16x32xf32>) -> tensor<8x32xf32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
    : (tensor<8x16xf32>, tensor<16x32xf32>) -> tensor<8x32xf32>
  %1 = sdy.sharding_constraint %0 <@mesh, [{?}, {"y", ?}]> : tensor<8x32xf32>
  return %1 : tensor<8x32xf32>
}

// A closed dimension gets no axis.
// CHECK: %b of @closed: f32[8] is not sharded  reasons.mlir:31
// CHECK-NEXT: ├─ in sdy: tensor<8xf32> [{}]
// CHECK-NEXT: └─ "x" does not shard dimension 0, though it shards dimension 0 of %a and %0  reasons.mlir:32
// CHECK-NEXT:    ├─ stablehlo.add: dimension 0 of %b is closed
// CHECK-NEXT:    ├─ in JAX, each dimension of an annotation is closed, except P.UNCONSTRAINED
// CHECK-NEXT:    └─ help: shard the input %b as P('x')  reasons.mlir:31
// CHECK-NEXT:       ├─ tried: "x" shards it; no figures, because @main does not run this function
// CHECK-NEXT:       └─ in sdy: [{"x"}] on %b
func.func @closed(
    %a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>},
    %b: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}) -> tensor<8xf32> {
  %0 = stablehlo.add %a, %b : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// Nor does an explicitly replicated tensor.
// CHECK: %b of @replicated: f32[8] is not sharded  reasons.mlir:46
// CHECK-NEXT: ├─ in sdy: tensor<8xf32> [{?}], replicated={"x"}; ? is open: no annotation keeps further axes out
// CHECK-NEXT: └─ "x" does not shard dimension 0, though it shards dimension 0 of %a and %0  reasons.mlir:47
// CHECK-NEXT:    ├─ stablehlo.add: %b is explicitly replicated along "x"
// CHECK-NEXT:    └─ help: shard the input %b as P('x')  reasons.mlir:46
// CHECK-NEXT:       ├─ tried: "x" shards it; no figures, because @main does not run this function
// CHECK-NEXT:       └─ in sdy: [{"x"}] on %b
func.func @replicated(
    %a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>},
    %b: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}], replicated={"x"}>}) -> tensor<8xf32> {
  %0 = stablehlo.add %a, %b : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// Nor an unreduced one. (Since jaxlib 0.11.2, dropping an unreduced axis like this is an error after propagation.)
// CHECK: %b of @unreduced: f32[8] is not sharded P(unreduced={'x'})  reasons.mlir:59
// CHECK-NEXT: ├─ in sdy: tensor<8xf32> [{?}], unreduced={"x"}; ? is open: no annotation keeps further axes out
// CHECK-NEXT: └─ "x" does not shard dimension 0, though it shards dimension 0 of %a and %0  reasons.mlir:60
// CHECK-NEXT:    ├─ stablehlo.add: %b is unreduced along "x": its shards are to be summed along it
// CHECK-NEXT:    └─ no help was found: there was no sharding to try
func.func @unreduced(
    %a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>},
    %b: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}], unreduced={"x"}>}) -> tensor<8xf32> {
  %0 = stablehlo.add %a, %b : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// Of two dimensions that claim an axis, the aggressive strategy prefers that of the earlier operand.
// CHECK: %0 of @dimensions: f32[8,8] is sharded P('x')  reasons.mlir:79
// CHECK-NEXT: ├─ in sdy: tensor<8x8xf32> [{"x", ?}, {?}]; ? is open: no annotation keeps further axes out
// CHECK-NEXT: ├─ "x" shards dimension 0
// CHECK-NEXT: │  ├─ from %a (dimension 0), forward along stablehlo.add  reasons.mlir:79
// CHECK-NEXT: │  └─ annotated: the input %a  reasons.mlir:77
// CHECK-NEXT: └─ "x" does not shard dimension 1, though it shards dimension 1 of %b  reasons.mlir:79
// CHECK-NEXT:    ├─ stablehlo.add: "x" already shards dimension 0 of %0: it propagated along stablehlo.add, from
// CHECK-NEXT:    │    the earlier operand
// CHECK-NEXT:    └─ help: jax.lax.with_sharding_constraint(%0, P(None, 'x'))  reasons.mlir:79
// CHECK-NEXT:       ├─ tried: "x" shards it; no figures, because @main does not run this function
// CHECK-NEXT:       └─ in sdy: sdy.sharding_constraint %0 <@mesh, [{}, {"x"}]>
func.func @dimensions(
    %a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {?}]>},
    %b: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {"x"}]>}) -> tensor<8x8xf32> {
  %0 = stablehlo.add %a, %b : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// With a lower user priority, the same dimension does not get the axis.
// CHECK: %0 of @priorities: f32[8,8] is sharded P(None, 'x')  reasons.mlir:98
// CHECK-NEXT: ├─ in sdy: tensor<8x8xf32> [{?}, {"x", ?}]; ? is open: no annotation keeps further axes out
// CHECK-NEXT: ├─ "x" shards dimension 1
// CHECK-NEXT: │  ├─ from %b (dimension 1), forward along stablehlo.add  reasons.mlir:98
// CHECK-NEXT: │  └─ annotated: the input %b  reasons.mlir:97
// CHECK-NEXT: └─ "x" does not shard dimension 0, though it shards dimension 0 of %a  reasons.mlir:98
// CHECK-NEXT:    ├─ stablehlo.add: "x" already shards dimension 1 of %0: it propagated along stablehlo.add with
// CHECK-NEXT:    │    user priority p0, before the other
// CHECK-NEXT:    └─ help: jax.lax.with_sharding_constraint(%0, P('x'))  reasons.mlir:98
// CHECK-NEXT:       ├─ tried: "x" shards it; no figures, because @main does not run this function
// CHECK-NEXT:       └─ in sdy: sdy.sharding_constraint %0 <@mesh, [{"x"}, {}]>
func.func @priorities(
    %a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}p1, {?}]>},
    %b: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {"x"}]>}) -> tensor<8x8xf32> {
  %0 = stablehlo.add %a, %b : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// If one dimension is sharded along different axes, none of them propagates.
// CHECK: %0 of @axes: f32[8,8] is not sharded  reasons.mlir:119
// CHECK-NEXT: ├─ "x" does not shard dimension 0, though it shards dimension 0 of %a  reasons.mlir:119
// CHECK-NEXT: │  ├─ stablehlo.add: dimension 0 of %b is sharded along "y", and neither list is a prefix of the
// CHECK-NEXT: │  │    other; "y" comes from the input %b
// CHECK-NEXT: │  └─ help: jax.lax.with_sharding_constraint(%0, P('x'))  reasons.mlir:119
// CHECK-NEXT: │     ├─ tried: "x" shards it; no figures, because @main does not run this function
// CHECK-NEXT: │     └─ in sdy: sdy.sharding_constraint %0 <@mesh, [{"x"}, {}]>
// CHECK-NEXT: └─ "y" does not shard dimension 0, though it shards dimension 0 of %b  reasons.mlir:119
// CHECK-NEXT:    ├─ stablehlo.add: dimension 0 of %a is sharded along "x", and neither list is a prefix of the
// CHECK-NEXT:    │    other; "x" comes from the input %a
// CHECK-NEXT:    └─ help: jax.lax.with_sharding_constraint(%0, P('y'))  reasons.mlir:119
// CHECK-NEXT:       ├─ tried: "y" shards it; no figures, because @main does not run this function
// CHECK-NEXT:       └─ in sdy: sdy.sharding_constraint %0 <@mesh, [{"y"}, {}]>
func.func @axes(
    %a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {?}]>},
    %b: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {?}]>}) -> tensor<8x8xf32> {
  %0 = stablehlo.add %a, %b : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// An axis of size 4 does not divide 6, so only half of it propagates.
// CHECK: %0 of @divisibility: f32[24] is sharded [{"y":(1)2, ?}]  reasons.mlir:136
// CHECK-NEXT: ├─ "y":(1)2 shards dimension 0
// CHECK-NEXT: │  ├─ from %a (dimension 0), forward along stablehlo.reshape  reasons.mlir:136
// CHECK-NEXT: │  └─ annotated: the input %a  reasons.mlir:135
// CHECK-NEXT: └─ "y":(2)2 does not shard dimension 0, though it shards dimension 0 of %a  reasons.mlir:136
// CHECK-NEXT:    ├─ stablehlo.reshape: "y" has size 4, which does not divide 6, the size of the corresponding part
// CHECK-NEXT:    │    of dimension 0
// CHECK-NEXT:    └─ help: jax.lax.with_sharding_constraint(%0, P('y'))  reasons.mlir:136
// CHECK-NEXT:       ├─ tried: "y":(2)2 shards it; no figures, because @main does not run this function
// CHECK-NEXT:       └─ in sdy: sdy.sharding_constraint %0 <@mesh, [{"y"}]>
func.func @divisibility(
    %a: tensor<6x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {?}]>}) -> tensor<24xf32> {
  %0 = stablehlo.reshape %a : (tensor<6x4xf32>) -> tensor<24xf32>
  return %0 : tensor<24xf32>
}

// The rows of a matrix are not contiguous in the flat tensor if only columns are sharded.
// CHECK: %0 of @columns: f32[24] is not sharded  reasons.mlir:150
// CHECK-NEXT: └─ "y" does not shard dimension 0, though it shards dimension 1 of %a  reasons.mlir:150
// CHECK-NEXT:    ├─ stablehlo.reshape: dimension 0 is several dimensions in one, and the more major one is not
// CHECK-NEXT:    │    fully sharded: shards along "y" would not be contiguous
// CHECK-NEXT:    └─ help: jax.lax.with_sharding_constraint(%0, P('y'))  reasons.mlir:150
// CHECK-NEXT:       ├─ tried: "y" shards it; no figures, because @main does not run this function
// CHECK-NEXT:       └─ in sdy: sdy.sharding_constraint %0 <@mesh, [{"y"}]>
func.func @columns(
    %a: tensor<6x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}]>}) -> tensor<24xf32> {
  %0 = stablehlo.reshape %a : (tensor<6x4xf32>) -> tensor<24xf32>
  return %0 : tensor<24xf32>
}

// A contracted dimension is not in the result.
// CHECK: %0 of @contraction: f32[8,8] is not sharded  reasons.mlir:162
// CHECK-NEXT: └─ "x" does not shard any dimension, though it shards dimension 1 of %a and dimension 0 of %b
// CHECK-NEXT:    │  reasons.mlir:162
// CHECK-NEXT:    └─ stablehlo.dot_general: it reduces over that dimension, so this value does not have it
func.func @contraction(
    %a: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {"x"}]>},
    %b: tensor<16x8xf32>) -> tensor<8x8xf32> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]
    : (tensor<8x16xf32>, tensor<16x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// A barrier lets axes through in its direction only.
// CHECK: %0 of @barrier: f32[8] is not sharded  reasons.mlir:176
// CHECK-NEXT: └─ "x" does not shard dimension 0, though it shards dimension 0 of %a  reasons.mlir:176
// CHECK-NEXT:    ├─ sdy.propagation_barrier: the barrier does not let shardings through forward
// CHECK-NEXT:    └─ help: jax.lax.with_sharding_constraint(%0, P('x'))  reasons.mlir:176
// CHECK-NEXT:       ├─ tried: "x" shards it; no figures, because @main does not run this function
// CHECK-NEXT:       └─ in sdy: sdy.sharding_constraint %0 <@mesh, [{"x"}]>
func.func @barrier(
    %a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<8xf32> {
  %0 = sdy.propagation_barrier %a allowed_direction=BACKWARD : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// An unknown custom call has no rule.
// CHECK: %0 of @custom_call: f32[8] is not sharded  reasons.mlir:189
// CHECK-NEXT: └─ "x" does not shard any dimension, though it shards dimension 0 of %a  reasons.mlir:189
// CHECK-NEXT:    ├─ stablehlo.custom_call: it has no sharding rule, so nothing propagates along it
// CHECK-NEXT:    └─ help: jax.lax.with_sharding_constraint(%0, P('x'))  reasons.mlir:189
// CHECK-NEXT:       ├─ tried: "x" shards it; no figures, because @main does not run this function
// CHECK-NEXT:       └─ in sdy: sdy.sharding_constraint %0 <@mesh, [{"x"}]>
func.func @custom_call(
    %a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<8xf32> {
  %0 = stablehlo.custom_call @foo(%a) : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// Nothing propagates between meshes.
// CHECK: %0 of @meshes: f32[8] is not sharded  reasons.mlir:203
// CHECK-NEXT: └─ "x" does not shard dimension 0, though it shards dimension 0 of %a  reasons.mlir:203
// CHECK-NEXT:    ├─ stablehlo.add: its operands and results have shardings on different meshes
// CHECK-NEXT:    └─ help: jax.lax.with_sharding_constraint(%0, P('x'))  reasons.mlir:203
// CHECK-NEXT:       ├─ tried: "x" shards it; no figures, because @main does not run this function
// CHECK-NEXT:       └─ in sdy: sdy.sharding_constraint %0 <@mesh, [{"x"}]>
func.func @meshes(
    %a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>},
    %b: tensor<8xf32> {sdy.sharding = #sdy.sharding<@other, [{?}]>}) -> tensor<8xf32> {
  %0 = stablehlo.add %a, %b : tensor<8xf32>
  return %0 : tensor<8xf32>
}
