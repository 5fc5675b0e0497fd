// RUN: sdy-opt %s -sdy-insert-explicit-reshards="enable-full-version=true as-partitioner=true" | filecheck %s --check-prefix=CONFLICT
// RUN: sdy-opt %s -sdy-insert-explicit-reshards="enable-full-version=true" | filecheck %s --check-prefix=SIZES
// RUN: sdy-opt %s -sdy-reshard-to-collectives="as-partitioner=true" | filecheck %s --check-prefix=RESHARD
// RUN: sdy-opt %s -sdy-merge-all-reduces="whole-sums-only=true" | filecheck %s --check-prefix=SUM
// RUN: sdy-opt %s -sdy-simplify-hlo | filecheck %s --check-prefix=SIMPLE
// RUN: sdy-opt %s -sdy-resolve-permutation-factors="as-partitioner=true" | filecheck %s --check-prefix=BORDER
// RUN: sdy-opt %s -sdy-resolve-permutation-factors | filecheck %s --check-prefix=LESS

// What the passes do as XLA's partitioner does, and not to send less.

sdy.mesh @mesh = <["x"=4, "y"=4]>
sdy.mesh @cube = <["d"=2, "x"=4, "z"=2]>

// The rows of the left operand and of the result agree on "x", so the larger weights are gathered.
// CONFLICT-LABEL: @batch_against_weights
// CONFLICT:         %[[WEIGHTS:.*]] = sdy.reshard %arg1 <@mesh, [{}, {}]>
// CONFLICT-NEXT:    stablehlo.dot_general %arg0, %[[WEIGHTS]]
// SIZES-LABEL:    @batch_against_weights
// SIZES:            sdy.reshard %arg0
func.func @batch_against_weights(
    %arg0: tensor<64x1024xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
    %arg1: tensor<1024x2048xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
    -> (tensor<64x2048xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0]
      {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>}
      : (tensor<64x1024xf32>, tensor<1024x2048xf32>) -> tensor<64x2048xf32>
  return %0 : tensor<64x2048xf32>
}

// Only the operands agree on "x" for the batch, and "y" is not used: the result decides.
// CONFLICT-LABEL: @batch_of_operands
// CONFLICT:         %[[ROWS:.*]] = sdy.reshard %arg0 <@mesh, [{}, {}, {"x"}]>
// CONFLICT-NEXT:    %[[OTHER:.*]] = sdy.reshard %arg1 <@mesh, [{}, {}, {}]>
// CONFLICT-NEXT:    stablehlo.dot_general %[[ROWS]], %[[OTHER]]
// SIZES-LABEL:    @batch_of_operands
func.func @batch_of_operands(
    %arg0: tensor<8x256x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}, {}]>},
    %arg1: tensor<8x256x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}, {}]>})
    -> (tensor<8x64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}, {}]>}) {
  %0 = stablehlo.dot_general %arg0, %arg1, batching_dims = [0] x [0], contracting_dims = [1] x [1]
      {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"x"}, {}]>]>}
      : (tensor<8x256x64xf32>, tensor<8x256x64xf32>) -> tensor<8x64x64xf32>
  return %0 : tensor<8x64x64xf32>
}

// With "y", two tensors agree on axes of all devices: the operands decide.
// CONFLICT-LABEL: @batch_on_all_devices
// CONFLICT-NEXT:    stablehlo.dot_general %arg0, %arg1
// CONFLICT:         sdy.reshard %{{.*}} <@mesh, [{}, {"x"}, {"y"}]>
// SIZES-LABEL:    @batch_on_all_devices
func.func @batch_on_all_devices(
    %arg0: tensor<8x256x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}, {}]>},
    %arg1: tensor<8x256x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}, {"y"}]>})
    -> (tensor<8x64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}, {"y"}]>}) {
  %0 = stablehlo.dot_general %arg0, %arg1, batching_dims = [0] x [0], contracting_dims = [1] x [1]
      {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"x"}, {"y"}]>]>}
      : (tensor<8x256x64xf32>, tensor<8x256x64xf32>) -> tensor<8x64x64xf32>
  return %0 : tensor<8x64x64xf32>
}

