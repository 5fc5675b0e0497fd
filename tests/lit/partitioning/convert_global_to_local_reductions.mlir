// RUN: sdy-opt %s -sdy-convert-global-to-local | filecheck %s

// Partial results are combined by the reduction that has computed them. (C++ always adds them.)

sdy.mesh @mesh = <["x"=2]>

// The maximum of partial maxima.
// CHECK-LABEL: func.func @maximum(%arg0: tensor<4xf32>{{.*}}, %arg1: tensor<f32>) -> tensor<f32>
// CHECK-NEXT: %0 = stablehlo.reduce(%arg0 init: %arg1) applies stablehlo.maximum across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
// CHECK-NEXT: %1 = "stablehlo.all_reduce"(%0) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @mesh, axes = [#stablehlo.axis_ref<name = "x">]>, use_global_device_ids}> ({
// CHECK-NEXT: ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
// CHECK-NEXT: %2 = stablehlo.maximum %arg2, %arg3 : tensor<f32>
// CHECK-NEXT: stablehlo.return %2 : tensor<f32>
// CHECK-NEXT: }) : (tensor<f32>) -> tensor<f32>
// CHECK-NEXT: return %1 : tensor<f32>
func.func @maximum(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %init: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.reduce(%a init: %init) applies stablehlo.maximum across dimensions = [0] : (tensor<8xf32>, tensor<f32>) -> tensor<f32>
  %1 = sdy.all_reduce {"x"} %0 out_sharding=<@mesh, []> : tensor<f32>
  return %1 : tensor<f32>
}

// The same for a reduce-scatter.
// CHECK-LABEL: func.func @minimum_scattered(%arg0: tensor<4x4xf32>{{.*}}, %arg1: tensor<f32>) -> (tensor<2xf32>{{.*}})
// CHECK-NEXT: %0 = stablehlo.reduce(%arg0 init: %arg1) applies stablehlo.minimum across dimensions = [0] : (tensor<4x4xf32>, tensor<f32>) -> tensor<4xf32>
// CHECK-NEXT: %1 = "stablehlo.reduce_scatter"(%0) <{channel_handle = #stablehlo.channel_handle<handle = 2, type = 1>, replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @mesh, axes = [#stablehlo.axis_ref<name = "x">]>, scatter_dimension = 0 : i64, use_global_device_ids}> ({
// CHECK-NEXT: ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
// CHECK-NEXT: %2 = stablehlo.minimum %arg2, %arg3 : tensor<f32>
// CHECK-NEXT: stablehlo.return %2 : tensor<f32>
// CHECK-NEXT: }) : (tensor<4xf32>) -> tensor<2xf32>
// CHECK-NEXT: return %1 : tensor<2xf32>
func.func @minimum_scattered(%a: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %init: tensor<f32>) -> (tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  %0 = stablehlo.reduce(%a init: %init) applies stablehlo.minimum across dimensions = [0] : (tensor<8x4xf32>, tensor<f32>) -> tensor<4xf32>
  %1 = sdy.reduce_scatter [{"x"}] %0 out_sharding=<@mesh, [{"x"}]> : tensor<4xf32>
  return %1 : tensor<4xf32>
}

// Booleans are combined by a collective `and`, which backends support for booleans only.
// CHECK-LABEL: func.func @all(%arg0: tensor<4xi1>{{.*}}, %arg1: tensor<i1>) -> tensor<i1>
// CHECK-NEXT: %0 = stablehlo.reduce(%arg0 init: %arg1) applies stablehlo.and across dimensions = [0] : (tensor<4xi1>, tensor<i1>) -> tensor<i1>
// CHECK-NEXT: %1 = "stablehlo.all_reduce"(%0) <{channel_handle = #stablehlo.channel_handle<handle = 3, type = 1>, replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @mesh, axes = [#stablehlo.axis_ref<name = "x">]>, use_global_device_ids}> ({
// CHECK-NEXT: ^bb0(%arg2: tensor<i1>, %arg3: tensor<i1>):
// CHECK-NEXT: %2 = stablehlo.and %arg2, %arg3 : tensor<i1>
// CHECK-NEXT: stablehlo.return %2 : tensor<i1>
// CHECK-NEXT: }) : (tensor<i1>) -> tensor<i1>
// CHECK-NEXT: return %1 : tensor<i1>
func.func @all(%a: tensor<8xi1> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %init: tensor<i1>) -> tensor<i1> {
  %0 = stablehlo.reduce(%a init: %init) applies stablehlo.and across dimensions = [0] : (tensor<8xi1>, tensor<i1>) -> tensor<i1>
  %1 = sdy.all_reduce {"x"} %0 out_sharding=<@mesh, []> : tensor<i1>
  return %1 : tensor<i1>
}

