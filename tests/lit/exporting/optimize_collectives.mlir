// RUN: sdy-opt %s -sdy-optimize-collectives | filecheck %s
// RUN: sdy-opt %s -sdy-optimize-collectives --sdy-version=jaxlib-0.11.2 | filecheck %s
// RUN: not sdy-opt %s -sdy-optimize-collectives --sdy-version=jaxlib-0.10.2 2>&1 | filecheck %s --check-prefix=BEFORE

// BEFORE: help: the pass came with jaxlib-0.11.2; change --sdy-version

sdy.mesh @mesh = <["x"=2, "y"=2, "z"=2]>
sdy.mesh @uneven = <["x"=2, "y"=4, "z"=2]>

// "y" must become the first axis, so that "x" can move. In the reshaped tensor "x" moves by itself, and then "y" to
// the dimension that "x" has left.
// CHECK-LABEL: func.func @swapped
// CHECK-NEXT:    %0 = stablehlo.reshape %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {"y"}, {}, {}]>]>} : (tensor<16x8xf32>) -> tensor<2x2x4x8xf32>
// CHECK-NEXT:    %1 = sdy.all_to_all [{"x"}: 0->3] %0 out_sharding=<@mesh, [{}, {"y"}, {}, {"x"}]> : tensor<2x2x4x8xf32>
// CHECK-NEXT:    %2 = sdy.all_to_all [{"y"}: 1->0] %1 out_sharding=<@mesh, [{"y"}, {}, {}, {"x"}]> : tensor<2x2x4x8xf32>
// CHECK-NEXT:    %3 = stablehlo.reshape %2 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}, {"x"}]>]>} : (tensor<2x2x4x8xf32>) -> tensor<16x8xf32>
// CHECK-NEXT:    return %3
func.func @swapped(%a: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}, {}]>}) -> tensor<16x8xf32> {
  %0 = sdy.collective_permute %a out_sharding=<@mesh, [{"y", "x"}, {}]> : tensor<16x8xf32>
  %1 = sdy.all_to_all [{"x"}: 0->1] %0 out_sharding=<@mesh, [{"y"}, {"x"}]> : tensor<16x8xf32>
  return %1 : tensor<16x8xf32>
}

// All axes move: nothing has to be reordered. Shards of one element have no dimension for the rest.
// CHECK-LABEL: func.func @all_axes_move
// CHECK-NEXT:    stablehlo.reshape %arg0 {{.*}} [{"x"}, {"y"}, {}, {}]{{.*}} -> tensor<2x2x8x8xf32>
// CHECK-NEXT:    sdy.all_to_all [{"x"}: 0->2]
// CHECK-NEXT:    sdy.all_to_all [{"y"}: 1->3]
// CHECK-NEXT:    stablehlo.reshape
// CHECK-NEXT:    return
func.func @all_axes_move(%a: tensor<4x8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}, {}, {}]>}) -> tensor<4x8x8xf32> {
  %0 = sdy.collective_permute %a out_sharding=<@mesh, [{"y", "x"}, {}, {}]> : tensor<4x8x8xf32>
  %1 = sdy.all_to_all [{"x"}: 0->1] %0 out_sharding=<@mesh, [{"y"}, {"x"}, {}]> : tensor<4x8x8xf32>
  %2 = sdy.all_to_all [{"y"}: 0->2] %1 out_sharding=<@mesh, [{}, {"x"}, {"y"}]> : tensor<4x8x8xf32>
  return %2 : tensor<4x8x8xf32>
}

// "x" stays, but "z" needs its place. "x" makes room first.
// CHECK-LABEL: func.func @place_taken_at_first
// CHECK-NEXT:    stablehlo.reshape
// CHECK-NEXT:    sdy.all_to_all [{"y"}: 1->4]
// CHECK-NEXT:    sdy.all_to_all [{"x"}: 0->1]
// CHECK-NEXT:    sdy.all_to_all [{"z"}: 2->0] {{.*}} out_sharding=<@mesh, [{"z"}, {"x"}, {}, {}, {"y"}]>
// CHECK-NEXT:    stablehlo.reshape {{.*}} [{"z", "x"}, {"y"}]
func.func @place_taken_at_first(%a: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y", "z"}, {}]>}) -> tensor<16x8xf32> {
  %0 = sdy.collective_permute %a out_sharding=<@mesh, [{"z", "x", "y"}, {}]> : tensor<16x8xf32>
  %1 = sdy.all_to_all [{"y"}: 0->1] %0 out_sharding=<@mesh, [{"z", "x"}, {"y"}]> : tensor<16x8xf32>
  return %1 : tensor<16x8xf32>
}