// The result is not sharded along "x": the operand is gathered, not the result, however large it is.
// CONFLICT-LABEL: @rows_of_operand
// CONFLICT:         %[[ROWS:.*]] = sdy.reshard %arg0 <@mesh, [{}, {"y"}]>
// CONFLICT-NEXT:    stablehlo.dot_general %[[ROWS]], %arg1
// SIZES-LABEL:    @rows_of_operand
func.func @rows_of_operand(
    %arg0: tensor<64x2048xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>},
    %arg1: tensor<2048x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>})
    -> (tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) {
  %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0]
      {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>}
      : (tensor<64x2048xf32>, tensor<2048x64xf32>) -> tensor<64x64xf32>
  return %0 : tensor<64x64xf32>
}

// Only one operand is sharded along the contracting dimension, and with "x" not over all devices: it is gathered.
// CONFLICT-LABEL: @contracting_of_operand
// CONFLICT:         %[[ALL:.*]] = sdy.reshard %arg0 <@mesh, [{}, {}]>
// CONFLICT-NEXT:    stablehlo.dot_general %[[ALL]], %arg1
// SIZES-LABEL:    @contracting_of_operand
func.func @contracting_of_operand(
    %arg0: tensor<64x2048xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>},
    %arg1: tensor<2048x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) -> tensor<64x64xf32> {
  %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0]
      {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>}
      : (tensor<64x2048xf32>, tensor<2048x64xf32>) -> tensor<64x64xf32>
  return %0 : tensor<64x64xf32>
}

// With "y" it is, and a sum sends less than a gather.
// CONFLICT-LABEL: @contracting_on_all_devices
// CONFLICT:         %[[PART:.*]] = sdy.reshard %arg1 <@mesh, [{"x", "y"}, {}]>
// CONFLICT-NEXT:    %[[TERM:.*]] = stablehlo.dot_general %arg0, %[[PART]]
// CONFLICT:         sdy.all_reduce {"x", "y"} %[[TERM]]
// SIZES-LABEL:    @contracting_on_all_devices
func.func @contracting_on_all_devices(
    %arg0: tensor<64x2048xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x", "y"}]>},
    %arg1: tensor<2048x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) -> tensor<64x64xf32> {
  %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0]
      {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>}
      : (tensor<64x2048xf32>, tensor<2048x64xf32>) -> tensor<64x64xf32>
  return %0 : tensor<64x64xf32>
}

// A convolution sums over its features as a product does: both operands have them along "y".
// CONFLICT-LABEL: @features
// CONFLICT-NEXT:    %[[PARTS:.*]] = stablehlo.convolution(%arg0, %arg1)
// CONFLICT:         sdy.all_reduce {"y"} %[[PARTS]]
// SIZES-LABEL:    @features
// SIZES-NEXT:       sdy.reshard %arg0
func.func @features(
    %arg0: tensor<8x8x8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}, {}, {"y"}]>},
    %arg1: tensor<3x3x16x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {"y"}, {}]>})
    -> (tensor<8x8x8x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}, {}, {"y"}]>}) {
  %0 = stablehlo.convolution(%arg0, %arg1) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f],
      window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64,
      sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}, {}, {"y"}]>]>}
      : (tensor<8x8x8x16xf32>, tensor<3x3x16x64xf32>) -> tensor<8x8x8x64xf32>
  return %0 : tensor<8x8x8x64xf32>
}

// An elementwise operation is computed with the sharding of its result, if its operands have different ones.
// CONFLICT-LABEL: @elementwise
// CONFLICT:         %[[A:.*]] = sdy.reshard %arg0 <@mesh, [{}, {"y"}]>
// CONFLICT-NEXT:    %[[B:.*]] = sdy.reshard %arg1 <@mesh, [{}, {"y"}]>
// CONFLICT-NEXT:    stablehlo.add %[[A]], %[[B]]
func.func @elementwise(
    %arg0: tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
    %arg1: tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>})
    -> (tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}]>}) {
  %0 = stablehlo.add %arg0, %arg1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"y"}]>]>} : tensor<64x64xf32>
  return %0 : tensor<64x64xf32>
}

// Its only operand is resharded, not the result, although its users would take the operand's sharding again.
// CONFLICT-LABEL: @one_operand
// CONFLICT:         %[[WHOLE:.*]] = sdy.reshard %arg0 <@mesh, [{"x"}, {}]>
// CONFLICT-NEXT:    %[[TANH:.*]] = stablehlo.tanh %[[WHOLE]]
// CONFLICT-NEXT:    sdy.reshard %[[TANH]] <@mesh, [{"x"}, {"y"}]>
func.func @one_operand(%arg0: tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>})
    -> (tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}) {
  %0 = stablehlo.tanh %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : tensor<64x64xf32>
  return %0 : tensor<64x64xf32>
}

