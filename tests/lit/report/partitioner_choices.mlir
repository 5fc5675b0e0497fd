// With which sharding XLA's partitioner computes operations whose operands and results disagree.
// RUN: sdy-opt %s --split-input-file --report | filecheck %s

sdy.mesh @mesh = <["x"=4]>

// The operands agree, so only the sum is resharded.
// CHECK:      communication: 192.0 KiB on the wire per device, 1 collective
// CHECK:      192.0 KiB   100%      1  all_to_all {"x"}
func.func @operands_agree(%a: tensor<64x64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}, {}]>}, %b: tensor<64x64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}, {}]>}) -> tensor<64x64x64xf32> {
  %0 = stablehlo.add %a, %b : tensor<64x64x64xf32>
  %1 = sdy.sharding_constraint %0 <@mesh, [{}, {"x"}, {}]> : tensor<64x64x64xf32>
  return %1 : tensor<64x64x64xf32>
}

// -----

sdy.mesh @mesh = <["a"=4]>

// A slice at a dynamic position needs the dimension whole.
// CHECK: communication: 3.00 MiB on the wire per device, 1 collective
// CHECK: 3.00 MiB   100%      1  all_gather {"a"}
func.func @dynamic_slice(%x: tensor<8x256x512xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {}, {}]>}, %i: tensor<i32>) -> tensor<1x256x512xf32> {
  %c = stablehlo.constant dense<0> : tensor<i32>
  %0 = stablehlo.dynamic_slice %x, %i, %c, %c, sizes = [1, 256, 512] : (tensor<8x256x512xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x256x512xf32>
  return %0 : tensor<1x256x512xf32>
}

// -----

sdy.mesh @mesh = <["d"=2, "t"=4]>

// The batch of a top-k of a long dimension is gathered, unless all devices have a part of it.
// CHECK: communication: 16.0 MiB on the wire per device
func.func @top_k(%x: tensor<64x131072xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"d"}, {}]>}) -> (tensor<64x64xf32>, tensor<64x64xi32>) {
  %values, %indices = chlo.top_k(%x, k = 64) : tensor<64x131072xf32> -> (tensor<64x64xf32>, tensor<64x64xi32>)
  return %values, %indices : tensor<64x64xf32>, tensor<64x64xi32>
}

// -----

sdy.mesh @mesh = <["d"=2, "t"=4]>

// So it is if it is a custom call.
// CHECK: communication: 16.0 MiB on the wire per device
func.func @top_k_call(%x: tensor<64x131072xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"d"}, {}]>}) -> (tensor<64x64xf32>, tensor<64x64xi32>) {
  %0:2 = stablehlo.custom_call @mhlo.topk(%x) {mhlo.attributes = {k = 64 : i64, largest = true}, mhlo.version = 1 : i64} : (tensor<64x131072xf32>) -> (tensor<64x64xf32>, tensor<64x64xi32>)
  return %0#0, %0#1 : tensor<64x64xf32>, tensor<64x64xi32>
}

// -----

sdy.mesh @mesh = <["d"=2, "t"=4]>

// CHECK: communication: 0 B on the wire per device
func.func @short_top_k(%x: tensor<64x2048xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"d"}, {}]>}) -> (tensor<64x64xf32>, tensor<64x64xi32>) {
  %values, %indices = chlo.top_k(%x, k = 64) : tensor<64x2048xf32> -> (tensor<64x64xf32>, tensor<64x64xi32>)
  return %values, %indices : tensor<64x64xf32>, tensor<64x64xi32>
}

// -----

sdy.mesh @mesh = <["f"=4, "t"=2]>

