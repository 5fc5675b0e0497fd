// StableHLO becomes VHLO, and VHLO of any version becomes StableHLO when it is read.
// RUN: sdy-opt %s -stablehlo-legalize-to-vhlo='allow-other-dialects=true' -o %t.vhlo
// RUN: filecheck %s < %t.vhlo
// RUN: sdy-opt %s -o %t.mlir
// RUN: sdy-opt %t.vhlo | diff - %t.mlir
// RUN: sdy-opt %t.vhlo -vhlo-legalize-to-stablehlo | diff - %t.mlir
// RUN: sdy-opt %t.vhlo -vhlo-to-version='target=1.3.0' -o %t.old
// RUN: filecheck %s --check-prefix=OLD < %t.old
// RUN: sdy-opt %t.old | diff - %t.mlir
// RUN: sdy-opt %s --target=1.3.0 | sdy-opt | diff - %t.mlir
// RUN: sdy-opt %s --target=1.22.0 | sdy-opt | diff - %t.mlir
// RUN: not sdy-opt %s -stablehlo-legalize-to-vhlo 2>&1 | filecheck %s --check-prefix=OTHERS

// OTHERS: error: failed to legalize operation 'func.func' that was explicitly marked illegal: "func.func"() <{{.*}}sym_name = "main"{{.*}}}> ({...})

sdy.mesh @mesh = <["x"=2]>
// CHECK: vhlo.func_v1 @main(%arg0: !vhlo.tensor_v1<8x?x!vhlo.f32_v1>, %arg1: !vhlo.tensor_v1<4x!vhlo.bool_v1>) -> (!vhlo.tensor_v1<8x?x!vhlo.f32_v1>) {
func.func public @main(%arg0: tensor<8x?xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %arg1: tensor<4xi1>) -> tensor<8x?xf32> {
  // CHECK: %0 = "vhlo.exponential_v2"(%arg0) <{result_accuracy = #vhlo.result_accuracy_v1<atol = 0.000000e+00, rtol = 0.000000e+00, ulps = 0, mode = #vhlo<result_accuracy_mode_v1 DEFAULT>>}> {a.b = #vhlo.integer_v1<2 : i32>}
  // OLD: "vhlo.exponential_v1"(%arg0) {a.b
  %0 = stablehlo.exponential %arg0 {a.b = 2 : i32} : tensor<8x?xf32>
  // CHECK: api_version = #vhlo<api_version_v1 API_VERSION_TYPED_FFI>, backend_config = #vhlo.dict_v1<{#vhlo.string_v1<"x"> = #vhlo.float_v1<1.500000e+00 : !vhlo.f32_v1>}>
  // OLD: "vhlo.custom_call_v1"
  %1 = stablehlo.custom_call @foo(%0) {api_version = 4 : i32, backend_config = {x = 1.5 : f32}} : (tensor<8x?xf32>) -> tensor<8x?xf32>
  // CHECK: [[A:%.*]] = builtin.unrealized_conversion_cast %1 : !vhlo.tensor_v1<8x?x!vhlo.f32_v1> to tensor<8x?xf32>
  // CHECK: [[B:%.*]] = sdy.sharding_constraint [[A]] <@mesh, [{"x"}, {?}]> : tensor<8x?xf32>
  // CHECK: builtin.unrealized_conversion_cast [[B]] : tensor<8x?xf32> to !vhlo.tensor_v1<8x?x!vhlo.f32_v1>
  %2 = sdy.sharding_constraint %1 <@mesh, [{"x"}, {?}]> : tensor<8x?xf32>
  %3 = func.call @reduce(%2) : (tensor<8x?xf32>) -> tensor<8xf32>
  return %2 : tensor<8x?xf32>
}
func.func private @reduce(%arg0: tensor<8x?xf32>) -> tensor<8xf32> {
  %cst = stablehlo.constant dense<0.0> : tensor<f32>
  // CHECK: "vhlo.reduce_v1"(%arg0, %{{.*}}) <{dimensions = #vhlo.tensor_v1<dense<1> : tensor<1xi64>>}> ({
  %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.add across dimensions = [1] : (tensor<8x?xf32>, tensor<f32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
// CHECK: arg_attrs = #vhlo.array_v1<[]>
func.func private @all(%a: tensor<16x8xf32>, %b: tensor<2xi32>, %i: tensor<i32>, %x: tensor<1x8x8x4xf32>, %k: tensor<3x3x4x8xf32>) {
  %0 = "stablehlo.all_gather"(%a) <{all_gather_dim = 1 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>, use_global_device_ids}> : (tensor<16x8xf32>) -> tensor<16x16xf32>
  %1 = "stablehlo.gather"(%a, %b) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 8>}> : (tensor<16x8xf32>, tensor<2xi32>) -> tensor<2x8xf32>
  // CHECK: window_strides = #vhlo.tensor_v1<dense<1> : tensor<2xi64>>
  %2 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x4xf32>, tensor<3x3x4x8xf32>) -> tensor<1x8x8x8xf32>
  %3 = stablehlo.compare LT, %i, %i, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
  %4 = "stablehlo.sort"(%a) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%l: tensor<f32>, %r: tensor<f32>):
    %s = stablehlo.compare LT, %l, %r : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %s : tensor<i1>
  }) : (tensor<16x8xf32>) -> tensor<16x8xf32>
  %5 = stablehlo.dot_general %a, %a, contracting_dims = [1] x [1] : (tensor<16x8xf32>, tensor<16x8xf32>) -> tensor<16x16xf32>
  %token = stablehlo.create_token : !stablehlo.token
  return
}