// The operand of a transpose keeps its sharding, and the result is resharded.
// CONFLICT-LABEL: @one_operand_transposed
// CONFLICT:         %[[TRANSPOSED:.*]] = stablehlo.transpose %arg0
// CONFLICT-SAME:      <@mesh, [{"y"}, {"x"}]>
// CONFLICT-NEXT:    sdy.reshard %[[TRANSPOSED]] <@mesh, [{}, {"x"}]>
func.func @one_operand_transposed(%arg0: tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>})
    -> (tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}) {
  %0 = stablehlo.transpose %arg0, dims = [1, 0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"x"}]>]>}
    : (tensor<64x64xf32>) -> tensor<64x64xf32>
  return %0 : tensor<64x64xf32>
}

// The rows of the table take "x" from the indices, whose work the devices along "y" share. XLA gathers what was
// looked up, and what is added to a table, before the axis moves.
// CONFLICT-LABEL: @rows
// CONFLICT:         %[[INDICES:.*]] = sdy.reshard %arg1 <@mesh, [{"y"}, {}]>
// CONFLICT:         stablehlo.gather"(%arg0, %[[INDICES]])
// CONFLICT-SAME:      <@mesh, [{"y"}, {"x"}]>
// CONFLICT:         %[[LOOKED_UP:.*]] = sdy.reshard %{{.*}} <@mesh, [{}, {"x"}]>
// CONFLICT-NEXT:    sdy.reshard %[[LOOKED_UP]] <@mesh, [{"x"}, {}]>
// CONFLICT:         %[[ALL:.*]] = sdy.reshard %arg2 <@mesh, [{}, {}]>
// CONFLICT-NEXT:    %[[SLICED:.*]] = sdy.reshard %[[ALL]] <@mesh, [{}, {"x"}]>
// CONFLICT-NEXT:    %[[UPDATES:.*]] = sdy.reshard %[[SLICED]] <@mesh, [{"y"}, {"x"}]>
// CONFLICT:         stablehlo.scatter"(%arg0, %{{.*}}, %[[UPDATES]])
// CONFLICT:         sdy.all_reduce {"y"}
func.func @rows(
    %arg0: tensor<4096x512xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>},
    %arg1: tensor<64x1xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
    %arg2: tensor<64x512xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
    -> (tensor<64x512xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
        tensor<4096x512xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}) {
  %0 = "stablehlo.gather"(%arg0, %arg1) <{
    dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0],
      index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 512>}>
      {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>}
      : (tensor<4096x512xf32>, tensor<64x1xi32>) -> tensor<64x512xf32>
  %1 = "stablehlo.scatter"(%arg0, %arg1, %arg2) <{
    indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1],
      inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>,
    unique_indices = false}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %sum = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %sum : tensor<f32>
  }) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"x"}]>]>}
      : (tensor<4096x512xf32>, tensor<64x1xi32>, tensor<64x512xf32>) -> tensor<4096x512xf32>
  return %0, %1 : tensor<64x512xf32>, tensor<4096x512xf32>
}

// The numbers of shards are not multiples of each other, so the tensor is gathered and sliced.
// RESHARD-LABEL: @rematerialized
// RESHARD:         %[[WHOLE:.*]] = sdy.all_gather [{"x", "y"}, {}] %arg0
// RESHARD-NEXT:    sdy.all_slice [{"x"}, {"y":(1)2}] %[[WHOLE]]
func.func @rematerialized(%arg0: tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}, {}]>})
    -> tensor<64x64xf32> {
  %0 = sdy.reshard %arg0 <@mesh, [{"x"}, {"y":(1)2}]> : tensor<64x64xf32>
  return %0 : tensor<64x64xf32>
}

// RESHARD-LABEL: @exchanged
// RESHARD:         %[[MOVED:.*]] = sdy.all_to_all [{"x"}: 0->1] %arg0 out_sharding=<@mesh, [{}, {"x"}]>
// RESHARD-NEXT:    sdy.collective_permute %[[MOVED]] out_sharding=<@mesh, [{}, {"y"}]>
func.func @exchanged(%arg0: tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
    -> tensor<64x64xf32> {
  %0 = sdy.reshard %arg0 <@mesh, [{}, {"y"}]> : tensor<64x64xf32>
  return %0 : tensor<64x64xf32>
}

// A reduction is left to sdy-insert-explicit-reshards.
// RESHARD-LABEL: @reduced
// RESHARD:         sdy.reshard %arg0
func.func @reduced(%arg0: tensor<64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced={"x"}>})
    -> tensor<64xf32> {
  %0 = sdy.reshard %arg0 <@mesh, [{}]> : tensor<64xf32>
  return %0 : tensor<64xf32>
}

