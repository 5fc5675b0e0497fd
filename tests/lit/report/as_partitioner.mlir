// Where sdy-partition-pipeline sends less than the partitioner of XLA, a report without passes tells what XLA sends.
// RUN: sdy-opt %s --report -o %t.mlir | filecheck %s
// RUN: filecheck %s --check-prefix=PROGRAM < %t.mlir

// CHECK: communication: 15.4 KiB on the wire per device, 6 collectives
// CHECK: 12.4 KiB {{.*}} 4  all_gather {"x"}
// CHECK: 3.00 KiB {{.*}} 1  all_to_all {"x"}
sdy.mesh @mesh = <["x"=4]>

func.func @main(
    %table: tensor<4096x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>},
    %ids: tensor<64x1xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
    %a: tensor<4096xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>},
    %b: tensor<8x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>},
    %c: tensor<8x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>})
    -> (tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
        tensor<4096xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, tensor<8xf32>, tensor<8xf32>) {
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>

  // The rows of a table are sharded along the axis of the batch: what was looked up is resharded, not the table.
  // PROGRAM:      %[[IDS:.*]] = sdy.all_gather [{"x"}, {}] %arg1
  // PROGRAM-NEXT: %[[ROWS:.*]] = "stablehlo.gather"(%arg0, %[[IDS]])
  // PROGRAM-NEXT: sdy.all_to_all [{"x"}: 1->0] %[[ROWS]]
  %0 = "stablehlo.gather"(%table, %ids) <{dimension_numbers = #stablehlo.gather<offset_dims = [1],
    collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false,
    slice_sizes = array<i64: 1, 64>}> : (tensor<4096x64xf32>, tensor<64x1xi32>) -> tensor<64x64xf32>

  // A cumulative sum gathers its operand, not the sums of shards.
  // PROGRAM:      %[[WHOLE:.*]] = sdy.all_gather [{"x"}] %arg2
  // PROGRAM-NEXT: "stablehlo.reduce_window"(%[[WHOLE]],
  %1 = "stablehlo.reduce_window"(%a, %zero) <{padding = dense<[[4095, 0]]> : tensor<1x2xi64>,
    window_dimensions = array<i64: 4096>}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %10 = stablehlo.add %p, %q : tensor<f32>
    stablehlo.return %10 : tensor<f32>
  }) : (tensor<4096xf32>, tensor<f32>) -> tensor<4096xf32>

  // A reduction of two values gathers the partial results of both, although their types are equal.
  // PROGRAM:         sdy.manual_computation
  // PROGRAM-COUNT-2: "stablehlo.all_gather"
  // PROGRAM:         sdy.replaces = "stablehlo.reduce"
  %2:2 = stablehlo.reduce(%b init: %low), (%c init: %zero) across dimensions = [1]
      : (tensor<8x64xf32>, tensor<8x64xf32>, tensor<f32>, tensor<f32>) -> (tensor<8xf32>, tensor<8xf32>)
    reducer(%p: tensor<f32>, %q: tensor<f32>) (%r: tensor<f32>, %s: tensor<f32>) {
      %11 = stablehlo.compare GE, %p, %q : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %12 = stablehlo.select %11, %p, %q : tensor<i1>, tensor<f32>
      %13 = stablehlo.select %11, %r, %s : tensor<i1>, tensor<f32>
      stablehlo.return %12, %13 : tensor<f32>, tensor<f32>
    }
  return %0, %1, %2#0, %2#1 : tensor<64x64xf32>, tensor<4096xf32>, tensor<8xf32>, tensor<8xf32>
}
