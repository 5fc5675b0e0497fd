// RUN: sdy-opt %s -sdy-convert-global-to-local | filecheck %s
// RUN: sdy-opt %s -sdy-convert-global-to-local --sdy-version=jaxlib-0.11.2 | filecheck %s --check-prefix=OLDER

// Gathers from shards, and scatters into shards.

sdy.mesh @mesh = <["x"=2]>

// Rows of a table whose columns are sharded: slices are as wide as the shard.
// CHECK-LABEL: func.func @gather_columns(%arg0: tensor<8x2xf32>{{.*}}, %arg1: tensor<3xi32>) -> (tensor<3x2xf32>{{.*}})
// CHECK-NEXT: %0 = "stablehlo.gather"(%arg0, %arg1) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 2>}>{{.*}} : (tensor<8x2xf32>, tensor<3xi32>) -> tensor<3x2xf32>
// CHECK-NEXT: return %0 : tensor<3x2xf32>
func.func @gather_columns(%table: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}, %i: tensor<3xi32>) -> (tensor<3x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}) {
  %0 = "stablehlo.gather"(%table, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 4>}> {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"x"}]>]>} : (tensor<8x4xf32>, tensor<3xi32>) -> tensor<3x4xf32>
  return %0 : tensor<3x4xf32>
}

// Rows of a table whose rows are sharded: each device gathers the rows that it has, and the others are zero.
// CHECK-LABEL: func.func @gather_rows(%arg0: tensor<4x4xf32>{{.*}}, %arg1: tensor<3xi32>) -> tensor<3x4xf32>
// CHECK-NEXT: %c = stablehlo.constant dense<0> : tensor<3xi32>
// CHECK-NEXT: %c_0 = stablehlo.constant dense<7> : tensor<3xi32>
// CHECK-NEXT: %0 = stablehlo.clamp %c, %arg1, %c_0 : tensor<3xi32>
// CHECK-NEXT: %1 = stablehlo.partition_id : tensor<ui32>
// CHECK-NEXT: %c_1 = stablehlo.constant dense<[0, 4]> : tensor<2xi32>
// CHECK-NEXT: %2 = stablehlo.dynamic_slice %c_1, %1, sizes = [1] : (tensor<2xi32>, tensor<ui32>) -> tensor<1xi32>
// CHECK-NEXT: %3 = stablehlo.reshape %2 : (tensor<1xi32>) -> tensor<i32>
// CHECK-NEXT: %4 = stablehlo.convert %3 : tensor<i32>
// CHECK-NEXT: %c_2 = stablehlo.constant dense<3> : tensor<i32>
// CHECK-NEXT: %5 = stablehlo.add %4, %c_2 : tensor<i32>
// CHECK-NEXT: %6 = stablehlo.broadcast_in_dim %4, dims = []{{.*}} : (tensor<i32>) -> tensor<3xi32>
// CHECK-NEXT: %7 = stablehlo.broadcast_in_dim %5, dims = []{{.*}} : (tensor<i32>) -> tensor<3xi32>
// CHECK-NEXT: %8 = stablehlo.subtract %0, %6 : tensor<3xi32>
// CHECK-NEXT: %9 = stablehlo.compare GE, %0, %6 : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi1>
// CHECK-NEXT: %10 = stablehlo.compare LE, %0, %7 : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi1>
// CHECK-NEXT: %11 = stablehlo.and %9, %10 : tensor<3xi1>
// CHECK-NEXT: %12 = "stablehlo.gather"(%arg0, %8) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 4>}> : (tensor<4x4xf32>, tensor<3xi32>) -> tensor<3x4xf32>
// CHECK-NEXT: %13 = stablehlo.broadcast_in_dim %11, dims = [0] : (tensor<3xi1>) -> tensor<3x4xi1>
// CHECK-NEXT: %cst = stablehlo.constant dense<0.000000e+00> : tensor<3x4xf32>
// CHECK-NEXT: %14 = stablehlo.select %13, %12, %cst : tensor<3x4xi1>, tensor<3x4xf32>
// CHECK-NEXT: %15 = "stablehlo.all_reduce"(%14) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @mesh, axes = [#stablehlo.axis_ref<name = "x">]>, use_global_device_ids}> ({
// CHECK-NEXT: ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
// CHECK-NEXT: %16 = stablehlo.add %arg2, %arg3 : tensor<f32>
// CHECK-NEXT: stablehlo.return %16 : tensor<f32>
// CHECK-NEXT: }) : (tensor<3x4xf32>) -> tensor<3x4xf32>
// CHECK-NEXT: return %15 : tensor<3x4xf32>
func.func @gather_rows(%table: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %i: tensor<3xi32>) -> tensor<3x4xf32> {
  %0 = "stablehlo.gather"(%table, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 4>}> : (tensor<8x4xf32>, tensor<3xi32>) -> tensor<3x4xf32>
  %1 = sdy.all_reduce {"x"} %0 out_sharding=<@mesh, [{}, {}]> : tensor<3x4xf32>
  return %1 : tensor<3x4xf32>
}