// SUM-LABEL: @gradients
// SUM:         %[[TOTAL:.*]] = stablehlo.add
// SUM:         sdy.all_reduce {"x"}
// SUM-NOT:     sdy.all_reduce
// SUM-LABEL: @residual
// SUM-COUNT-2: sdy.all_reduce {"x"}
func.func @gradients(%arg0: tensor<8x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>},
                     %arg1: tensor<64x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<8x8xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<8x8xf32>
  %0 = stablehlo.dot %arg0, %arg1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>} : (tensor<8x64xf32>, tensor<64x8xf32>) -> tensor<8x8xf32>
  %1 = sdy.all_reduce {"x"} %0 out_sharding=<@mesh, [{}, {}]> : tensor<8x8xf32>
  %2 = stablehlo.add %zero, %1 : tensor<8x8xf32>
  %3 = stablehlo.dot %arg0, %arg1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>} : (tensor<8x64xf32>, tensor<64x8xf32>) -> tensor<8x8xf32>
  %4 = sdy.all_reduce {"x"} %3 out_sharding=<@mesh, [{}, {}]> : tensor<8x8xf32>
  %5 = stablehlo.add %2, %4 : tensor<8x8xf32>
  return %5 : tensor<8x8xf32>
}

// The sum has another term, so XLA adds to it twice.
func.func @residual(%arg0: tensor<8x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>},
                    %arg1: tensor<64x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
                    %arg2: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = stablehlo.dot %arg0, %arg1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>} : (tensor<8x64xf32>, tensor<64x8xf32>) -> tensor<8x8xf32>
  %1 = sdy.all_reduce {"x"} %0 out_sharding=<@mesh, [{}, {}]> : tensor<8x8xf32>
  %2 = stablehlo.add %arg2, %1 : tensor<8x8xf32>
  %3 = stablehlo.dot %arg0, %arg1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>} : (tensor<8x64xf32>, tensor<64x8xf32>) -> tensor<8x8xf32>
  %4 = sdy.all_reduce {"x"} %3 out_sharding=<@mesh, [{}, {}]> : tensor<8x8xf32>
  %5 = stablehlo.add %2, %4 : tensor<8x8xf32>
  return %5 : tensor<8x8xf32>
}

// SIMPLE-LABEL: @stack
// SIMPLE:         stablehlo.reshape %arg0 : (tensor<8x4xf32>) -> tensor<1x8x4xf32>
// SIMPLE-NEXT:    stablehlo.broadcast_in_dim %arg0, dims = [1, 2] : (tensor<8x4xf32>) -> tensor<2x8x4xf32>
func.func @stack(%arg0: tensor<8x4xf32>) -> (tensor<1x8x4xf32>, tensor<2x8x4xf32>) {
  %0 = stablehlo.broadcast_in_dim %arg0, dims = [1, 2] : (tensor<8x4xf32>) -> tensor<1x8x4xf32>
  %1 = stablehlo.broadcast_in_dim %arg0, dims = [1, 2] : (tensor<8x4xf32>) -> tensor<2x8x4xf32>
  return %0, %1 : tensor<1x8x4xf32>, tensor<2x8x4xf32>
}

// Both values are 0 everywhere; another sharding, or another element, is kept.
// SIMPLE-LABEL: @select
// SIMPLE:         %[[ZERO:.*]] = stablehlo.broadcast_in_dim
// SIMPLE:         %[[SHARDED:.*]] = stablehlo.select %arg0, %[[ZERO]], %{{.*}} {sdy.sharding
// SIMPLE-NEXT:    %[[MINUS:.*]] = stablehlo.select %arg0, %[[ZERO]], %{{.*}} :
// SIMPLE-NEXT:    return %[[ZERO]], %arg1, %[[SHARDED]], %[[MINUS]]
func.func @select(%arg0: tensor<8xi1>, %arg1: tensor<8xf32>)
    -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  %0 = stablehlo.constant dense<0.0> : tensor<f32>
  %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<8xf32>
  %2 = stablehlo.constant dense<0.0> : tensor<8xf32>
  %3 = stablehlo.constant dense<-0.0> : tensor<8xf32>
  %4 = stablehlo.select %arg0, %1, %2 : tensor<8xi1>, tensor<8xf32>
  %5 = stablehlo.select %arg0, %arg1, %arg1 : tensor<8xi1>, tensor<8xf32>
  %6 = stablehlo.select %arg0, %1, %2 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : tensor<8xi1>, tensor<8xf32>
  %7 = stablehlo.select %arg0, %1, %3 : tensor<8xi1>, tensor<8xf32>
  return %4, %5, %6, %7 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}