// The gradient of an embedding along vocabulary and features: each device adds up its part of the updates.
// CHECK:      communication: 6.75 MiB on the wire per device
// CHECK:      6.00 MiB    89%      1  all_reduce {"f"}
func.func @embedding_gradient(%i: tensor<32x512x1xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"f"}, {}, {}]>}, %u: tensor<32x512x256xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"f"}, {}, {}]>}) -> (tensor<8192x256xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"t"}, {"f"}]>}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %table = stablehlo.broadcast_in_dim %zero, dims = [] : (tensor<f32>) -> tensor<8192x256xf32>
  %0 = "stablehlo.scatter"(%table, %i, %u) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 2>, unique_indices = false}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<8192x256xf32>, tensor<32x512x1xi32>, tensor<32x512x256xf32>) -> tensor<8192x256xf32>
  return %0 : tensor<8192x256xf32>
}

// -----

sdy.mesh @mesh = <["data"=2, "sp"=8]>

// A table sharded along the axis of the sequence: rows are looked up in parts of their features, and moved to
// the sequence after the batch is gathered. The gradient takes the same way back, and is summed along the batch.
// libtpu sends 24.9 MiB for v5e, too: it gathers the rows along "data" in both directions.
// CHECK: communication: 24.9 MiB on the wire per device
// CHECK: 15.6 MiB    63%      1  all_reduce {"data"}
// CHECK: 5.25 MiB    21%      2  all_to_all {"sp"}
func.func @embedding_of_sequence(%table: tensor<32000x2048xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"sp"}]>}, %i: tensor<16x512x1xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {"sp"}, {}]>}) -> (tensor<16x512x2048xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {"sp"}, {}]>}, tensor<32000x2048xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"sp"}]>}) {
  %0 = "stablehlo.gather"(%table, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 2>, slice_sizes = array<i64: 1, 2048>}> : (tensor<32000x2048xbf16>, tensor<16x512x1xi32>) -> tensor<16x512x2048xbf16>
  %1 = stablehlo.tanh %0 : tensor<16x512x2048xbf16>
  %2 = sdy.sharding_constraint %1 <@mesh, [{"data"}, {"sp"}, {}]> : tensor<16x512x2048xbf16>
  %zero = stablehlo.constant dense<0.0> : tensor<32000x2048xbf16>
  %3 = "stablehlo.scatter"(%zero, %i, %2) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 2>}> ({
  ^bb0(%a: tensor<bf16>, %b: tensor<bf16>):
    %4 = stablehlo.add %a, %b : tensor<bf16>
    stablehlo.return %4 : tensor<bf16>
  }) : (tensor<32000x2048xbf16>, tensor<16x512x1xi32>, tensor<16x512x2048xbf16>) -> tensor<32000x2048xbf16>
  return %2, %3 : tensor<16x512x2048xbf16>, tensor<32000x2048xbf16>
}

// -----

sdy.mesh @mesh = <["fsdp"=4, "tp"=4]>

// A gradient along features only: updates are moved to the features, and parts of the table are added up.
// The compiler for v5e sends 94.9 MiB, too.
// CHECK: communication: 94.9 MiB on the wire per device
// CHECK: 46.9 MiB    49%      1  all_reduce {"fsdp"}
func.func @embedding_gradient_of_features(%i: tensor<32x1024x1xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"fsdp"}, {"tp"}, {}]>}, %u: tensor<32x1024x2048xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{"fsdp"}, {"tp"}, {}]>}) -> (tensor<32000x2048xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"tp"}]>}) {
  %zero = stablehlo.constant dense<0.0> : tensor<32000x2048xbf16>
  %0 = "stablehlo.scatter"(%zero, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 2>}> ({
  ^bb0(%a: tensor<bf16>, %b: tensor<bf16>):
    %1 = stablehlo.add %a, %b : tensor<bf16>
    stablehlo.return %1 : tensor<bf16>
  }) : (tensor<32000x2048xbf16>, tensor<32x1024x1xi32>, tensor<32x1024x2048xbf16>) -> tensor<32000x2048xbf16>
  return %0 : tensor<32000x2048xbf16>
}

// -----

sdy.mesh @mesh = <["data"=2, "tp"=8]>