// "x" and "y" would have to exchange their places.
// CHECK-LABEL: func.func @places_exchanged
// CHECK-NEXT:    sdy.collective_permute
// CHECK-NEXT:    sdy.all_to_all
// CHECK-NEXT:    return
func.func @places_exchanged(%a: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y", "z"}, {}]>}) -> tensor<16x8xf32> {
  %0 = sdy.collective_permute %a out_sharding=<@mesh, [{"y", "x", "z"}, {}]> : tensor<16x8xf32>
  %1 = sdy.all_to_all [{"z"}: 0->1] %0 out_sharding=<@mesh, [{"y", "x"}, {"z"}]> : tensor<16x8xf32>
  return %1 : tensor<16x8xf32>
}

// The last axis that stays may be smaller than the one whose place it takes.
// CHECK-LABEL: func.func @smaller_axis
// CHECK-NEXT:    stablehlo.reshape
// CHECK-NEXT:    sdy.all_to_all [{"y"}: 0->3]
// CHECK-NEXT:    sdy.all_to_all [{"x"}: 1->0] {{.*}} : tensor<4x2x2x8xf32>
func.func @smaller_axis(%a: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@uneven, [{"y", "x"}, {}]>}) -> tensor<16x8xf32> {
  %0 = sdy.collective_permute %a out_sharding=<@uneven, [{"x", "y"}, {}]> : tensor<16x8xf32>
  %1 = sdy.all_to_all [{"y"}: 0->1] %0 out_sharding=<@uneven, [{"x"}, {"y"}]> : tensor<16x8xf32>
  return %1 : tensor<16x8xf32>
}

// It must not be larger: a dimension of size 2 has no four shards.
// CHECK-LABEL: func.func @larger_axis
// CHECK-NEXT:    sdy.collective_permute
func.func @larger_axis(%a: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@uneven, [{"x", "y"}, {}]>}) -> tensor<16x8xf32> {
  %0 = sdy.collective_permute %a out_sharding=<@uneven, [{"y", "x"}, {}]> : tensor<16x8xf32>
  %1 = sdy.all_to_all [{"x"}: 0->1] %0 out_sharding=<@uneven, [{"y"}, {"x"}]> : tensor<16x8xf32>
  return %1 : tensor<16x8xf32>
}

// Nor may one before the last differ, even if the strides of the shards would be right: "z" of size 2 would get the
// place of "y" of size 4, and "y" that of "x" of size 2. C++ does this, and reshapes shards to half their size.
// CHECK-LABEL: func.func @other_sizes_in_between
// CHECK-NEXT:    sdy.collective_permute
func.func @other_sizes_in_between(%a: tensor<32x8xf32> {sdy.sharding = #sdy.sharding<@uneven, [{"y", "x", "z"}, {}]>}) -> tensor<32x8xf32> {
  %0 = sdy.collective_permute %a out_sharding=<@uneven, [{"z", "y", "x"}, {}]> : tensor<32x8xf32>
  %1 = sdy.all_to_all [{"x"}: 0->1] %0 out_sharding=<@uneven, [{"z", "y"}, {"x"}]> : tensor<32x8xf32>
  return %1 : tensor<32x8xf32>
}

// The rewrite ends before an all-to-all from another dimension, which takes its result.
// CHECK-LABEL: func.func @followed_by_others
// CHECK-NEXT:    stablehlo.reshape
// CHECK-NEXT:    sdy.all_to_all [{"x"}: 0->3] {{.*}} out_sharding=<@mesh, [{}, {"y"}, {}, {"z", "x"}]>
// CHECK-NEXT:    sdy.all_to_all [{"y"}: 1->0]
// CHECK-NEXT:    %[[OUT:.*]] = stablehlo.reshape
// CHECK-NEXT:    sdy.all_to_all [{"x"}: 1->0] %[[OUT]] out_sharding=<@mesh, [{"y", "x"}, {"z"}]>
func.func @followed_by_others(%a: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}, {"z"}]>}) -> tensor<16x8xf32> {
  %0 = sdy.collective_permute %a out_sharding=<@mesh, [{"y", "x"}, {"z"}]> : tensor<16x8xf32>
  %1 = sdy.all_to_all [{"x"}: 0->1] %0 out_sharding=<@mesh, [{"y"}, {"z", "x"}]> : tensor<16x8xf32>
  %2 = sdy.all_to_all [{"x"}: 1->0] %1 out_sharding=<@mesh, [{"y", "x"}, {"z"}]> : tensor<16x8xf32>
  return %2 : tensor<16x8xf32>
}