// Indices are sharded, too: the dimension that is looked up is gathered. XLA keeps the sharding of the rows, and
// the devices along "z" share the work on indices. If the result is large, indices keep theirs.
// CONFLICT-LABEL: @rows_and_batch
// CONFLICT:         %[[TABLE:.*]] = sdy.reshard %arg0 <@cube, [{}, {"x"}]>
// CONFLICT-NEXT:    %[[INDICES:.*]] = sdy.reshard %arg1 <@cube, [{"d", "z"}, {}]>
// CONFLICT-NEXT:    stablehlo.gather"(%[[TABLE]], %[[INDICES]])
// CONFLICT-SAME:      <@cube, [{"d", "z"}, {"x"}]>
// CONFLICT:         %[[PART:.*]] = sdy.reshard %{{.*}} <@cube, [{}, {"z"}]>
// CONFLICT-NEXT:    stablehlo.gather"(%[[PART]], %arg2)
// CONFLICT-SAME:      <@cube, [{"d", "x"}, {"z"}]>
func.func @rows_and_batch(
    %arg0: tensor<1024x512xf32> {sdy.sharding = #sdy.sharding<@cube, [{"z"}, {"x"}]>},
    %arg1: tensor<4096x1xi32> {sdy.sharding = #sdy.sharding<@cube, [{"d", "x"}, {}]>},
    %arg2: tensor<262144x1xi32> {sdy.sharding = #sdy.sharding<@cube, [{"d", "x"}, {}]>})
    -> (tensor<4096x512xf32> {sdy.sharding = #sdy.sharding<@cube, [{"d", "x"}, {}]>},
        tensor<262144x512xf32> {sdy.sharding = #sdy.sharding<@cube, [{"d", "x"}, {}]>}) {
  %0 = "stablehlo.gather"(%arg0, %arg1) <{
    dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0],
      index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 512>}>
      {sdy.sharding = #sdy.sharding_per_value<[<@cube, [{"d", "x"}, {}]>]>}
      : (tensor<1024x512xf32>, tensor<4096x1xi32>) -> tensor<4096x512xf32>
  %1 = "stablehlo.gather"(%arg0, %arg2) <{
    dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0],
      index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 512>}>
      {sdy.sharding = #sdy.sharding_per_value<[<@cube, [{"d", "x"}, {}]>]>}
      : (tensor<1024x512xf32>, tensor<262144x1xi32>) -> tensor<262144x512xf32>
  return %0, %1 : tensor<4096x512xf32>, tensor<262144x512xf32>
}

// A transform of a sharded dimension is computed by each device as a whole, with that of the batch.
// CONFLICT-LABEL: @transform
// CONFLICT:         %[[WHOLE:.*]] = sdy.reshard %arg0 <@mesh, [{}, {}]>
// CONFLICT-NEXT:    stablehlo.fft %[[WHOLE]]
func.func @transform(%arg0: tensor<16x64xcomplex<f32>> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>})
    -> (tensor<16x64xcomplex<f32>> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}) {
  %0 = stablehlo.fft %arg0, type = FFT, length = [64] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {"y"}]>]>} : (tensor<16x64xcomplex<f32>>) -> tensor<16x64xcomplex<f32>>
  return %0 : tensor<16x64xcomplex<f32>>
}

// A scatter adds to the other term of a sum, if nothing else uses it and its own table is 0.
// SIMPLE-LABEL: @tied
// SIMPLE:         %[[OTHER:.*]] = stablehlo.tanh %arg0
// SIMPLE-NEXT:    %[[ADDED:.*]] = "stablehlo.scatter"(%[[OTHER]], %arg1, %arg2)
// SIMPLE:         %[[USED:.*]] = "stablehlo.scatter"
// SIMPLE:         stablehlo.add %[[USED]], %arg0
// SIMPLE:         return %[[ADDED]]
func.func @tied(%arg0: tensor<64x8xf32>, %arg1: tensor<4x1xi32>, %arg2: tensor<4x8xf32>)
    -> (tensor<64x8xf32>, tensor<64x8xf32>, tensor<64x8xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %zeros = stablehlo.broadcast_in_dim %zero, dims = [] : (tensor<f32>) -> tensor<64x8xf32>
  %0 = "stablehlo.scatter"(%zeros, %arg1, %arg2) <{
    scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0],
      scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %sum = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %sum : tensor<f32>
  }) : (tensor<64x8xf32>, tensor<4x1xi32>, tensor<4x8xf32>) -> tensor<64x8xf32>
  %1 = stablehlo.tanh %arg0 : tensor<64x8xf32>
  %2 = stablehlo.add %0, %1 : tensor<64x8xf32>
  %3 = "stablehlo.scatter"(%zeros, %arg1, %arg2) <{
    scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0],
      scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %sum = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %sum : tensor<f32>
  }) : (tensor<64x8xf32>, tensor<4x1xi32>, tensor<4x8xf32>) -> tensor<64x8xf32>
  %4 = stablehlo.add %3, %arg0 : tensor<64x8xf32>
  return %2, %3, %4 : tensor<64x8xf32>, tensor<64x8xf32>, tensor<64x8xf32>
}

