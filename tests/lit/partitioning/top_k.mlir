// RUN: sdy-opt %s -sdy-resolve-permutation-factors | filecheck %s

// Of the largest elements of each shard, the largest ones are those of the tensor: only they are gathered.

sdy.mesh @mesh = <["x"=2]>

// CHECK-LABEL: func.func @gathered(%arg0: tensor<4x16xf32>{{.*}}) -> (tensor<4x2xf32>, tensor<4x2xi32>)
// CHECK-NEXT: %0:2 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{}, {"x"}]>] out_shardings=[<@mesh, [{}, {}]>, <@mesh, [{}, {}]>] manual_axes={"x"} (%arg1: tensor<4x8xf32>) {
// CHECK-NEXT: %3:2 = stablehlo.custom_call @mhlo.topk(%arg1) {mhlo.attributes = {k = 2 : i64, largest = true}, mhlo.version = 1 : i64} : (tensor<4x8xf32>) -> (tensor<4x2xf32>, tensor<4x2xi32>)
// CHECK-NEXT: %4 = stablehlo.partition_id : tensor<ui32>
// CHECK-NEXT: %5 = stablehlo.convert %4 : (tensor<ui32>) -> tensor<i64>
// CHECK-NEXT: %c = stablehlo.constant dense<8> : tensor<i64>
// CHECK-NEXT: %6 = stablehlo.multiply %5, %c : tensor<i64>
// CHECK-NEXT: %7 = stablehlo.convert %6 : (tensor<i64>) -> tensor<i32>
// CHECK-NEXT: %8 = stablehlo.broadcast_in_dim %7, dims = [] : (tensor<i32>) -> tensor<4x2xi32>
// CHECK-NEXT: %9 = stablehlo.add %3#1, %8 : tensor<4x2xi32>
// CHECK-NEXT: %10 = "stablehlo.all_gather"(%3#0) <{all_gather_dim = 1 : i64, channel_handle = #stablehlo.channel_handle<handle = {{[0-9]+}}, type = 1>, replica_groups = dense<{{\[\[}}0, 1]]> : tensor<1x2xi64>, use_global_device_ids}> : (tensor<4x2xf32>) -> tensor<4x4xf32>
// CHECK-NEXT: %11:2 = stablehlo.custom_call @mhlo.topk(%10) {mhlo.attributes = {k = 2 : i64, largest = true}, mhlo.version = 1 : i64} : (tensor<4x4xf32>) -> (tensor<4x2xf32>, tensor<4x2xi32>)
// CHECK-NEXT: %12 = "stablehlo.all_gather"(%9) <{all_gather_dim = 1 : i64, channel_handle = #stablehlo.channel_handle<handle = {{[0-9]+}}, type = 1>, replica_groups = dense<{{\[\[}}0, 1]]> : tensor<1x2xi64>, use_global_device_ids}> : (tensor<4x2xi32>) -> tensor<4x4xi32>
// CHECK-NEXT: %13 = stablehlo.reshape %11#1 : (tensor<4x2xi32>) -> tensor<4x2x1xi32>
// CHECK-NEXT: %14 = "stablehlo.gather"(%12, %13) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1>}> : (tensor<4x4xi32>, tensor<4x2x1xi32>) -> tensor<4x2xi32>
// CHECK-NEXT: sdy.return %11#0, %14 : tensor<4x2xf32>, tensor<4x2xi32>
// CHECK-NEXT: } : (tensor<4x16xf32>) -> (tensor<4x2xf32>, tensor<4x2xi32>)
// CHECK-NEXT: %1 = sdy.reshard %0#0 <@mesh, [{}, {}]> : tensor<4x2xf32>
// CHECK-NEXT: %2 = sdy.reshard %0#1 <@mesh, [{?}, {?}]> : tensor<4x2xi32>
// CHECK-NEXT: return %1, %2 : tensor<4x2xf32>, tensor<4x2xi32>
func.func @gathered(%a: tensor<4x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}) -> (tensor<4x2xf32>, tensor<4x2xi32>) {
  %0 = sdy.reshard %a <@mesh, [{}, {}]> : tensor<4x16xf32>
  %1:2 = stablehlo.custom_call @mhlo.topk(%0) {mhlo.attributes = {k = 2 : i64, largest = true}, mhlo.version = 1 : i64} : (tensor<4x16xf32>) -> (tensor<4x2xf32>, tensor<4x2xi32>)
  return %1#0, %1#1 : tensor<4x2xf32>, tensor<4x2xi32>
}

