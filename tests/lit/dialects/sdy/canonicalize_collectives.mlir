// RUN: sdy-opt %s -canonicalize | filecheck %s

sdy.mesh @mesh = <["x"=4, "y"=2, "z"=2]>

// Collectives without axes are erased.
// CHECK-LABEL: func.func @along_nothing
// CHECK-SAME:    (%[[ARG:.*]]: tensor<8x8xf32>
func.func @along_nothing(%arg: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<8x8xf32> {
  // CHECK-NEXT: return %[[ARG]]
  %0 = sdy.all_gather [{}, {}] %arg out_sharding=<@mesh, [{"x"}, {}]> : tensor<8x8xf32>
  %1 = sdy.all_slice [{}, {}] %0 out_sharding=<@mesh, [{"x"}, {}]> : tensor<8x8xf32>
  %2 = sdy.all_reduce {} %1 out_sharding=<@mesh, [{"x"}, {}]> : tensor<8x8xf32>
  %3 = sdy.reduce_scatter [{}, {}] %2 out_sharding=<@mesh, [{"x"}, {}]> : tensor<8x8xf32>
  %4 = sdy.collective_permute %3 out_sharding=<@mesh, [{"x", ?}, {?}]> : tensor<8x8xf32>
  return %4 : tensor<8x8xf32>
}

// A slice of a gather along the same axes is folded.
// CHECK-LABEL: func.func @gather_then_slice
// CHECK-SAME:    (%[[ARG:.*]]: tensor<8x8xf32>
func.func @gather_then_slice(%arg: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}, {}]>}) -> tensor<8x8xf32> {
  %0 = sdy.all_gather [{"y"}, {}] %arg out_sharding=<@mesh, [{"x"}, {}]> : tensor<8x8xf32>
  %1 = sdy.all_slice [{"y"}, {}] %0 out_sharding=<@mesh, [{"x", "y"}, {}]> : tensor<8x8xf32>
  // CHECK: return %[[ARG]]
  return %1 : tensor<8x8xf32>
}

// A slice along other axes is kept.
// CHECK-LABEL: func.func @gather_then_slice_otherwise
func.func @gather_then_slice_otherwise(%arg: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}, {}]>}) -> tensor<8x8xf32> {
  // CHECK-NEXT: %[[GATHERED:.*]] = sdy.all_gather
  %0 = sdy.all_gather [{"y"}, {}] %arg out_sharding=<@mesh, [{"x"}, {}]> : tensor<8x8xf32>
  // CHECK-NEXT: %[[SLICED:.*]] = sdy.all_slice [{}, {"y"}] %[[GATHERED]]
  %1 = sdy.all_slice [{}, {"y"}] %0 out_sharding=<@mesh, [{"x"}, {"y"}]> : tensor<8x8xf32>
  // CHECK-NEXT: return %[[SLICED]]
  return %1 : tensor<8x8xf32>
}

// An all-reduce of replicated_to_unreduced is folded.
// CHECK-LABEL: func.func @replicated_to_unreduced_then_reduce
// CHECK-SAME:    (%[[ARG:.*]]: tensor<8xf32>
func.func @replicated_to_unreduced_then_reduce(%arg: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<8xf32> {
  %0 = sdy.replicated_to_unreduced {"y", "z"} %arg out_sharding=<@mesh, [{"x"}], unreduced={"y", "z"}> : tensor<8xf32>
  %1 = sdy.all_reduce {"y", "z"} %0 out_sharding=<@mesh, [{"x"}]> : tensor<8xf32>
  // CHECK: return %[[ARG]]
  return %1 : tensor<8xf32>
}

// An all-reduce of sharded_to_unreduced becomes an all-gather.
// CHECK-LABEL: func.func @sharded_to_unreduced_then_reduce
func.func @sharded_to_unreduced_then_reduce(%arg: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}, {"z"}]>}) -> tensor<8x8xf32> {
  // CHECK: %[[GATHERED:.*]] = sdy.all_gather [{"x":(2)2, "y"}, {"z"}] %arg0 out_sharding=<@mesh, [{"x":(1)2}, {}]> : tensor<8x8xf32>
  %0 = sdy.sharded_to_unreduced [{"x":(2)2, "y"}, {"z"}] %arg out_sharding=<@mesh, [{"x":(1)2}, {}], unreduced={"x":(2)2, "y", "z"}> : tensor<8x8xf32>
  %1 = sdy.all_reduce {"x":(2)2, "y", "z"} %0 out_sharding=<@mesh, [{"x":(1)2}, {}]> : tensor<8x8xf32>
  // CHECK: return %[[GATHERED]]
  return %1 : tensor<8x8xf32>
}

