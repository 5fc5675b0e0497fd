// RUN: sdy-opt %s -sdy-resolve-permutation-factors | filecheck %s

// Operations that need elements of other shards get halos of them, or are resharded.

sdy.mesh @mesh = <["x"=2, "y"=2]>
sdy.mesh @other = <["a"=2, "b"=2]>

// Each device has the two of elements 2 to 5 that it needs, but at different offsets in its shard.
// CHECK-LABEL: func.func @slice(%arg0: tensor<8xf32>{{.*}}) -> (tensor<4xf32>{{.*}})
// CHECK-NEXT: %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[<@mesh, [{"x"}]>] manual_axes={"x"} (%arg1: tensor<4xf32>) {
// CHECK-NEXT: %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT: %1 = stablehlo.partition_id : tensor<ui32>
// CHECK-NEXT: %2 = stablehlo.convert %1 : (tensor<ui32>) -> tensor<i64>
// CHECK-NEXT: %c = stablehlo.constant dense<2> : tensor<i64>
// CHECK-NEXT: %3 = stablehlo.divide %2, %c : tensor<i64>
// CHECK-NEXT: %c_0 = stablehlo.constant dense<-2> : tensor<i64>
// CHECK-NEXT: %4 = stablehlo.multiply %3, %c_0 : tensor<i64>
// CHECK-NEXT: %c_1 = stablehlo.constant dense<2> : tensor<i64>
// CHECK-NEXT: %5 = stablehlo.add %4, %c_1 : tensor<i64>
// CHECK-NEXT: %c_2 = stablehlo.constant dense<0> : tensor<i64>
// CHECK-NEXT: %6 = stablehlo.dynamic_slice %arg1, %5, sizes = [2] : (tensor<4xf32>, tensor<i64>) -> tensor<2xf32>
// CHECK-NEXT: sdy.return %6 : tensor<2xf32>
// CHECK-NEXT: } : (tensor<8xf32>) -> tensor<4xf32>
// CHECK-NEXT: return %0 : tensor<4xf32>
func.func @slice(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> (tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  %0 = stablehlo.slice %a [2:6] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : (tensor<8xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// Without the last element, shards begin where they did before: 4 and 3 elements.
// CHECK-LABEL: func.func @slice_in_place(%arg0: tensor<8xf32>{{.*}}) -> tensor<7xf32>
// CHECK-NEXT: %0 = stablehlo.slice %arg0 [0:7]{{.*}} : (tensor<8xf32>) -> tensor<7xf32>
// CHECK-NEXT: %1 = sdy.reshard %0 <@mesh, [{}]> : tensor<7xf32>
// CHECK-NEXT: return %1 : tensor<7xf32>
func.func @slice_in_place(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<7xf32> {
  %0 = stablehlo.slice %a [0:7] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : (tensor<8xf32>) -> tensor<7xf32>
  %1 = sdy.reshard %0 <@mesh, [{}]> : tensor<7xf32>
  return %1 : tensor<7xf32>
}

// Padding between elements keeps them in their shards.
// CHECK-LABEL: func.func @pad_in_place(%arg0: tensor<8xf32>{{.*}}, %arg1: tensor<f32>) -> (tensor<16xf32>{{.*}})
// CHECK-NEXT: %0 = stablehlo.pad %arg0, %arg1, low = [0], high = [1], interior = [1]{{.*}} : (tensor<8xf32>, tensor<f32>) -> tensor<16xf32>
// CHECK-NEXT: return %0 : tensor<16xf32>
func.func @pad_in_place(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %v: tensor<f32>) -> (tensor<16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  %0 = stablehlo.pad %a, %v, low = [0], high = [1], interior = [1] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : (tensor<8xf32>, tensor<f32>) -> tensor<16xf32>
  return %0 : tensor<16xf32>
}

// High padding moves the border between the shards: the first device gets two elements of the second one.
// CHECK-LABEL: func.func @pad(%arg0: tensor<8xf32>{{.*}}, %arg1: tensor<f32>) -> (tensor<12xf32>{{.*}})
// CHECK-NEXT: %0 = sdy.manual_computation(%arg0, %arg1) in_shardings=[<@mesh, [{"x"}]>, <@mesh, []>] out_shardings=[<@mesh, [{"x"}]>] manual_axes={"x"} (%arg2: tensor<4xf32>, %arg3: tensor<f32>) {
// CHECK-NEXT: %1 = stablehlo.slice %arg2 [0:2] : (tensor<4xf32>) -> tensor<2xf32>
// CHECK-NEXT: %2 = "stablehlo.collective_permute"(%1) <{channel_handle = #stablehlo.channel_handle<handle = {{[0-9]+}}, type = 1>, source_target_pairs = dense<{{\[\[}}2, 0], [3, 1]]> : tensor<2x2xi64>}> : (tensor<2xf32>) -> tensor<2xf32>
// CHECK-NEXT: %3 = stablehlo.concatenate %arg2, %2, dim = 0 : (tensor<4xf32>, tensor<2xf32>) -> tensor<6xf32>
// CHECK-NEXT: %4 = stablehlo.pad %3, %arg3, low = [0], high = [2], interior = [0] : (tensor<6xf32>, tensor<f32>) -> tensor<8xf32>
// CHECK-NEXT: %5 = stablehlo.partition_id : tensor<ui32>
// CHECK-NEXT: %6 = stablehlo.convert %5 : (tensor<ui32>) -> tensor<i64>
// CHECK-NEXT: %c = stablehlo.constant dense<2> : tensor<i64>
// CHECK-NEXT: %7 = stablehlo.divide %6, %c : tensor<i64>
// CHECK-NEXT: %c_0 = stablehlo.constant dense<2> : tensor<i64>
// CHECK-NEXT: %8 = stablehlo.multiply %7, %c_0 : tensor<i64>
// CHECK-NEXT: %c_1 = stablehlo.constant dense<0> : tensor<i64>
// CHECK-NEXT: %9 = stablehlo.dynamic_slice %4, %8, sizes = [6] : (tensor<8xf32>, tensor<i64>) -> tensor<6xf32>
// CHECK-NEXT: %c_2 = stablehlo.constant dense<6> : tensor<i64>
// CHECK-NEXT: %10 = stablehlo.multiply %7, %c_2 : tensor<i64>
// CHECK-NEXT: %11 = stablehlo.iota dim = 0 : tensor<6xi64>
// CHECK-NEXT: %12 = stablehlo.broadcast_in_dim %10, dims = [] : (tensor<i64>) -> tensor<6xi64>
// CHECK-NEXT: %13 = stablehlo.add %11, %12 : tensor<6xi64>
// CHECK-NEXT: %c_3 = stablehlo.constant dense<0> : tensor<6xi64>
// CHECK-NEXT: %14 = stablehlo.compare GE, %13, %c_3 : (tensor<6xi64>, tensor<6xi64>) -> tensor<6xi1>
// CHECK-NEXT: %c_4 = stablehlo.constant dense<8> : tensor<6xi64>
// CHECK-NEXT: %15 = stablehlo.compare LT, %13, %c_4 : (tensor<6xi64>, tensor<6xi64>) -> tensor<6xi1>
// CHECK-NEXT: %16 = stablehlo.and %14, %15 : tensor<6xi1>
// CHECK-NEXT: %17 = stablehlo.broadcast_in_dim %16, dims = [0] : (tensor<6xi1>) -> tensor<6xi1>
// CHECK-NEXT: %18 = stablehlo.broadcast_in_dim %arg3, dims = [] : (tensor<f32>) -> tensor<6xf32>
// CHECK-NEXT: %19 = stablehlo.select %17, %9, %18 : tensor<6xi1>, tensor<6xf32>
// CHECK-NEXT: sdy.return %19 : tensor<6xf32>
// CHECK-NEXT: } : (tensor<8xf32>, tensor<f32>) -> tensor<12xf32>
// CHECK-NEXT: return %0 : tensor<12xf32>
func.func @pad(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %v: tensor<f32>) -> (tensor<12xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  %0 = stablehlo.pad %a, %v, low = [0], high = [4], interior = [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : (tensor<8xf32>, tensor<f32>) -> tensor<12xf32>
  return %0 : tensor<12xf32>
}

// The devices exchange their shards, and reverse what they get.
// CHECK-LABEL: func.func @reverse(%arg0: tensor<8x4xf32>{{.*}}) -> (tensor<8x4xf32>{{.*}})
// CHECK-NEXT: %0 = sdy.manual_computation(%arg0) in_shardings=[<@other, [{"a"}, {"b"}]>] out_shardings=[<@other, [{"a"}, {"b"}]>] manual_axes={"a", "b"} (%arg1: tensor<4x2xf32>) {
// CHECK-NEXT: %1 = "stablehlo.collective_permute"(%arg1) <{channel_handle = #stablehlo.channel_handle<handle = {{[0-9]+}}, type = 1>, source_target_pairs = dense<{{\[\[}}0, 2], [1, 3], [2, 0], [3, 1]]> : tensor<4x2xi64>}> : (tensor<4x2xf32>) -> tensor<4x2xf32>
// CHECK-NEXT: %2 = stablehlo.reverse %1, dims = [0] : tensor<4x2xf32>
// CHECK-NEXT: sdy.return %2 : tensor<4x2xf32>
// CHECK-NEXT: } : (tensor<8x4xf32>) -> tensor<8x4xf32>
// CHECK-NEXT: return %0 : tensor<8x4xf32>
func.func @reverse(%a: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@other, [{"a"}, {"b"}]>}) -> (tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@other, [{"a"}, {"b"}]>}) {
  %0 = stablehlo.reverse %a, dims = [0] {sdy.sharding = #sdy.sharding_per_value<[<@other, [{"a"}, {"b"}]>]>} : tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// Splitting a dimension is local if shards are even. Here the last shard is smaller.
// CHECK-LABEL: func.func @reshape(%arg0: tensor<6xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: %0 = sdy.reshard %arg0 <@other, [{"a", "b"}]> : tensor<6xf32>
// CHECK-NEXT: %1 = sdy.reshard %0 <@other, [{}]> : tensor<6xf32>
// CHECK-NEXT: %2 = stablehlo.reshape %1{{.*}} : (tensor<6xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: %3 = sdy.reshard %2 <@other, [{"a"}, {"b"}]> : tensor<2x3xf32>
// CHECK-NEXT: %4 = sdy.reshard %3 <@other, [{}, {}]> : tensor<2x3xf32>
// CHECK-NEXT: return %4 : tensor<2x3xf32>
func.func @reshape(%a: tensor<6xf32>) -> tensor<2x3xf32> {
  %0 = sdy.reshard %a <@other, [{"a", "b"}]> : tensor<6xf32>
  %1 = stablehlo.reshape %0 {sdy.sharding = #sdy.sharding_per_value<[<@other, [{"a"}, {"b"}]>]>} : (tensor<6xf32>) -> tensor<2x3xf32>
  %2 = sdy.reshard %1 <@other, [{}, {}]> : tensor<2x3xf32>
  return %2 : tensor<2x3xf32>
}

// An operation without a sharding rule runs on every device.
// CHECK-LABEL: func.func @no_rule(%arg0: tensor<8x4xf32>{{.*}}, %arg1: tensor<4xf32>) -> (tensor<8x4xf32>{{.*}})
// CHECK-NEXT: %0 = sdy.reshard %arg0 <@mesh, [{}, {}]> : tensor<8x4xf32>
// CHECK-NEXT: "stablehlo.batch_norm_training"(%0, %arg1, %arg1) {{.*}}<@mesh, [{}, {}]>
// CHECK-NEXT: %1 = sdy.reshard %output <@mesh, [{"x"}, {}]> : tensor<8x4xf32>
// CHECK-NEXT: return %1 : tensor<8x4xf32>
func.func @no_rule(%a: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %s: tensor<4xf32>) -> (tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  %0:3 = "stablehlo.batch_norm_training"(%a, %s, %s) <{epsilon = 1.0e-3 : f32, feature_index = 1 : i64}> {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>, <@mesh, [{}]>, <@mesh, [{}]>]>} : (tensor<8x4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<8x4xf32>, tensor<4xf32>, tensor<4xf32>)
  return %0#0 : tensor<8x4xf32>
}

// An operation stays sharded along the pass-through factors of its rule.
// CHECK-LABEL: func.func @pass_through(%arg0: tensor<8x4xf32>{{.*}}, %arg1: tensor<4xf32>) -> (tensor<8x4xf32>{{.*}})
// CHECK-NEXT: %0 = "stablehlo.batch_norm_inference"(%arg0, %arg1, %arg1, %arg1, %arg1) <{epsilon = 1.000000e-03 : f32, feature_index = 1 : i64}>{{.*}} : (tensor<8x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<8x4xf32>
// CHECK-NEXT: return %0 : tensor<8x4xf32>
func.func @pass_through(%a: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %s: tensor<4xf32>) -> (tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  %0 = "stablehlo.batch_norm_inference"(%a, %s, %s, %s, %s) <{epsilon = 1.0e-3 : f32, feature_index = 1 : i64}> {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : (tensor<8x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// Between meshes with different axes, a tensor is gathered. The barrier has no sharding: what is replicated on one
// mesh is replicated on any.
// CHECK-LABEL: func.func @meshes(%arg0: tensor<8xf32>{{.*}}) -> (tensor<8xf32>{{.*}})
// CHECK-NEXT: %0 = sdy.reshard %arg0 <@mesh, [{}]> : tensor<8xf32>
// CHECK-NEXT: %1 = stablehlo.optimization_barrier %0 : tensor<8xf32>
// CHECK-NEXT: %2 = sdy.reshard %1 <@other, [{"b"}]> : tensor<8xf32>
// CHECK-NEXT: return %2 : tensor<8xf32>
func.func @meshes(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@other, [{"b"}]>}) {
  %0 = sdy.reshard %a <@other, [{"b"}]> : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// Both branches return a value with the sharding of the result.
// CHECK-LABEL: func.func @branches(%arg0: tensor<i1>, %arg1: tensor<8xf32>{{.*}}, %arg2: tensor<8xf32>) -> (tensor<8xf32>{{.*}})
// CHECK-NEXT: %0 = "stablehlo.if"(%arg0) ({
// CHECK-NEXT: stablehlo.return %arg1 : tensor<8xf32>
// CHECK-NEXT: }, {
// CHECK-NEXT: %1 = sdy.reshard %arg2 <@mesh, [{"x"}]> : tensor<8xf32>
// CHECK-NEXT: stablehlo.return %1 : tensor<8xf32>
// CHECK-NEXT: }){{.*}} : (tensor<i1>) -> tensor<8xf32>
// CHECK-NEXT: return %0 : tensor<8xf32>
func.func @branches(%p: tensor<i1>, %a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %b: tensor<8xf32>) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  %0 = "stablehlo.if"(%p) ({
    stablehlo.return %a : tensor<8xf32>
  }, {
    stablehlo.return %b : tensor<8xf32>
  }) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : (tensor<i1>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
