// RUN: sdy-opt %s -sdy-convert-global-to-local | filecheck %s

// Every tensor gets the type of its shard. Most operations are kept.

sdy.mesh @mesh = <["x"=2, "y"=4]>

// Each dimension is divided by the sizes of its axes. The shardings are kept, for reports and later passes.
// CHECK-LABEL: func.func @shards(%arg0: tensor<4x4xf32>{{.*}}) -> (tensor<4x4xf32>{{.*}})
// CHECK-NEXT: %0 = stablehlo.tanh %arg0{{.*}} : tensor<4x4xf32>
// CHECK-NEXT: return %0 : tensor<4x4xf32>
func.func @shards(%a: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}) -> (tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}) {
  %0 = stablehlo.tanh %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {"y"}]>]>} : tensor<8x16xf32>
  return %0 : tensor<8x16xf32>
}

// A dot whose contracting dimension is sharded computes partial sums, and the all-reduce adds them.
// CHECK-LABEL: func.func @partial_sums(%arg0: tensor<8x4xf32>{{.*}}, %arg1: tensor<4x8xf32>{{.*}}) -> tensor<8x8xf32>
// CHECK-NEXT: %0 = stablehlo.dot %arg0, %arg1{{.*}} : (tensor<8x4xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
// CHECK-NEXT: %1 = "stablehlo.all_reduce"(%0) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @mesh, axes = [#stablehlo.axis_ref<name = "y">]>, use_global_device_ids}> ({
// CHECK-NEXT: ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
// CHECK-NEXT: %2 = stablehlo.add %arg2, %arg3 : tensor<f32>
// CHECK-NEXT: stablehlo.return %2 : tensor<f32>
// CHECK-NEXT: }) : (tensor<8x8xf32>) -> tensor<8x8xf32>
// CHECK-NEXT: return %1 : tensor<8x8xf32>
func.func @partial_sums(%a: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}]>}, %b: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}) -> tensor<8x8xf32> {
  %0 = stablehlo.dot %a, %b {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>} : (tensor<8x16xf32>, tensor<16x8xf32>) -> tensor<8x8xf32>
  %1 = sdy.all_reduce {"y"} %0 out_sharding=<@mesh, [{}, {}]> : tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}

// A value without a sharding is whole on every device.
// CHECK-LABEL: func.func @whole(%arg0: tensor<8x16xf32>) -> tensor<8x16xf32>
// CHECK-NEXT: %0 = stablehlo.negate %arg0 : tensor<8x16xf32>
// CHECK-NEXT: return %0 : tensor<8x16xf32>
func.func @whole(%a: tensor<8x16xf32>) -> tensor<8x16xf32> {
  %0 = stablehlo.negate %a : tensor<8x16xf32>
  return %0 : tensor<8x16xf32>
}

// A manual computation is inlined: its body is already local along the manual axes.
// CHECK-LABEL: func.func @manual(%arg0: tensor<4x4xf32>{{.*}}) -> (tensor<4x4xf32>{{.*}})
// CHECK-NEXT: %0 = stablehlo.negate %arg0{{.*}} : tensor<4x4xf32>
// CHECK-NEXT: return %0 : tensor<4x4xf32>
func.func @manual(%a: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}) -> (tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}) {
  %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"x"}, {"y"}]>] out_shardings=[<@mesh, [{"x"}, {"y"}]>] manual_axes={"x"} (%b: tensor<4x16xf32>) {
    %1 = stablehlo.negate %b {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"y"}]>]>} : tensor<4x16xf32>
    sdy.return %1 : tensor<4x16xf32>
  } : (tensor<8x16xf32>) -> tensor<8x16xf32>
  return %0 : tensor<8x16xf32>
}

// The block arguments of a named computation get local types too.
// CHECK-LABEL: func.func @named(%arg0: tensor<4x16xf32>{{.*}}) -> (tensor<4x16xf32>{{.*}})
// CHECK-NEXT: %0 = sdy.named_computation<"layer">(%arg0) in_shardings=[<@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{"x"}, {}]>] (%arg1: tensor<4x16xf32>) {
// CHECK-NEXT: %1 = stablehlo.negate %arg1{{.*}} : tensor<4x16xf32>
// CHECK-NEXT: sdy.return %1 : tensor<4x16xf32>
// CHECK-NEXT: } : (tensor<4x16xf32>) -> tensor<4x16xf32>
// CHECK-NEXT: return %0 : tensor<4x16xf32>
func.func @named(%a: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  %0 = sdy.named_computation<"layer">(%a) in_shardings=[<@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{"x"}, {}]>] (%b: tensor<8x16xf32>) {
    %1 = stablehlo.negate %b {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : tensor<8x16xf32>
    sdy.return %1 : tensor<8x16xf32>
  } : (tensor<8x16xf32>) -> tensor<8x16xf32>
  return %0 : tensor<8x16xf32>
}

// By its rule, `([ij, k])->([ij, l])` with i=8, j=2, k=7 and l=2, the reshape needs all elements along j. "x" shards
// only i.
// CHECK-LABEL: func.func @reshape_without_common_divisor(%arg0: tensor<8x7xf32>{{.*}}) -> (tensor<28x2xf32>{{.*}})
// CHECK-NEXT: stablehlo.reshape %arg0 {{.*}} : (tensor<8x7xf32>) -> tensor<28x2xf32>
func.func @reshape_without_common_divisor(%a: tensor<16x7xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<56x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  %0 = stablehlo.reshape %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : (tensor<16x7xf32>) -> tensor<56x2xf32>
  return %0 : tensor<56x2xf32>
}