// Rows are updated where they are: the local index of a row of another device is out of bounds.
// Before jaxlib 0.12.0.1, the offsets have no sharding, and the mask of a scatter has the shape of its input.
// OLDER-LABEL: func.func @scatter_rows(
// OLDER: %5 = stablehlo.broadcast_in_dim %4, dims = [] : (tensor<i32>) -> tensor<3x1xi32>
// CHECK-LABEL: func.func @scatter_rows(%arg0: tensor<4x4xf32>{{.*}}, %arg1: tensor<3x1xi32>, %arg2: tensor<3x4xf32>) -> (tensor<4x4xf32>{{.*}})
// CHECK-NEXT: %0 = stablehlo.partition_id : tensor<ui32>
// CHECK-NEXT: %c = stablehlo.constant dense<[0, 4]> : tensor<2xi32>
// CHECK-NEXT: %1 = stablehlo.dynamic_slice %c, %0, sizes = [1] : (tensor<2xi32>, tensor<ui32>) -> tensor<1xi32>
// CHECK-NEXT: %2 = stablehlo.reshape %1 : (tensor<1xi32>) -> tensor<i32>
// CHECK-NEXT: %3 = stablehlo.convert %2 : tensor<i32>
// CHECK-NEXT: %4 = stablehlo.broadcast_in_dim %3, dims = []{{.*}} : (tensor<i32>) -> tensor<3x1xi32>
// CHECK-NEXT: %5 = stablehlo.subtract %arg1, %4 : tensor<3x1xi32>
// CHECK-NEXT: %6 = "stablehlo.scatter"(%arg0, %5, %arg2) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
// CHECK-NEXT: ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
// CHECK-NEXT: %7 = stablehlo.add %arg3, %arg4 : tensor<f32>
// CHECK-NEXT: stablehlo.return %7 : tensor<f32>
// CHECK-NEXT: }){{.*}} : (tensor<4x4xf32>, tensor<3x1xi32>, tensor<3x4xf32>) -> tensor<4x4xf32>
// CHECK-NEXT: return %6 : tensor<4x4xf32>
func.func @scatter_rows(%table: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %i: tensor<3x1xi32>, %u: tensor<3x4xf32>) -> (tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  %0 = "stablehlo.scatter"(%table, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %1 = stablehlo.add %p, %q : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : (tensor<8x4xf32>, tensor<3x1xi32>, tensor<3x4xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// Sharded updates: one device starts from the table, the others from zero, so the sum has the table once.
// OLDER-LABEL: func.func @scatter_updates(
// OLDER: %5 = stablehlo.select %3, %arg0, %4 : tensor<8xi1>, tensor<8xf32>
// CHECK-LABEL: func.func @scatter_updates(%arg0: tensor<8xf32>, %arg1: tensor<2x1xi32>{{.*}}, %arg2: tensor<2xf32>{{.*}}) -> tensor<8xf32>
// CHECK-NEXT: %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT: %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<8xf32>
// CHECK-NEXT: %1 = stablehlo.partition_id : tensor<ui32>
// CHECK-NEXT: %c = stablehlo.constant dense<[true, false]> : tensor<2xi1>
// CHECK-NEXT: %2 = stablehlo.dynamic_slice %c, %1, sizes = [1] : (tensor<2xi1>, tensor<ui32>) -> tensor<1xi1>
// CHECK-NEXT: %3 = stablehlo.reshape %2 : (tensor<1xi1>) -> tensor<i1>
// CHECK-NEXT: %4 = stablehlo.select %3, %arg0, %0 : tensor<i1>, tensor<8xf32>
// CHECK-NEXT: %5 = "stablehlo.scatter"(%4, %arg1, %arg2) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
// CHECK-NEXT: ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
// CHECK-NEXT: %7 = stablehlo.add %arg3, %arg4 : tensor<f32>
// CHECK-NEXT: stablehlo.return %7 : tensor<f32>
// CHECK-NEXT: }) : (tensor<8xf32>, tensor<2x1xi32>, tensor<2xf32>) -> tensor<8xf32>
// CHECK-NEXT: %6 = "stablehlo.all_reduce"(%5) <{channel_handle = #stablehlo.channel_handle<handle = 2, type = 1>, replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @mesh, axes = [#stablehlo.axis_ref<name = "x">]>, use_global_device_ids}> ({
// CHECK-NEXT: ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
// CHECK-NEXT: %7 = stablehlo.add %arg3, %arg4 : tensor<f32>
// CHECK-NEXT: stablehlo.return %7 : tensor<f32>
// CHECK-NEXT: }) : (tensor<8xf32>) -> tensor<8xf32>
// CHECK-NEXT: return %6 : tensor<8xf32>
func.func @scatter_updates(%table: tensor<8xf32>, %i: tensor<4x1xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %u: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<8xf32> {
  %0 = "stablehlo.scatter"(%table, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %1 = stablehlo.add %p, %q : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<8xf32>, tensor<4x1xi32>, tensor<4xf32>) -> tensor<8xf32>
  %2 = sdy.all_reduce {"x"} %0 out_sharding=<@mesh, [{}]> : tensor<8xf32>
  return %2 : tensor<8xf32>
}

// The identity of a maximum is minus infinity. (C++ takes the lowest finite number, and adds the results.)
// CHECK-LABEL: func.func @scatter_maximum(%arg0: tensor<8xf32>, %arg1: tensor<2x1xi32>{{.*}}, %arg2: tensor<2xf32>{{.*}}) -> tensor<8xf32>
// CHECK-NEXT: %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
// CHECK-NEXT: %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<8xf32>
// CHECK-NEXT: %1 = stablehlo.partition_id : tensor<ui32>
// CHECK-NEXT: %c = stablehlo.constant dense<[true, false]> : tensor<2xi1>
// CHECK-NEXT: %2 = stablehlo.dynamic_slice %c, %1, sizes = [1] : (tensor<2xi1>, tensor<ui32>) -> tensor<1xi1>
// CHECK-NEXT: %3 = stablehlo.reshape %2 : (tensor<1xi1>) -> tensor<i1>
// CHECK-NEXT: %4 = stablehlo.select %3, %arg0, %0 : tensor<i1>, tensor<8xf32>
// CHECK-NEXT: %5 = "stablehlo.scatter"(%4, %arg1, %arg2) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
// CHECK-NEXT: ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
// CHECK-NEXT: %7 = stablehlo.maximum %arg3, %arg4 : tensor<f32>
// CHECK-NEXT: stablehlo.return %7 : tensor<f32>
// CHECK-NEXT: }) : (tensor<8xf32>, tensor<2x1xi32>, tensor<2xf32>) -> tensor<8xf32>
// CHECK-NEXT: %6 = "stablehlo.all_reduce"(%5) <{channel_handle = #stablehlo.channel_handle<handle = 3, type = 1>, replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @mesh, axes = [#stablehlo.axis_ref<name = "x">]>, use_global_device_ids}> ({
// CHECK-NEXT: ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
// CHECK-NEXT: %7 = stablehlo.maximum %arg3, %arg4 : tensor<f32>
// CHECK-NEXT: stablehlo.return %7 : tensor<f32>
// CHECK-NEXT: }) : (tensor<8xf32>) -> tensor<8xf32>
// CHECK-NEXT: return %6 : tensor<8xf32>
func.func @scatter_maximum(%table: tensor<8xf32>, %i: tensor<4x1xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %u: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<8xf32> {
  %0 = "stablehlo.scatter"(%table, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %1 = stablehlo.maximum %p, %q : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<8xf32>, tensor<4x1xi32>, tensor<4xf32>) -> tensor<8xf32>
  %2 = sdy.all_reduce {"x"} %0 out_sharding=<@mesh, [{}]> : tensor<8xf32>
  return %2 : tensor<8xf32>
}

// Updates of the first column only: devices with other columns drop them. (C++ updates one column of every shard.)
// CHECK-LABEL: func.func @scatter_first_column(%arg0: tensor<8x2xf32>{{.*}}, %arg1: tensor<3x1xi32>, %arg2: tensor<3x1xf32>) -> (tensor<8x2xf32>{{.*}})
// CHECK-NEXT: %0 = stablehlo.partition_id : tensor<ui32>
// CHECK-NEXT: %c = stablehlo.constant dense<[true, false]> : tensor<2xi1>
// CHECK-NEXT: %1 = stablehlo.dynamic_slice %c, %0, sizes = [1] : (tensor<2xi1>, tensor<ui32>) -> tensor<1xi1>
// CHECK-NEXT: %2 = stablehlo.reshape %1 : (tensor<1xi1>) -> tensor<i1>
// CHECK-NEXT: %3 = stablehlo.broadcast_in_dim %2, dims = [] : (tensor<i1>) -> tensor<3x1xi1>
// CHECK-NEXT: %c_0 = stablehlo.constant dense<-1> : tensor<3x1xi32>
// CHECK-NEXT: %4 = stablehlo.select %3, %arg1, %c_0 : tensor<3x1xi1>, tensor<3x1xi32>
// CHECK-NEXT: %5 = "stablehlo.scatter"(%arg0, %4, %arg2) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
// CHECK-NEXT: ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
// CHECK-NEXT: %6 = stablehlo.add %arg3, %arg4 : tensor<f32>
// CHECK-NEXT: stablehlo.return %6 : tensor<f32>
// CHECK-NEXT: }){{.*}} : (tensor<8x2xf32>, tensor<3x1xi32>, tensor<3x1xf32>) -> tensor<8x2xf32>
// CHECK-NEXT: return %5 : tensor<8x2xf32>
func.func @scatter_first_column(%table: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}, %i: tensor<3x1xi32>, %u: tensor<3x1xf32>) -> (tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}) {
  %0 = "stablehlo.scatter"(%table, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %1 = stablehlo.add %p, %q : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"x"}]>]>} : (tensor<8x4xf32>, tensor<3x1xi32>, tensor<3x1xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}