// -sdy-insert-explicit-reshards shards the rows instead, which moves all elements. The results keep their shardings.
// CHECK-LABEL: func.func @moved(%arg0: tensor<4x64xf32>{{.*}}) -> (tensor<4x2xf32>{{.*}}, tensor<4x2xi32>{{.*}})
// CHECK-NEXT: %0:2 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{}, {"x"}]>] out_shardings=[<@mesh, [{}, {}]>, <@mesh, [{}, {}]>] manual_axes={"x"} (%arg1: tensor<4x32xf32>) {
// CHECK-NEXT: %values, %indices = chlo.top_k(%arg1, k = 2) : tensor<4x32xf32> -> (tensor<4x2xf32>, tensor<4x2xi32>)
// CHECK-NEXT: %3 = stablehlo.partition_id : tensor<ui32>
// CHECK-NEXT: %4 = stablehlo.convert %3 : (tensor<ui32>) -> tensor<i64>
// CHECK-NEXT: %c = stablehlo.constant dense<32> : tensor<i64>
// CHECK-NEXT: %5 = stablehlo.multiply %4, %c : tensor<i64>
// CHECK-NEXT: %6 = stablehlo.convert %5 : (tensor<i64>) -> tensor<i32>
// CHECK-NEXT: %7 = stablehlo.broadcast_in_dim %6, dims = [] : (tensor<i32>) -> tensor<4x2xi32>
// CHECK-NEXT: %8 = stablehlo.add %indices, %7 : tensor<4x2xi32>
// CHECK-NEXT: %9 = "stablehlo.all_gather"(%values) <{all_gather_dim = 1 : i64, channel_handle = #stablehlo.channel_handle<handle = {{[0-9]+}}, type = 1>, replica_groups = dense<{{\[\[}}0, 1]]> : tensor<1x2xi64>, use_global_device_ids}> : (tensor<4x2xf32>) -> tensor<4x4xf32>
// CHECK-NEXT: %values_0, %indices_1 = chlo.top_k(%9, k = 2) : tensor<4x4xf32> -> (tensor<4x2xf32>, tensor<4x2xi32>)
// CHECK-NEXT: %10 = "stablehlo.all_gather"(%8) <{all_gather_dim = 1 : i64, channel_handle = #stablehlo.channel_handle<handle = {{[0-9]+}}, type = 1>, replica_groups = dense<{{\[\[}}0, 1]]> : tensor<1x2xi64>, use_global_device_ids}> : (tensor<4x2xi32>) -> tensor<4x4xi32>
// CHECK-NEXT: %11 = stablehlo.reshape %indices_1 : (tensor<4x2xi32>) -> tensor<4x2x1xi32>
// CHECK-NEXT: %12 = "stablehlo.gather"(%10, %11) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1>}> : (tensor<4x4xi32>, tensor<4x2x1xi32>) -> tensor<4x2xi32>
// CHECK-NEXT: sdy.return %values_0, %12 : tensor<4x2xf32>, tensor<4x2xi32>
// CHECK-NEXT: } : (tensor<4x64xf32>) -> (tensor<4x2xf32>, tensor<4x2xi32>)
// CHECK-NEXT: %1 = sdy.reshard %0#0 <@mesh, [{"x"}, {}]> : tensor<4x2xf32>
// CHECK-NEXT: %2 = sdy.reshard %0#1 <@mesh, [{"x"}, {}]> : tensor<4x2xi32>
// CHECK-NEXT: return %1, %2 : tensor<4x2xf32>, tensor<4x2xi32>
func.func @moved(%a: tensor<4x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}) -> (tensor<4x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, tensor<4x2xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  %0 = sdy.reshard %a <@mesh, [{"x"}, {}]> : tensor<4x64xf32>
  %values, %indices = chlo.top_k(%0, k = 2) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>, <@mesh, [{"x"}, {}]>]>} : tensor<4x64xf32> -> (tensor<4x2xf32>, tensor<4x2xi32>)
  return %values, %indices : tensor<4x2xf32>, tensor<4x2xi32>
}