// The lists of axes of the contracting dimension differ, though one begins with the other: the result decides.
// CONFLICT-LABEL: @other_contracting_axes
// CONFLICT:         %[[LHS:.*]] = sdy.reshard %arg0 <@mesh, [{}, {}]>
// CONFLICT-NEXT:    %[[RHS:.*]] = sdy.reshard %arg1 <@mesh, [{}, {"y"}]>
// CONFLICT-NEXT:    stablehlo.dot_general %[[LHS]], %[[RHS]]
// SIZES-LABEL:    @other_contracting_axes
// SIZES:            sdy.all_reduce {"x", "y"}
func.func @other_contracting_axes(
    %arg0: tensor<8192x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
    %arg1: tensor<8192x128xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}, {}]>})
    -> (tensor<64x128xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}]>}) {
  %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [0] x [0]
      {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"y"}]>]>}
      : (tensor<8192x64xf32>, tensor<8192x128xf32>) -> tensor<64x128xf32>
  return %0 : tensor<64x128xf32>
}

// The second device needs elements 8 to 15 of the first one, which has 24: all from 8 to the border are sent.
// BORDER-LABEL: @slice_of_split
// BORDER:         stablehlo.slice %{{.*}} [8:24]
// BORDER-NEXT:    "stablehlo.collective_permute"
// BORDER-SAME:      (tensor<16xf32>) -> tensor<16xf32>
// LESS-LABEL:   @slice_of_split
// LESS:           "stablehlo.collective_permute"
// LESS-SAME:        (tensor<8xf32>) -> tensor<8xf32>
sdy.mesh @halves = <["x"=2]>
func.func @slice_of_split(%arg0: tensor<48xf32> {sdy.sharding = #sdy.sharding<@halves, [{"x"}]>})
    -> (tensor<16xf32> {sdy.sharding = #sdy.sharding<@halves, [{"x"}]>}) {
  %0 = stablehlo.slice %arg0 [0:16] {sdy.sharding = #sdy.sharding_per_value<[<@halves, [{"x"}]>]>} : (tensor<48xf32>) -> tensor<16xf32>
  return %0 : tensor<16xf32>
}

// A product that sums up nothing is a multiplication of broadcasts; one of a row and a column, too.
// SIMPLE-LABEL: @product_without_a_sum
// SIMPLE:         %[[LHS:.*]] = stablehlo.broadcast_in_dim %arg0, dims = [0, 1]
// SIMPLE-SAME:      (tensor<8x4xf32>) -> tensor<8x4x2xf32>
// SIMPLE-NEXT:    %[[RHS:.*]] = stablehlo.broadcast_in_dim %arg1, dims = [2, 0]
// SIMPLE-SAME:      (tensor<2x8xf32>) -> tensor<8x4x2xf32>
// SIMPLE-NEXT:    stablehlo.multiply %[[LHS]], %[[RHS]]
// SIMPLE-SAME:      sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}, {}]>]>
// SIMPLE-NEXT:    %[[COLUMN:.*]] = stablehlo.reshape %arg2 : (tensor<4xf32>) -> tensor<4x1xf32>
// SIMPLE-NEXT:    %[[ONE:.*]] = stablehlo.broadcast_in_dim %arg3, dims = [1]
// SIMPLE-NEXT:    stablehlo.multiply %[[COLUMN]], %[[ONE]] : tensor<4x1xf32>
// SIMPLE-NEXT:    stablehlo.dot_general %arg4, %arg4
func.func @product_without_a_sum(
    %arg0: tensor<8x4xf32>, %arg1: tensor<2x8xf32>, %arg2: tensor<4xf32>, %arg3: tensor<1xf32>,
    %arg4: tensor<8xbf16>) -> (tensor<8x4x2xf32>, tensor<4x1xf32>, tensor<8x8xf32>) {
  %0 = stablehlo.dot_general %arg0, %arg1, batching_dims = [0] x [1], contracting_dims = [] x []
      {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}, {}]>]>}
      : (tensor<8x4xf32>, tensor<2x8xf32>) -> tensor<8x4x2xf32>
  %1 = stablehlo.dot_general %arg2, %arg3, contracting_dims = [] x [] : (tensor<4xf32>, tensor<1xf32>) -> tensor<4x1xf32>
  %2 = stablehlo.dot_general %arg4, %arg4, contracting_dims = [] x [] : (tensor<8xbf16>, tensor<8xbf16>) -> tensor<8x8xf32>
  return %0, %1, %2 : tensor<8x4x2xf32>, tensor<4x1xf32>, tensor<8x8xf32>
}

// The sharding of a sum stays, which the scatter would not have.
// SIMPLE-LABEL: @sum_with_sharding
// SIMPLE:         stablehlo.add %{{.*}}, %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>}
func.func @sum_with_sharding(%arg0: tensor<64x8xf32>, %arg1: tensor<4x1xi32>, %arg2: tensor<4x8xf32>) -> tensor<64x8xf32> {
  %zeros = stablehlo.constant dense<0.0> : tensor<64x8xf32>
  %0 = "stablehlo.scatter"(%zeros, %arg1, %arg2) <{
    scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0],
      scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %sum = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %sum : tensor<f32>
  }) : (tensor<64x8xf32>, tensor<4x1xi32>, tensor<4x8xf32>) -> tensor<64x8xf32>
  %1 = stablehlo.add %0, %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : tensor<64x8xf32>
  return %1 : tensor<64x8xf32>
}