// The sum of two products, such as the gradient before two projections, is constrained to be whole, and then
// sliced along the sequence: that is one reduce-scatter. The compiler for v5e sends 28.0 MiB, too.
// CHECK: communication: 28.0 MiB on the wire per device, 1 collective
// CHECK: 28.0 MiB   100%      1  reduce_scatter {"tp"}
func.func @sum_of_sequence(%a: tensor<16x1024x8192xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}, {"tp"}]>}, %b: tensor<16x1024x8192xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}, {"tp"}]>}, %v: tensor<8192x2048xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{"tp"}, {}]>}, %w: tensor<8192x2048xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{"tp"}, {}]>}) -> (tensor<16x1024x2048xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {"tp"}, {}]>}) {
  %0 = stablehlo.dot_general %a, %v, contracting_dims = [2] x [0] : (tensor<16x1024x8192xbf16>, tensor<8192x2048xbf16>) -> tensor<16x1024x2048xbf16>
  %1 = stablehlo.dot_general %b, %w, contracting_dims = [2] x [0] : (tensor<16x1024x8192xbf16>, tensor<8192x2048xbf16>) -> tensor<16x1024x2048xbf16>
  %2 = stablehlo.add %0, %1 : tensor<16x1024x2048xbf16>
  %whole = sdy.sharding_constraint %2 <@mesh, [{"data"}, {}, {}]> : tensor<16x1024x2048xbf16>
  %3 = stablehlo.convert %whole : (tensor<16x1024x2048xbf16>) -> tensor<16x1024x2048xf32>
  return %3 : tensor<16x1024x2048xf32>
}

// -----

sdy.mesh @mesh = <["f"=4, "t"=2]>

// Few updates are gathered. The compiler for v5e sends as much.
// CHECK: communication: 385.8 KiB on the wire per device
func.func @few_updates(%i: tensor<32x16x1xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"f"}, {}, {}]>}, %u: tensor<32x16x256xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"f"}, {}, {}]>}) -> (tensor<8192x256xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"t"}, {"f"}]>}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %table = stablehlo.broadcast_in_dim %zero, dims = [] : (tensor<f32>) -> tensor<8192x256xf32>
  %0 = "stablehlo.scatter"(%table, %i, %u) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 2>, unique_indices = false}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<8192x256xf32>, tensor<32x16x1xi32>, tensor<32x16x256xf32>) -> tensor<8192x256xf32>
  return %0 : tensor<8192x256xf32>
}

// -----

sdy.mesh @mesh = <["x"=8]>

// A product that sums up nothing is a multiplication: its operands are resharded, not its larger result.
// CHECK: communication: 1008.0 KiB on the wire per device
func.func @outer_product(%k: tensor<64x32x128xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}, {}]>}, %v: tensor<64x32x128xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}, {}]>}) -> (tensor<64x32x128x128xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {"x"}, {}]>}) {
  %0 = stablehlo.dot_general %k, %v, batching_dims = [0, 1] x [0, 1], contracting_dims = [] x [] : (tensor<64x32x128xf32>, tensor<64x32x128xf32>) -> tensor<64x32x128x128xf32>
  return %0 : tensor<64x32x128x128xf32>
}

// -----

sdy.mesh @mesh = <["d"=4, "e"=2]>

// The batch is sharded along the axis that is summed, too: it is all-reduced, gathered and sliced.
// CHECK: communication: 4.00 MiB on the wire per device, 3 collectives
func.func @batch_along_summed_axis(%l: tensor<16x256x1024xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{"d"}, {}, {"e"}]>}, %r: tensor<16x1024x512xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{"d"}, {"e"}, {}]>}) -> (tensor<16x256x512xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{"d", "e"}, {}, {}]>}) {
  %0 = stablehlo.dot_general %l, %r, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<16x256x1024xbf16>, tensor<16x1024x512xbf16>) -> tensor<16x256x512xbf16>
  return %0 : tensor<16x256x512xbf16>
}

// -----

sdy.mesh @mesh = <["d"=4, "e"=2]>