// For integers, the partial results are gathered along a new dimension and reduced again.
// CHECK-LABEL: func.func @bits(%arg0: tensor<4xi32>{{.*}}, %arg1: tensor<i32>) -> tensor<i32>
// CHECK-NEXT: %0 = stablehlo.reduce(%arg0 init: %arg1) applies stablehlo.and across dimensions = [0] : (tensor<4xi32>, tensor<i32>) -> tensor<i32>
// CHECK-NEXT: %1 = stablehlo.reshape %0 : (tensor<i32>) -> tensor<1xi32>
// CHECK-NEXT: %2 = "stablehlo.all_gather"(%1) <{all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 4, type = 1>, replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @mesh, axes = [#stablehlo.axis_ref<name = "x">]>, use_global_device_ids}> : (tensor<1xi32>) -> tensor<2xi32>
// CHECK-NEXT: %3 = stablehlo.reduce(%2 init: %arg1) applies stablehlo.and across dimensions = [0] : (tensor<2xi32>, tensor<i32>) -> tensor<i32>
// CHECK-NEXT: return %3 : tensor<i32>
func.func @bits(%a: tensor<8xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %init: tensor<i32>) -> tensor<i32> {
  %0 = stablehlo.reduce(%a init: %init) applies stablehlo.and across dimensions = [0] : (tensor<8xi32>, tensor<i32>) -> tensor<i32>
  %1 = sdy.all_reduce {"x"} %0 out_sharding=<@mesh, []> : tensor<i32>
  return %1 : tensor<i32>
}

// A maximum and its index are reduced together: partial pairs are gathered once, for both all-reduces.
// CHECK-LABEL: func.func @argmax(%arg0: tensor<4xf32>{{.*}}, %arg1: tensor<4xi32>{{.*}}, %arg2: tensor<f32>, %arg3: tensor<i32>) -> (tensor<f32>, tensor<i32>)
// CHECK-NEXT: %0:2 = stablehlo.reduce(%arg0 init: %arg2), (%arg1 init: %arg3) across dimensions = [0] : (tensor<4xf32>, tensor<4xi32>, tensor<f32>, tensor<i32>) -> (tensor<f32>, tensor<i32>)
// CHECK-NEXT: reducer(%arg4: tensor<f32>, %arg6: tensor<f32>) (%arg5: tensor<i32>, %arg7: tensor<i32>)  {
// CHECK-NEXT: %6 = stablehlo.compare GE, %arg4, %arg6 : (tensor<f32>, tensor<f32>) -> tensor<i1>
// CHECK-NEXT: %7 = stablehlo.select %6, %arg4, %arg6 : tensor<i1>, tensor<f32>
// CHECK-NEXT: %8 = stablehlo.select %6, %arg5, %arg7 : tensor<i1>, tensor<i32>
// CHECK-NEXT: stablehlo.return %7, %8 : tensor<f32>, tensor<i32>
// CHECK-NEXT: }
// CHECK-NEXT: %1 = stablehlo.reshape %0#0 : (tensor<f32>) -> tensor<1xf32>
// CHECK-NEXT: %2 = "stablehlo.all_gather"(%1) <{all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 5, type = 1>, replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @mesh, axes = [#stablehlo.axis_ref<name = "x">]>, use_global_device_ids}> : (tensor<1xf32>) -> tensor<2xf32>
// CHECK-NEXT: %3 = stablehlo.reshape %0#1 : (tensor<i32>) -> tensor<1xi32>
// CHECK-NEXT: %4 = "stablehlo.all_gather"(%3) <{all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 6, type = 1>, replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @mesh, axes = [#stablehlo.axis_ref<name = "x">]>, use_global_device_ids}> : (tensor<1xi32>) -> tensor<2xi32>
// CHECK-NEXT: %5:2 = stablehlo.reduce(%2 init: %arg2), (%4 init: %arg3) across dimensions = [0] : (tensor<2xf32>, tensor<2xi32>, tensor<f32>, tensor<i32>) -> (tensor<f32>, tensor<i32>)
// CHECK-NEXT: reducer(%arg4: tensor<f32>, %arg6: tensor<f32>) (%arg5: tensor<i32>, %arg7: tensor<i32>)  {
// CHECK-NEXT: %6 = stablehlo.compare GE, %arg4, %arg6 : (tensor<f32>, tensor<f32>) -> tensor<i1>
// CHECK-NEXT: %7 = stablehlo.select %6, %arg4, %arg6 : tensor<i1>, tensor<f32>
// CHECK-NEXT: %8 = stablehlo.select %6, %arg5, %arg7 : tensor<i1>, tensor<i32>
// CHECK-NEXT: stablehlo.return %7, %8 : tensor<f32>, tensor<i32>
// CHECK-NEXT: }
// CHECK-NEXT: return %5#0, %5#1 : tensor<f32>, tensor<i32>
func.func @argmax(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %i: tensor<8xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %low: tensor<f32>, %zero: tensor<i32>) -> (tensor<f32>, tensor<i32>) {
  %0:2 = stablehlo.reduce(%a init: %low), (%i init: %zero) across dimensions = [0] : (tensor<8xf32>, tensor<8xi32>, tensor<f32>, tensor<i32>) -> (tensor<f32>, tensor<i32>)
   reducer(%p: tensor<f32>, %q: tensor<f32>) (%m: tensor<i32>, %n: tensor<i32>) {
    %3 = stablehlo.compare GE, %p, %q : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %4 = stablehlo.select %3, %p, %q : tensor<i1>, tensor<f32>
    %5 = stablehlo.select %3, %m, %n : tensor<i1>, tensor<i32>
    stablehlo.return %4, %5 : tensor<f32>, tensor<i32>
  }
  %1 = sdy.all_reduce {"x"} %0#0 out_sharding=<@mesh, []> : tensor<f32>
  %2 = sdy.all_reduce {"x"} %0#1 out_sharding=<@mesh, []> : tensor<i32>
  return %1, %2 : tensor<f32>, tensor<i32>
}