// And after one with another use.
// CHECK-LABEL: func.func @used_in_between
// CHECK:         %[[OUT:.*]] = stablehlo.reshape {{.*}} [{"y"}, {"x"}]
// CHECK-NEXT:    %[[LAST:.*]] = sdy.all_to_all [{"y"}: 0->1] %[[OUT]]
// CHECK-NEXT:    return %[[OUT]], %[[LAST]]
func.func @used_in_between(%a: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}, {}]>}) -> (tensor<16x8xf32>, tensor<16x8xf32>) {
  %0 = sdy.collective_permute %a out_sharding=<@mesh, [{"y", "x"}, {}]> : tensor<16x8xf32>
  %1 = sdy.all_to_all [{"x"}: 0->1] %0 out_sharding=<@mesh, [{"y"}, {"x"}]> : tensor<16x8xf32>
  %2 = sdy.all_to_all [{"y"}: 0->1] %1 out_sharding=<@mesh, [{}, {"x", "y"}]> : tensor<16x8xf32>
  return %1, %2 : tensor<16x8xf32>, tensor<16x8xf32>
}

// Another user of the permuted tensor needs the collective-permute.
// CHECK-LABEL: func.func @permute_used_twice
// CHECK-NEXT:    sdy.collective_permute
// CHECK-NEXT:    sdy.all_to_all
// CHECK-NEXT:    return
func.func @permute_used_twice(%a: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}, {}]>}) -> (tensor<16x8xf32>, tensor<16x8xf32>) {
  %0 = sdy.collective_permute %a out_sharding=<@mesh, [{"y", "x"}, {}]> : tensor<16x8xf32>
  %1 = sdy.all_to_all [{"x"}: 0->1] %0 out_sharding=<@mesh, [{"y"}, {"x"}]> : tensor<16x8xf32>
  return %0, %1 : tensor<16x8xf32>, tensor<16x8xf32>
}

// C++ moves "x" and "y" by one all-to-all with two moves to one dimension, which the verifier rejects.
// CHECK-LABEL: func.func @two_axes_at_once
// CHECK-NEXT:    sdy.collective_permute
// CHECK-NEXT:    sdy.all_to_all [{"x", "y"}: 0->1]
func.func @two_axes_at_once(%a: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y", "z"}, {}]>}) -> tensor<16x8xf32> {
  %0 = sdy.collective_permute %a out_sharding=<@mesh, [{"z", "x", "y"}, {}]> : tensor<16x8xf32>
  %1 = sdy.all_to_all [{"x", "y"}: 0->1] %0 out_sharding=<@mesh, [{"z"}, {"x", "y"}]> : tensor<16x8xf32>
  return %1 : tensor<16x8xf32>
}

// A sub-axis is merged with the one that is there. C++ leaves them apart, which the verifier rejects.
// CHECK-LABEL: func.func @sub_axes
// CHECK:         sdy.all_to_all [{"y":(2)2}: 0->3] {{.*}} out_sharding=<@uneven, [{}, {"x"}, {}, {"y"}]>
func.func @sub_axes(%a: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@uneven, [{"y":(2)2, "x"}, {"y":(1)2}]>}) -> tensor<16x8xf32> {
  %0 = sdy.collective_permute %a out_sharding=<@uneven, [{"x", "y":(2)2}, {"y":(1)2}]> : tensor<16x8xf32>
  %1 = sdy.all_to_all [{"y":(2)2}: 0->1] %0 out_sharding=<@uneven, [{"x"}, {"y"}]> : tensor<16x8xf32>
  return %1 : tensor<16x8xf32>
}

