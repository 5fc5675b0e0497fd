// How XLA's partitioner computes lookups and their gradients: in groups of devices, in the way that needs least memory.
// The compiler for v5e sends the same in each of these programs.
// RUN: sdy-opt %s --split-input-file --report | filecheck %s

sdy.mesh @mesh = <["data"=4, "model"=4]>

// Groups along "data", in which indices are sharded along "model", look up in the whole vocabulary of a part of the features.
// Then rows are gathered in each group, and moved to the batch.
// CHECK: communication: 4.51 MiB on the wire per device
// CHECK: 3.00 MiB    67%      2  all_gather {"model"}
// CHECK: 1.50 MiB    33%      1  all_to_all {"data"}
func.func @lookup_in_groups(%table: tensor<8192x512xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {"data"}]>}, %i: tensor<32x256x1xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}, {}]>}) -> (tensor<32x256x512xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}, {}]>}) {
  %0 = "stablehlo.gather"(%table, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 2>, slice_sizes = array<i64: 1, 512>}> : (tensor<8192x512xbf16>, tensor<32x256x1xi32>) -> tensor<32x256x512xbf16>
  return %0 : tensor<32x256x512xbf16>
}

// -----

sdy.mesh @mesh = <["data"=4, "model"=4]>

// The vocabulary moves to "model", along which rows are summed up, so that the batch keeps "data".
// CHECK: communication: 4.50 MiB on the wire per device
func.func @lookup_along_vocabulary(%table: tensor<8192x512xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>}, %i: tensor<32x256x1xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}, {}]>}) -> (tensor<32x256x512xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}, {}]>}) {
  %0 = "stablehlo.gather"(%table, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 2>, slice_sizes = array<i64: 1, 512>}> : (tensor<8192x512xbf16>, tensor<32x256x1xi32>) -> tensor<32x256x512xbf16>
  return %0 : tensor<32x256x512xbf16>
}

// -----

sdy.mesh @mesh = <["data"=4, "model"=4]>

// Updates are gathered whole before they are sharded along other axes.
// CHECK: communication: 7.51 MiB on the wire per device
// CHECK: 6.00 MiB    80%      1  all_gather {"data"}
// CHECK: 1.50 MiB    20%      1  reduce_scatter {"model"}
func.func @gradient_in_groups(%i: tensor<32x256x1xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}, {}]>}, %u: tensor<32x256x512xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}, {}]>}) -> (tensor<8192x512xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {"data"}]>}) {
  %zero = stablehlo.constant dense<0.0> : tensor<8192x512xbf16>
  %0 = "stablehlo.scatter"(%zero, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 2>}> ({
  ^bb0(%a: tensor<bf16>, %b: tensor<bf16>):
    %1 = stablehlo.add %a, %b : tensor<bf16>
    stablehlo.return %1 : tensor<bf16>
  }) : (tensor<8192x512xbf16>, tensor<32x256x1xi32>, tensor<32x256x512xbf16>) -> tensor<8192x512xbf16>
  return %0 : tensor<8192x512xbf16>
}

// -----

sdy.mesh @mesh = <["data"=4, "model"=4]>

// CHECK: communication: 9.01 MiB on the wire per device
// CHECK: 6.00 MiB    67%      1  all_gather {"data"}
// CHECK: 3.00 MiB    33%      1  all_reduce {"model"}
func.func @gradient_of_features(%i: tensor<32x256x1xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}, {}]>}, %u: tensor<32x256x512xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}, {}]>}) -> (tensor<8192x512xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"data"}]>}) {
  %zero = stablehlo.constant dense<0.0> : tensor<8192x512xbf16>
  %0 = "stablehlo.scatter"(%zero, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 2>}> ({
  ^bb0(%a: tensor<bf16>, %b: tensor<bf16>):
    %1 = stablehlo.add %a, %b : tensor<bf16>
    stablehlo.return %1 : tensor<bf16>
  }) : (tensor<8192x512xbf16>, tensor<32x256x1xi32>, tensor<32x256x512xbf16>) -> tensor<8192x512xbf16>
  return %0 : tensor<8192x512xbf16>
}

// -----

sdy.mesh @mesh = <["data"=4, "model"=4]>

// Of few updates, those of all features stay in their group, which gathers them.
// CHECK: communication: 390.0 KiB on the wire per device
// CHECK: all_gather {"data"}
func.func @gradient_of_few_lookups(%i: tensor<16x128x1xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}, {}]>}, %u: tensor<16x128x512xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}, {}]>}) -> (tensor<32768x512xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {"model"}]>}) {
  %zero = stablehlo.constant dense<0.0> : tensor<32768x512xbf16>
  %0 = "stablehlo.scatter"(%zero, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 2>}> ({
  ^bb0(%a: tensor<bf16>, %b: tensor<bf16>):
    %1 = stablehlo.add %a, %b : tensor<bf16>
    stablehlo.return %1 : tensor<bf16>
  }) : (tensor<32768x512xbf16>, tensor<16x128x1xi32>, tensor<16x128x512xbf16>) -> tensor<32768x512xbf16>
  return %0 : tensor<32768x512xbf16>
}