// A sum counts its initial value once: the other device starts from zero.
// CHECK-LABEL: func.func @initial_value(%arg0: tensor<4xf32>{{.*}}, %arg1: tensor<f32>) -> tensor<f32>
// CHECK-NEXT: %0 = stablehlo.partition_id : tensor<ui32>
// CHECK-NEXT: %c = stablehlo.constant dense<[true, false]> : tensor<2xi1>
// CHECK-NEXT: %1 = stablehlo.dynamic_slice %c, %0, sizes = [1] : (tensor<2xi1>, tensor<ui32>) -> tensor<1xi1>
// CHECK-NEXT: %2 = stablehlo.reshape %1 : (tensor<1xi1>) -> tensor<i1>
// CHECK-NEXT: %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT: %3 = stablehlo.select %2, %arg1, %cst : tensor<i1>, tensor<f32>
// CHECK-NEXT: %4 = stablehlo.reduce(%arg0 init: %3) applies stablehlo.add across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
// CHECK-NEXT: %5 = "stablehlo.all_reduce"(%4) <{channel_handle = #stablehlo.channel_handle<handle = 7, type = 1>, replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @mesh, axes = [#stablehlo.axis_ref<name = "x">]>, use_global_device_ids}> ({
// CHECK-NEXT: ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
// CHECK-NEXT: %6 = stablehlo.add %arg2, %arg3 : tensor<f32>
// CHECK-NEXT: stablehlo.return %6 : tensor<f32>
// CHECK-NEXT: }) : (tensor<f32>) -> tensor<f32>
// CHECK-NEXT: return %5 : tensor<f32>
func.func @initial_value(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %init: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.reduce(%a init: %init) applies stablehlo.add across dimensions = [0] : (tensor<8xf32>, tensor<f32>) -> tensor<f32>
  %1 = sdy.all_reduce {"x"} %0 out_sharding=<@mesh, []> : tensor<f32>
  return %1 : tensor<f32>
}

// A collective that names its reduction combines by it, whatever the operand is.
// CHECK-LABEL: func.func @named_kind(
// CHECK: "stablehlo.all_reduce"(%arg0)
// CHECK: stablehlo.maximum
// CHECK: "stablehlo.reduce_scatter"(%arg1) <{{{.*}}scatter_dimension = 0
// CHECK: stablehlo.minimum
func.func @named_kind(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced=max{"x"}>}, %b: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced=min{"x"}>}) -> (tensor<8xf32>, tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  %0 = sdy.all_reduce max {"x"} %a out_sharding=<@mesh, [{}]> : tensor<8xf32>
  %1 = sdy.reduce_scatter min [{"x"}] %b out_sharding=<@mesh, [{"x"}]> : tensor<8xf32>
  return %0, %1 : tensor<8xf32>, tensor<8xf32>
}