// Partial maxima stay maxima; C++ forgets the kind of reduction in between.
// CHECK-LABEL: func.func @partial_maxima
// CHECK-COUNT-5: unreduced=max{"z"}
// CHECK-NEXT:    return
func.func @partial_maxima(%a: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}, {}], unreduced=max{"z"}>}) -> tensor<16x8xf32> {
  %0 = sdy.collective_permute %a out_sharding=<@mesh, [{"y", "x"}, {}], unreduced=max{"z"}> : tensor<16x8xf32>
  %1 = sdy.all_to_all [{"x"}: 0->1] %0 out_sharding=<@mesh, [{"y"}, {"x"}], unreduced=max{"z"}> : tensor<16x8xf32>
  return %1 : tensor<16x8xf32>
}

// Six rows do not split into four equal shards.
// CHECK-LABEL: func.func @padded
// CHECK-NEXT:    sdy.collective_permute
func.func @padded(%a: tensor<6x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}, {}]>}) -> tensor<6x8xf32> {
  %0 = sdy.collective_permute %a out_sharding=<@mesh, [{"y", "x"}, {}]> : tensor<6x8xf32>
  %1 = sdy.all_to_all [{"x"}: 0->1] %0 out_sharding=<@mesh, [{"y"}, {"x"}]> : tensor<6x8xf32>
  return %1 : tensor<6x8xf32>
}

// "z" replaces "x": this is more than another order.
// CHECK-LABEL: func.func @replaced_axis
// CHECK-NEXT:    sdy.collective_permute
func.func @replaced_axis(%a: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}, {}]>}) -> tensor<16x8xf32> {
  %0 = sdy.collective_permute %a out_sharding=<@mesh, [{"y", "z"}, {}]> : tensor<16x8xf32>
  %1 = sdy.all_to_all [{"z"}: 0->1] %0 out_sharding=<@mesh, [{"y"}, {"z"}]> : tensor<16x8xf32>
  return %1 : tensor<16x8xf32>
}

// Each sub-axis of "w" that the collective-permute reorders gets a dimension.
sdy.mesh @eight = <["w"=8]>
// CHECK-LABEL: func.func @sub_axes_of_an_axis
// CHECK-NEXT: %0 = stablehlo.reshape %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@eight, [{}, {"w":(2)2}, {"w":(4)2}, {}, {}]>]>} : (tensor<6x24x5xf32>) -> tensor<6x2x2x6x5xf32>
// CHECK-NEXT: %1 = sdy.all_to_all [{"w":(2)2}: 1->0] %0 out_sharding=<@eight, [{"w":(2)2}, {}, {"w":(4)2}, {}, {}]>
// CHECK-NEXT: %2 = sdy.all_to_all [{"w":(4)2}: 2->1] %1 out_sharding=<@eight, [{"w":(2)2}, {"w":(4)2}, {}, {}, {}]>
// CHECK-NEXT: %3 = stablehlo.reshape %2 {sdy.sharding = #sdy.sharding_per_value<[<@eight, [{"w":(2)2}, {"w":(4)2}, {}]>]>} : (tensor<6x2x2x6x5xf32>) -> tensor<6x24x5xf32>
func.func @sub_axes_of_an_axis(%a: tensor<6x24x5xf32> {sdy.sharding = #sdy.sharding<@eight, [{}, {"w":(2)4}, {}]>}) -> (tensor<6x24x5xf32> {sdy.sharding = #sdy.sharding<@eight, [{"w":(2)2}, {"w":(4)2}, {}]>}) {
  %0 = sdy.collective_permute %a out_sharding=<@eight, [{}, {"w":(4)2, "w":(2)2}, {}]> : tensor<6x24x5xf32>
  %1 = sdy.all_to_all [{"w":(2)2}: 1->0] %0 out_sharding=<@eight, [{"w":(2)2}, {"w":(4)2}, {}]> : tensor<6x24x5xf32>
  return %1 : tensor<6x24x5xf32>
}