// All-to-alls with distinct dimensions are fused, and the parameters sorted.
// CHECK-LABEL: func.func @all_to_alls
func.func @all_to_alls(%arg: tensor<8x8x8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}, {"y"}, {}]>}) -> tensor<8x8x8x8xf32> {
  // CHECK-NEXT: %[[MOVED:.*]] = sdy.all_to_all [{"x"}: 0->1, {"y"}: 2->3] %arg0 out_sharding=<@mesh, [{}, {"x"}, {}, {"y"}]> : tensor<8x8x8x8xf32>
  // CHECK-NEXT: return %[[MOVED]]
  %0 = sdy.all_to_all [{"y"}: 2->3] %arg out_sharding=<@mesh, [{"x"}, {}, {}, {"y"}]> : tensor<8x8x8x8xf32>
  %1 = sdy.all_to_all [{"x"}: 0->1] %0 out_sharding=<@mesh, [{}, {"x"}, {}, {"y"}]> : tensor<8x8x8x8xf32>
  return %1 : tensor<8x8x8x8xf32>
}

// All-to-alls with a common dimension are not fused, nor if the first has other uses. An unused one is erased.
// CHECK-LABEL: func.func @all_to_alls_in_the_way
func.func @all_to_alls_in_the_way(%arg: tensor<8x8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}, {}]>}) -> tensor<8x8x8xf32> {
  // CHECK-NEXT: %[[FIRST:.*]] = sdy.all_to_all [{"x"}: 0->1] %arg0
  // CHECK-NEXT: %[[SECOND:.*]] = sdy.all_to_all [{"x"}: 1->2] %[[FIRST]]
  // CHECK-NEXT: return %[[SECOND]]
  %0 = sdy.all_to_all [{"x"}: 0->1] %arg out_sharding=<@mesh, [{}, {"x"}, {}]> : tensor<8x8x8xf32>
  %1 = sdy.all_to_all [{"x"}: 1->2] %0 out_sharding=<@mesh, [{}, {}, {"x"}]> : tensor<8x8x8xf32>
  %2 = sdy.all_to_all [{"x"}: 1->0] %0 out_sharding=<@mesh, [{"x"}, {}, {}]> : tensor<8x8x8xf32>
  return %1 : tensor<8x8x8xf32>
}

// An all-slice of an all-reduce along the same axes becomes a reduce-scatter.
// CHECK-LABEL: func.func @reduce_then_slice
func.func @reduce_then_slice(%arg: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}], unreduced={"y", "z"}>}) -> tensor<8x8xf32> {
  // CHECK-NEXT: %[[SUM:.*]] = sdy.reduce_scatter [{"y"}, {"z"}] %arg0 out_sharding=<@mesh, [{"x", "y"}, {"z"}]> : tensor<8x8xf32>
  // CHECK-NEXT: return %[[SUM]]
  %0 = sdy.all_reduce {"y", "z"} %arg out_sharding=<@mesh, [{"x"}, {}]> : tensor<8x8xf32>
  %1 = sdy.all_slice [{"y"}, {"z"}] %0 out_sharding=<@mesh, [{"x", "y"}, {"z"}]> : tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}