// Six heads cannot be sharded along 4 devices, but along "y":(1)2. Devices with half of the heads each exchange
// their columns; to merge heads, nothing is sent. Shardy looks for other places for "y":(2)2, and finds the batch.
// CONFLICT-LABEL: @heads
// CONFLICT:         %[[PAIRS:.*]] = sdy.reshard %arg0 <@mesh, [{"x"}, {"y":(1)2}]>
// CONFLICT-NEXT:    %[[SPLIT:.*]] = stablehlo.reshape %[[PAIRS]] {{.*}}[{"x"}, {"y":(1)2}, {}]
// CONFLICT-NEXT:    %[[MERGED:.*]] = stablehlo.reshape %[[SPLIT]] {{.*}}[{"x"}, {"y":(1)2}]
// CONFLICT-NEXT:    sdy.reshard %[[MERGED]] <@mesh, [{"x"}, {"y"}]>
// SIZES-LABEL:    @heads
// SIZES:            sdy.reshard %arg0 <@mesh, [{"x", "y"}, {}]>
func.func @heads(%arg0: tensor<64x192xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>})
    -> (tensor<64x192xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}) {
  %0 = stablehlo.reshape %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {"y":(1)2}, {}]>]>}
      : (tensor<64x192xf32>) -> tensor<64x6x32xf32>
  %1 = stablehlo.reshape %0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {"y"}]>]>}
      : (tensor<64x6x32xf32>) -> tensor<64x192xf32>
  return %1 : tensor<64x192xf32>
}