// Another dimension is reduce-scattered.
// CHECK: communication: 512.0 KiB on the wire per device, 1 collective
func.func @rows_along_summed_axis(%l: tensor<16x256x1024xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{"d"}, {}, {"e"}]>}, %r: tensor<16x1024x512xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{"d"}, {"e"}, {}]>}) -> (tensor<16x256x512xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{"d"}, {"e"}, {}]>}) {
  %0 = stablehlo.dot_general %l, %r, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<16x256x1024xbf16>, tensor<16x1024x512xbf16>) -> tensor<16x256x512xbf16>
  return %0 : tensor<16x256x512xbf16>
}

// -----

sdy.mesh @mesh = <["a"=4, "b"=4]>

// Rows are summed along the axis that shards them, and the other operand has the axis of the batch there: it is resharded, even
// if a gather of the rows would send less. The compiler for v5e sends 51.0 MiB, too.
// CHECK: communication: 51.0 MiB on the wire per device, 2 collectives
// CHECK: 48.0 MiB    94%      1  all_reduce {"b"}
// CHECK: 3.00 MiB     6%      1  collective_permute {"a", "b"}
func.func @other_operand_has_axis_of_batch(%x: tensor<8192x1024xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {"b"}]>}, %y: tensor<1024x8192xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {}]>}) -> (tensor<8192x8192xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {}]>}) {
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<8192x1024xbf16>, tensor<1024x8192xbf16>) -> tensor<8192x8192xbf16>
  return %0 : tensor<8192x8192xbf16>
}

// -----

sdy.mesh @mesh = <["d"=4, "e"=2]>

// One operand has the batch along both axes, the other its columns along "e": the batch stays sharded along "d".
// CHECK: communication: 5.00 MiB on the wire per device, 2 collectives
func.func @batch_of_which_one_axis_is_agreed(%x: tensor<1024x8192xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"d", "e"}]>}, %y: tensor<8192x2048xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{"d"}, {"e"}]>}) -> (tensor<1024x2048xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"e"}]>}) {
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<1024x8192xbf16>, tensor<8192x2048xbf16>) -> tensor<1024x2048xbf16>
  return %0 : tensor<1024x2048xbf16>
}

// -----

sdy.mesh @mesh = <["x"=4]>

// Products that are equal once constraints are met, and what is computed from their sums, are computed once.
// CHECK: communication: 96 B on the wire per device, 1 collective
// CHECK: compute per device: 384 FLOP in 2 products
func.func @merged(%x: tensor<4x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}, %w: tensor<16x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %v: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  %0 = sdy.sharding_constraint %x <@mesh, [{}, {"x"}]> : tensor<4x16xf32>
  %1 = stablehlo.dot_general %0, %w, contracting_dims = [1] x [0] : (tensor<4x16xf32>, tensor<16x4xf32>) -> tensor<4x4xf32>
  %2 = sdy.sharding_constraint %x <@mesh, [{}, {"x"}]> : tensor<4x16xf32>
  %3 = stablehlo.dot_general %2, %w, contracting_dims = [1] x [0] : (tensor<4x16xf32>, tensor<16x4xf32>) -> tensor<4x4xf32>
  %4 = stablehlo.dot_general %1, %v, contracting_dims = [1] x [0] : (tensor<4x4xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %5 = stablehlo.dot_general %3, %v, contracting_dims = [1] x [0] : (tensor<4x4xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  return %4, %5 : tensor<4x8xf32>, tensor<4x8xf32>
}

// -----

sdy.mesh @mesh = <["d"=2, "t"=4]>

// A call of a top-k may have a result of other sizes.
// CHECK: communication: 32.0 MiB on the wire per device
func.func @top_k_of_parts(%x: tensor<64x131072x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"d"}, {}, {}]>}) -> (tensor<64x64x1xf32>, tensor<64x64x1xi32>) {
  %0:2 = stablehlo.custom_call @mhlo.topk(%x) : (tensor<64x131072x2xf32>) -> (tensor<64x64x1xf32>, tensor<64x64x1xi32>)
  return %0#0, %0#1 : tensor<64x64x1xf32>, tensor<64x64x1xi32>
}