// Other axes are sliced after the reduce-scatter; equal slices are merged.
// CHECK-LABEL: func.func @reduce_then_slice_more
func.func @reduce_then_slice_more(%arg: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}], unreduced={"y"}>}) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
  // CHECK-NEXT: %[[SUM:.*]] = sdy.reduce_scatter [{"y"}, {}] %arg0 out_sharding=<@mesh, [{"y"}, {}]> : tensor<8x8xf32>
  // CHECK-NEXT: %[[SLICE:.*]] = sdy.all_slice [{"z"}, {"x"}] %[[SUM]] out_sharding=<@mesh, [{"y", "z"}, {"x"}]> : tensor<8x8xf32>
  // CHECK-NEXT: return %[[SLICE]], %[[SLICE]]
  %0 = sdy.all_reduce {"y"} %arg out_sharding=<@mesh, [{}, {}]> : tensor<8x8xf32>
  %1 = sdy.all_slice [{"y", "z"}, {"x"}] %0 out_sharding=<@mesh, [{"y", "z"}, {"x"}]> : tensor<8x8xf32>
  %2 = sdy.all_slice [{"y", "z"}, {"x"}] %0 out_sharding=<@mesh, [{"y", "z"}, {"x"}]> : tensor<8x8xf32>
  return %1, %2 : tensor<8x8xf32>, tensor<8x8xf32>
}

// The all-reduce is kept if an axis that is not reduced precedes a reduced axis.
// CHECK-LABEL: func.func @reduce_then_slice_in_the_way
func.func @reduce_then_slice_in_the_way(%arg: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}], unreduced={"y"}>}) -> tensor<8x8xf32> {
  // CHECK-NEXT: sdy.all_reduce
  // CHECK-NEXT: sdy.all_slice
  %0 = sdy.all_reduce {"y"} %arg out_sharding=<@mesh, [{}, {}]> : tensor<8x8xf32>
  %1 = sdy.all_slice [{"z", "y"}, {}] %0 out_sharding=<@mesh, [{"z", "y"}, {}]> : tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}

// The all-slice in the branch is equal to the one before it, whose result takes the place of both.
// CHECK-LABEL: func.func @all_slice_in_branch
// CHECK-NEXT: %[[SLICE:.*]] = sdy.reduce_scatter [{"x"}] %arg0
// CHECK-NEXT: %[[CASE:.*]] = "stablehlo.case"(%arg1) ({
// CHECK-NEXT: stablehlo.return %[[SLICE]]
// CHECK: stablehlo.return %[[SLICE]]
// CHECK: return %[[SLICE]], %[[CASE]]
func.func @all_slice_in_branch(%a: tensor<8xf32>, %i: tensor<i32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %0 = sdy.all_reduce {"x"} %a out_sharding=<@mesh, [{}]> : tensor<8xf32>
  %1 = sdy.all_slice [{"x"}] %0 out_sharding=<@mesh, [{"x"}]> : tensor<8xf32>
  %2 = "stablehlo.case"(%i) ({
    stablehlo.return %1 : tensor<8xf32>
  }, {
    %3 = sdy.all_slice [{"x"}] %0 out_sharding=<@mesh, [{"x"}]> : tensor<8xf32>
    stablehlo.return %3 : tensor<8xf32>
  }) : (tensor<i32>) -> tensor<8xf32>
  return %1, %2 : tensor<8xf32>, tensor<8xf32>
}

// Of two all-slices in different branches neither can take the place of the other.
// CHECK-LABEL: func.func @all_slices_in_branches
// CHECK: sdy.all_reduce
// CHECK-COUNT-2: sdy.all_slice
func.func @all_slices_in_branches(%a: tensor<8xf32>, %i: tensor<i32>) -> tensor<8xf32> {
  %0 = sdy.all_reduce {"x"} %a out_sharding=<@mesh, [{}]> : tensor<8xf32>
  %1 = "stablehlo.case"(%i) ({
    %2 = sdy.all_slice [{"x"}] %0 out_sharding=<@mesh, [{"x"}]> : tensor<8xf32>
    stablehlo.return %2 : tensor<8xf32>
  }, {
    %2 = sdy.all_slice [{"x"}] %0 out_sharding=<@mesh, [{"x"}]> : tensor<8xf32>
    stablehlo.return %2 : tensor<8xf32>
  }) : (tensor<i32>) -> tensor<8xf32>
  return %1 : tensor<8xf32>
}
