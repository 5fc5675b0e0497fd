// RUN: sdy-opt %s | sdy-opt | filecheck %s

// Operations of StableHLO in mhlo: lists are elements attributes, and most have only the generic form.
// CHECK-LABEL: func.func @shared
func.func @shared(%a: tensor<4x8xf32>, %b: tensor<8x4xf32>, %image: tensor<1x8x8x4xf32>, %kernel: tensor<3x3x4x2xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %0 = mhlo.add %arg0, %arg0 {mhlo.sharding = "{replicated}"} : tensor<4x8xf32>
  // CHECK-NEXT: %1 = mhlo.exponential %0 {result_accuracy = #mhlo.result_accuracy<ulps = 2, mode = #mhlo.result_accuracy_mode<TOLERANCE>>} : tensor<4x8xf32>
  // CHECK-NEXT: %2 = mhlo.compare LT, %0, %1, TOTALORDER : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xi1>
  // CHECK-NEXT: %3 = "mhlo.dot_general"(%arg0, %arg1) <{dot_dimension_numbers = #mhlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#mhlo<precision HIGH>, #mhlo<precision DEFAULT>]}> : (tensor<4x8xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
  // CHECK-NEXT: %4 = "mhlo.slice"(%arg0) <{limit_indices = dense<[2, 4]> : tensor<2xi64>, start_indices = dense<0> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}> : (tensor<4x8xf32>) -> tensor<2x4xf32>
  // CHECK-NEXT: %5 = mhlo.convolution(%arg2, %arg3) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [2, 2], pad = [{{\[}}1, 1], [1, 1]], reverse = [1, 0]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x4xf32>, tensor<3x3x4x2xf32>) -> tensor<1x4x4x2xf32>
  // CHECK-NEXT: %6 = mhlo.constant dense<0.000000e+00> : tensor<f32>
  // CHECK-NEXT: %7 = mhlo.reduce(%arg0 init: %6) applies mhlo.add across dimensions = [1] : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
  // CHECK-NEXT: %8 = mhlo.create_token : !mhlo.token
  // CHECK-NEXT: %9:2 = "mhlo.infeed"(%8) <{infeed_config = "x"}> : (!mhlo.token) -> (tensor<4xf32>, !mhlo.token)
  // CHECK-NEXT: %10 = mhlo.custom_call @f(%arg0) {custom_call_schedule = #mhlo<custom_call_schedule LATEST>} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK-NEXT: %output_state, %output = "mhlo.rng_bit_generator"(%arg0) <{rng_algorithm = #mhlo.rng_algorithm<PHILOX>}> : (tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4xi32>)
  // CHECK-NEXT: %11 = mhlo.while(%iterArg = %7) : tensor<4xf32>
  // CHECK-NEXT: cond {
  // CHECK-NEXT: %12 = mhlo.constant dense<true> : tensor<i1>
  // CHECK-NEXT: mhlo.return %12 : tensor<i1>
  // CHECK-NEXT: } do {
  // CHECK-NEXT: mhlo.return %iterArg : tensor<4xf32>
  // CHECK-NEXT: }
  // CHECK-NEXT: return %11 : tensor<4xf32>
  %0 = mhlo.add %a, %a {mhlo.sharding = "{replicated}"} : tensor<4x8xf32>
  %1 = mhlo.exponential %0 {result_accuracy = #mhlo.result_accuracy<ulps = 2, mode = #mhlo.result_accuracy_mode<TOLERANCE>>} : tensor<4x8xf32>
  %2 = mhlo.compare LT, %0, %1, TOTALORDER : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xi1>
  %3 = "mhlo.dot_general"(%a, %b) {dot_dimension_numbers = #mhlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#mhlo<precision HIGH>, #mhlo<precision DEFAULT>]} : (tensor<4x8xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
  %4 = "mhlo.slice"(%a) {start_indices = dense<0> : tensor<2xi64>, limit_indices = dense<[2, 4]> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} : (tensor<4x8xf32>) -> tensor<2x4xf32>
  %5 = mhlo.convolution(%image, %kernel) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [2, 2], pad = [[1, 1], [1, 1]], reverse = [true, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x4xf32>, tensor<3x3x4x2xf32>) -> tensor<1x4x4x2xf32>
  %c = mhlo.constant dense<0.0> : tensor<f32>
  %6 = mhlo.reduce(%a init: %c) applies mhlo.add across dimensions = [1] : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
  %7 = mhlo.create_token : !mhlo.token
  %8:2 = "mhlo.infeed"(%7) {infeed_config = "x"} : (!mhlo.token) -> (tensor<4xf32>, !mhlo.token)
  %9 = mhlo.custom_call @f(%a) {custom_call_schedule = #mhlo<custom_call_schedule LATEST>} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %10:2 = "mhlo.rng_bit_generator"(%a) {rng_algorithm = #mhlo.rng_algorithm<PHILOX>} : (tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4xi32>)
  %11 = "mhlo.while"(%6) ({
  ^bb0(%x: tensor<4xf32>):
    %p = mhlo.constant dense<true> : tensor<i1>
    mhlo.return %p : tensor<i1>
  }, {
  ^bb0(%x: tensor<4xf32>):
    mhlo.return %x : tensor<4xf32>
  }) : (tensor<4xf32>) -> tensor<4xf32>
  return %11 : tensor<4xf32>
}

// CHECK-LABEL: func.func @own
func.func @own(%a: tensor<4x8xf32>, %n: tensor<4x8xi32>, %random: tensor<4x8xui32>, %shape: tensor<2xindex>, %groups: tensor<?xf32, #mhlo.type_extensions<bounds = [4]>> {mhlo.x = #mhlo.conv<[b, ?, f]x[i, o]->[b, f]>}) {
  // CHECK-NEXT: %0 = "mhlo.fusion"(%arg0) <{fusion_kind = #mhlo<fusion_kind kLoop>}> ({
  // CHECK-NEXT: ^bb0(%arg5: tensor<4x8xf32>):
  // CHECK-NEXT: mhlo.return %arg5 : tensor<4x8xf32>
  // CHECK-NEXT: }) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK-NEXT: %1 = mhlo.bitcast %0 : (tensor<4x8xf32>) -> tensor<8x4xf32>
  // CHECK-NEXT: mhlo.trace %0, "tag" : tensor<4x8xf32>
  // CHECK-NEXT: %values, %indices = mhlo.topk(%arg0, k = 2, largest = false) : tensor<4x8xf32> -> (tensor<4x2xf32>, tensor<4x2xi32>)
  // CHECK-NEXT: %2 = mhlo.xla.rng_get_and_update_state {delta = 1 : i64}
  // CHECK-NEXT: %3 = "mhlo.domain"(%arg0) <{entry_metadata = "a", exit_metadata = "b", kind = #mhlo<kind sharding>}> : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK-NEXT: %4 = mhlo.acos %arg0 : tensor<4x8xf32>
  // CHECK-NEXT: %5 = mhlo.exp2 %arg0 : tensor<4x8xf32>
  // CHECK-NEXT: %6 = mhlo.erf %arg0 : tensor<4x8xf32>
  // CHECK-NEXT: %7 = mhlo.mulhi %arg1, %arg1 : tensor<4x8xi32>
  // CHECK-NEXT: %8 = "mhlo.stochastic_convert"(%arg0, %arg2) : (tensor<4x8xf32>, tensor<4x8xui32>) -> tensor<4x8xi8>
  // CHECK-NEXT: %9 = mhlo.create_token : !mhlo.token
  // CHECK-NEXT: %10 = mhlo.add_dependency %arg0, %9 : (tensor<4x8xf32>, !mhlo.token) -> tensor<4x8xf32>
  // CHECK-NEXT: %11:2 = mhlo.minimum_broadcast_shapes %arg3, %arg3 : tensor<2xindex>, tensor<2xindex> -> tensor<2xindex>, tensor<2xindex>
  // CHECK-NEXT: %12 = "mhlo.async_start"(%arg0) <{called_computation = @callee, execution_thread = "main"}> : (tensor<4x8xf32>) -> !mhlo.async_bundle<tensor<4x8xf32>, tensor<4x8xf32>>
  // CHECK-NEXT: %13 = "mhlo.async_update"(%12) : (!mhlo.async_bundle<tensor<4x8xf32>, tensor<4x8xf32>>) -> !mhlo.async_bundle<tensor<4x8xf32>, tensor<4x8xf32>>
  // CHECK-NEXT: %14 = "mhlo.async_done"(%13) : (!mhlo.async_bundle<tensor<4x8xf32>, tensor<4x8xf32>>) -> tensor<4x8xf32>
  // CHECK-NEXT: return
  %0 = "mhlo.fusion"(%a) ({
  ^bb0(%x: tensor<4x8xf32>):
    mhlo.return %x : tensor<4x8xf32>
  }) {fusion_kind = #mhlo<fusion_kind kLoop>} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %1 = mhlo.bitcast %0 : (tensor<4x8xf32>) -> tensor<8x4xf32>
  mhlo.trace %0, "tag" : tensor<4x8xf32>
  %2:2 = mhlo.topk(%a, k = 2, largest = false) : tensor<4x8xf32> -> (tensor<4x2xf32>, tensor<4x2xi32>)
  %3 = mhlo.xla.rng_get_and_update_state {delta = 1 : i64}
  %4 = "mhlo.domain"(%a) {kind = #mhlo<kind sharding>, entry_metadata = "a", exit_metadata = "b"} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %5 = mhlo.acos %a : tensor<4x8xf32>
  %6 = mhlo.exp2 %a : tensor<4x8xf32>
  %7 = mhlo.erf %a : tensor<4x8xf32>
  %8 = mhlo.mulhi %n, %n : tensor<4x8xi32>
  %9 = "mhlo.stochastic_convert"(%a, %random) : (tensor<4x8xf32>, tensor<4x8xui32>) -> tensor<4x8xi8>
  %10 = mhlo.create_token : !mhlo.token
  %11 = mhlo.add_dependency %a, %10 : (tensor<4x8xf32>, !mhlo.token) -> tensor<4x8xf32>
  %12:2 = mhlo.minimum_broadcast_shapes %shape, %shape : tensor<2xindex>, tensor<2xindex> -> tensor<2xindex>, tensor<2xindex>
  %13 = "mhlo.async_start"(%a) {called_computation = @callee, execution_thread = "main"} : (tensor<4x8xf32>) -> !mhlo.async_bundle<tensor<4x8xf32>, tensor<4x8xf32>>
  %14 = "mhlo.async_update"(%13) : (!mhlo.async_bundle<tensor<4x8xf32>, tensor<4x8xf32>>) -> !mhlo.async_bundle<tensor<4x8xf32>, tensor<4x8xf32>>
  %15 = "mhlo.async_done"(%14) : (!mhlo.async_bundle<tensor<4x8xf32>, tensor<4x8xf32>>) -> tensor<4x8xf32>
  return
}

func.func private @callee(%x: tensor<4x8xf32> {mhlo.alias = #mhlo.result_alias<result_index = [0], must_alias>}) -> tensor<4x8xf32> attributes {execution_thread = "main"} {
  return %x : tensor<4x8xf32>
}