// A result whose sharding the operand cannot have gets that of the operand as far as it can: none of "y" here.
// CONFLICT-LABEL: @columns
// CONFLICT:         %[[WHOLE:.*]] = sdy.reshard %arg0 <@mesh, [{"x"}, {}]>
// CONFLICT-NEXT:    %[[SPLIT:.*]] = stablehlo.reshape %[[WHOLE]] {{.*}}[{"x"}, {}, {}]
// CONFLICT-NEXT:    sdy.reshard %[[SPLIT]] <@mesh, [{"x"}, {}, {"y"}]>
func.func @columns(%arg0: tensor<64x96xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>})
    -> (tensor<64x3x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}, {"y"}]>}) {
  %0 = stablehlo.reshape %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}, {"y"}]>]>}
      : (tensor<64x96xf32>) -> tensor<64x3x32xf32>
  return %0 : tensor<64x3x32xf32>
}

// The batch of the right operand is sharded along "y", too, which the left one has for its columns. "x" remains, if the
// result does not have it for another dimension: else operands are gathered, and nothing is summed up.
// CONFLICT-LABEL: @shorter_batch
// CONFLICT:         %[[PART:.*]] = stablehlo.dot_general %arg0, %{{.*}}, contracting_dims = [0] x [0]
// CONFLICT-NEXT:    sdy.all_reduce {"x"} %[[PART]]
// CONFLICT:         sdy.reshard %arg0 <@mesh, [{}, {"y"}]>
// CONFLICT-NEXT:    sdy.reshard %arg1 <@mesh, [{}, {"x"}]>
// CONFLICT-NEXT:    stablehlo.dot_general
// CONFLICT-NOT:     sdy.all_reduce
// CONFLICT:         return
func.func @shorter_batch(%arg0: tensor<64x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>},
    %arg1: tensor<64x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}, {}]>}) -> (tensor<32x16xf32>, tensor<32x16xf32>) {
  %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [0] x [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}, {}]>]>}
      : (tensor<64x32xf32>, tensor<64x16xf32>) -> tensor<32x16xf32>
  %1 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [0] x [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}, {"x"}]>]>}
      : (tensor<64x32xf32>, tensor<64x16xf32>) -> tensor<32x16xf32>
  return %0, %1 : tensor<32x16xf32>, tensor<32x16xf32>
}

// A sum along other axes than those of the slice, too, is all-reduced and sliced: the gradient of a weight that is
// sharded along one of the axes of the batch, and that the program gathers itself.
// SUM-LABEL: @gradient_of_hybrid
// SUM:         sdy.all_reduce {"d", "x"}
// SUM-NEXT:    sdy.all_slice [{"x"}, {}]
func.func @gradient_of_hybrid(
    %arg0: tensor<64x32xf32> {sdy.sharding = #sdy.sharding<@cube, [{"d", "x"}, {}]>},
    %arg1: tensor<64x16xf32> {sdy.sharding = #sdy.sharding<@cube, [{"d", "x"}, {}]>}) -> tensor<32x16xf32> {
  %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [0] x [0]
      {sdy.sharding = #sdy.sharding_per_value<[<@cube, [{}, {}]>]>}
      : (tensor<64x32xf32>, tensor<64x16xf32>) -> tensor<32x16xf32>
  %1 = sdy.all_reduce {"d", "x"} %0 out_sharding=<@cube, [{}, {}]> : tensor<32x16xf32>
  %2 = sdy.all_slice [{"x"}, {}] %1 out_sharding=<@cube, [{"x"}, {}]> : tensor<32x16xf32>
  return %2 : tensor<32x16xf32>
}

// Along all axes of the slice, and no other, it is a reduce-scatter.
// SUM-LABEL: @gradient_of_weights
// SUM:         sdy.reduce_scatter [{"x"}, {}] {{.*}}sdy.replaces
func.func @gradient_of_weights(
    %arg0: tensor<64x32xf32> {sdy.sharding = #sdy.sharding<@cube, [{"x"}, {}]>},
    %arg1: tensor<64x16xf32> {sdy.sharding = #sdy.sharding<@cube, [{"x"}, {}]>}) -> tensor<32x16xf32> {
  %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [0] x [0]
      {sdy.sharding = #sdy.sharding_per_value<[<@cube, [{}, {}]>]>}
      : (tensor<64x32xf32>, tensor<64x16xf32>) -> tensor<32x16xf32>
  %1 = sdy.all_reduce {"x"} %0 out_sharding=<@cube, [{}, {}]> : tensor<32x16xf32>
  %2 = sdy.all_slice [{"x"}, {}] %1 out_sharding=<@cube, [{"x"}, {}]> : tensor<32x16xf32>
  return %2 : tensor<32x16xf32>
}