// The 7 largest elements and their indices are more bytes than a shard.
// CHECK-LABEL: func.func @many(%arg0: tensor<16xf32>{{.*}}) -> tensor<7xf32>
// CHECK-NEXT: %0 = sdy.reshard %arg0 <@mesh, [{}]> : tensor<16xf32>
// CHECK-NEXT: %1:2 = stablehlo.custom_call @mhlo.topk(%0) {mhlo.attributes = {k = 7 : i64, largest = true}, mhlo.version = 1 : i64} : (tensor<16xf32>) -> (tensor<7xf32>, tensor<7xi32>)
// CHECK-NEXT: return %1#0 : tensor<7xf32>
func.func @many(%a: tensor<16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<7xf32> {
  %0 = sdy.reshard %a <@mesh, [{}]> : tensor<16xf32>
  %1:2 = stablehlo.custom_call @mhlo.topk(%0) {mhlo.attributes = {k = 7 : i64, largest = true}, mhlo.version = 1 : i64} : (tensor<16xf32>) -> (tensor<7xf32>, tensor<7xi32>)
  return %1#0 : tensor<7xf32>
}

// Padding could be among the largest elements.
// CHECK-LABEL: func.func @uneven(%arg0: tensor<16xf32>{{.*}}) -> tensor<1xf32>
// CHECK-NEXT: %0 = stablehlo.slice %arg0 [0:15] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : (tensor<16xf32>) -> tensor<15xf32>
// CHECK-NEXT: %1 = sdy.reshard %0 <@mesh, [{}]> : tensor<15xf32>
// CHECK-NEXT: %2:2 = stablehlo.custom_call @mhlo.topk(%1) {mhlo.attributes = {k = 1 : i64, largest = true}, mhlo.version = 1 : i64} : (tensor<15xf32>) -> (tensor<1xf32>, tensor<1xi32>)
// CHECK-NEXT: return %2#0 : tensor<1xf32>
func.func @uneven(%a: tensor<16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<1xf32> {
  %0 = stablehlo.slice %a [0:15] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : (tensor<16xf32>) -> tensor<15xf32>
  %1 = sdy.reshard %0 <@mesh, [{}]> : tensor<15xf32>
  %2:2 = stablehlo.custom_call @mhlo.topk(%1) {mhlo.attributes = {k = 1 : i64, largest = true}, mhlo.version = 1 : i64} : (tensor<15xf32>) -> (tensor<1xf32>, tensor<1xi32>)
  return %2#0 : tensor<1xf32>
}

// The devices are too many to list.
// CHECK-LABEL: func.func @many_devices
// CHECK-NEXT: %0 = sdy.reshard %arg0 <@large, [{}]> : tensor<67108864xf32>
// CHECK-NEXT: %1:2 = stablehlo.custom_call @mhlo.topk(%0)
// CHECK-NEXT: return %1#0 : tensor<1xf32>
sdy.mesh @large = <["x"=1048576]>
func.func @many_devices(%a: tensor<67108864xf32> {sdy.sharding = #sdy.sharding<@large, [{"x"}]>}) -> tensor<1xf32> {
  %0 = sdy.reshard %a <@large, [{}]> : tensor<67108864xf32>
  %1:2 = stablehlo.custom_call @mhlo.topk(%0) {mhlo.attributes = {k = 1 : i64, largest = true}, mhlo.version = 1 : i64} : (tensor<67108864xf32>) -> (tensor<1xf32>, tensor<1xi32>)
  return %1#0 : tensor<1xf32>
}
