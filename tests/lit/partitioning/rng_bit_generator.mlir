// RUN: sdy-opt %s -sdy-convert-global-to-local | filecheck %s
// RUN: sdy-opt %s -sdy-convert-global-to-local --sdy-version=jaxlib-0.11.2 | filecheck %s --check-prefix=WHOLE
// RUN: sdy-opt %s -sdy-resolve-permutation-factors=rng-bit-generator-unsafe=false | filecheck %s --check-prefix=SAFE

sdy.mesh @mesh = <["x"=2, "y"=2]>

// Each shard is generated from a state of its own: the state plus a hash of the index of the shard. So the bits
// depend on their sharding. The new state is that of the first shard, which all devices get by an all-reduce.
// CHECK-LABEL: func.func @sharded_bits
// CHECK-NEXT: %0 = stablehlo.partition_id : tensor<ui32>
// CHECK-NEXT: %c = stablehlo.constant dense<[0, 0, 3801824426178300716, 3801824426178300716]> : tensor<4xui64>
// CHECK-NEXT: %1 = stablehlo.dynamic_slice %c, %0, sizes = [1] : (tensor<4xui64>, tensor<ui32>) -> tensor<1xui64>
// CHECK-NEXT: %2 = stablehlo.reshape %1 : (tensor<1xui64>) -> tensor<ui64>
// CHECK-NEXT: %3 = stablehlo.broadcast_in_dim %2, dims = [] : (tensor<ui64>) -> tensor<2xui64>
// CHECK-NEXT: %4 = stablehlo.add %arg0, %3 : tensor<2xui64>
// CHECK-NEXT: %output_state, %output = stablehlo.rng_bit_generator %4, algorithm = DEFAULT : (tensor<2xui64>) -> (tensor<2xui64>, tensor<4x4xui32>)
// CHECK-NEXT: %c_0 = stablehlo.constant dense<[true, true, false, false]> : tensor<4xi1>
// CHECK-NEXT: %5 = stablehlo.dynamic_slice %c_0, %0, sizes = [1] : (tensor<4xi1>, tensor<ui32>) -> tensor<1xi1>
// CHECK-NEXT: %6 = stablehlo.reshape %5 : (tensor<1xi1>) -> tensor<i1>
// CHECK-NEXT: %c_1 = stablehlo.constant dense<0> : tensor<2xui64>
// CHECK-NEXT: %7 = stablehlo.select %6, %output_state, %c_1 : tensor<i1>, tensor<2xui64>
// CHECK-NEXT: %8 = "stablehlo.all_reduce"(%7) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @mesh, axes = [#stablehlo.axis_ref<name = "x">]>, use_global_device_ids}> ({
// CHECK: return %8, %output : tensor<2xui64>, tensor<4x4xui32>
// Before jaxlib 0.12.0.1, every device generates all bits and takes its shard.
// WHOLE-LABEL: func.func @sharded_bits
// WHOLE-NEXT: %output_state, %output = stablehlo.rng_bit_generator %arg0, algorithm = DEFAULT : (tensor<2xui64>) -> (tensor<2xui64>, tensor<8x4xui32>)
// WHOLE: stablehlo.dynamic_slice %output
// The option replicates the bits before, so that they do not depend on their sharding.
// SAFE-LABEL: func.func @sharded_bits
// SAFE-NEXT: %output_state, %output = stablehlo.rng_bit_generator %arg0, algorithm = DEFAULT {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}]>, <@mesh, [{}, {}]>]>}
// SAFE-NEXT: %0 = sdy.reshard %output <@mesh, [{"x"}, {}]> : tensor<8x4xui32>
// SAFE-NEXT: return %output_state, %0
func.func @sharded_bits(%state: tensor<2xui64>) -> (tensor<2xui64>, tensor<8x4xui32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  %0, %1 = stablehlo.rng_bit_generator %state, algorithm = DEFAULT {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}]>, <@mesh, [{"x"}, {}]>]>} : (tensor<2xui64>) -> (tensor<2xui64>, tensor<8x4xui32>)
  return %0, %1 : tensor<2xui64>, tensor<8x4xui32>
}
