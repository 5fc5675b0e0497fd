// RUN: sdy-opt %s -sdy-pad-for-divisibility --sdy-version=jaxlib-0.10.2 | filecheck %s
// RUN: sdy-opt %s -sdy-pad-for-divisibility | filecheck %s --check-prefix=LATER

// Sharded dimensions are padded to multiples of their number of shards.

sdy.mesh @mesh = <["x"=2, "y"=2]>

// A tensor is padded before it becomes sharded, and the padding is sliced off when it is no longer sharded.
// CHECK-LABEL: func.func @slice_and_gather(%arg0: tensor<7xf32>) -> tensor<7xf32>
// CHECK-NEXT: %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT: %0 = stablehlo.pad %arg0, %cst, low = [0], high = [1], interior = [0] : (tensor<7xf32>, tensor<f32>) -> tensor<8xf32>
// CHECK-NEXT: %1 = sdy.all_slice [{"x"}] %0 out_sharding=<@mesh, [{"x"}]> : tensor<8xf32>
// CHECK-NEXT: %2 = stablehlo.sine %1{{.*}} : tensor<8xf32>
// CHECK-NEXT: %3 = sdy.all_gather [{"x"}] %2 out_sharding=<@mesh, [{}]> : tensor<8xf32>
// CHECK-NEXT: %4 = stablehlo.slice %3 [0:7]{{.*}} : (tensor<8xf32>) -> tensor<7xf32>
// CHECK-NEXT: return %4 : tensor<7xf32>
func.func @slice_and_gather(%a: tensor<7xf32>) -> tensor<7xf32> {
  %0 = sdy.all_slice [{"x"}] %a out_sharding=<@mesh, [{"x"}]> : tensor<7xf32>
  %1 = stablehlo.sine %0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : tensor<7xf32>
  %2 = sdy.all_gather [{"x"}] %1 out_sharding=<@mesh, [{}]> : tensor<7xf32>
  return %2 : tensor<7xf32>
}

// 6 elements are 2+2+2+0 in four shards, and 3+3 in two: the second pair of shards gets an element of the first one.
// (C++ slices the gathered shards as if this moved no elements.)
// CHECK-LABEL: func.func @borders(%arg0: tensor<6xf32>) -> tensor<6xf32>
// CHECK-NEXT: %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT: %0 = stablehlo.pad %arg0, %cst, low = [0], high = [2], interior = [0] : (tensor<6xf32>, tensor<f32>) -> tensor<8xf32>
// CHECK-NEXT: %1 = sdy.all_slice [{"x", "y"}] %0 out_sharding=<@mesh, [{"x", "y"}]> : tensor<8xf32>
// CHECK-NEXT: %2 = sdy.all_gather [{"y"}] %1 out_sharding=<@mesh, [{"x"}]> : tensor<8xf32>
// CHECK-NEXT: %3 = sdy.manual_computation(%2) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[<@mesh, [{"x"}]>] manual_axes={"x"} (%[[PAIR:.*]]: tensor<4xf32>) {
// CHECK:        %[[SENT:.*]] = stablehlo.slice %[[PAIR]] [3:4]
// CHECK-NEXT:   "stablehlo.collective_permute"(%[[SENT]]) {{.*}}source_target_pairs = dense<{{\[\[}}0, 2], [1, 3]]>
// CHECK:        sdy.return %{{.*}} : tensor<3xf32>
// CHECK-NEXT: } : (tensor<8xf32>) -> tensor<6xf32>
// CHECK-NEXT: %4 = sdy.all_gather [{"x"}] %3 out_sharding=<@mesh, [{}]> : tensor<6xf32>
// CHECK-NEXT: return %4 : tensor<6xf32>
func.func @borders(%a: tensor<6xf32>) -> tensor<6xf32> {
  %0 = sdy.all_slice [{"x", "y"}] %a out_sharding=<@mesh, [{"x", "y"}]> : tensor<6xf32>
  %1 = sdy.all_gather [{"y"}] %0 out_sharding=<@mesh, [{"x"}]> : tensor<6xf32>
  %2 = sdy.all_gather [{"x"}] %1 out_sharding=<@mesh, [{}]> : tensor<6xf32>
  return %2 : tensor<6xf32>
}

// A reduce-scatter after which shards have other borders is an all-reduce, and then a gather and a slice. Partial sums
// along "z" remain partial.
// CHECK-LABEL: func.func @partial_sums
// CHECK: %[[SUM:.*]] = sdy.all_reduce {"y"} %{{.*}} out_sharding=<@cube, [{"x"}], unreduced={"z"}> : tensor<6xf32>
// CHECK-NEXT: %[[ALL:.*]] = sdy.all_gather [{"x"}] %[[SUM]] out_sharding=<@cube, [{}], unreduced={"z"}> : tensor<6xf32>
// CHECK: %[[PAD:.*]] = stablehlo.pad %[[ALL]]
// CHECK-NEXT: sdy.all_slice [{"x", "y"}] %[[PAD]] out_sharding=<@cube, [{"x", "y"}], unreduced={"z"}> : tensor<8xf32>
sdy.mesh @cube = <["x"=2, "y"=2, "z"=2]>
func.func @partial_sums(%a: tensor<6xf32> {sdy.sharding = #sdy.sharding<@cube, [{"x"}], unreduced={"y", "z"}>}) -> tensor<6xf32> {
  %0 = sdy.reduce_scatter [{"y"}] %a out_sharding=<@cube, [{"x", "y"}], unreduced={"z"}> : tensor<6xf32>
  %1 = sdy.all_gather [{"x", "y"}] %0 out_sharding=<@cube, [{}], unreduced={"z"}> : tensor<6xf32>
  %2 = sdy.all_reduce {"z"} %1 out_sharding=<@cube, [{}]> : tensor<6xf32>
  return %2 : tensor<6xf32>
}

// Shards that become partial sums with other borders are gathered, sliced, and then made partial.
// CHECK-LABEL: func.func @to_partial_sums
// CHECK: %[[ALL:.*]] = sdy.all_gather [{"x", "y"}] %{{.*}} out_sharding=<@mesh, [{}]> : tensor<8xf32>
// CHECK-NEXT: %[[CUT:.*]] = stablehlo.slice %[[ALL]] [0:6]
// CHECK-NEXT: %[[SHARD:.*]] = sdy.all_slice [{"x"}] %[[CUT]] out_sharding=<@mesh, [{"x"}]> : tensor<6xf32>
// CHECK-NEXT: sdy.replicated_to_unreduced {"y"} %[[SHARD]] out_sharding=<@mesh, [{"x"}], unreduced={"y"}> : tensor<6xf32>
func.func @to_partial_sums(%a: tensor<6xf32>) -> tensor<6xf32> {
  %0 = sdy.all_slice [{"x", "y"}] %a out_sharding=<@mesh, [{"x", "y"}]> : tensor<6xf32>
  %1 = sdy.sharded_to_unreduced [{"y"}] %0 out_sharding=<@mesh, [{"x"}], unreduced={"y"}> : tensor<6xf32>
  %2 = sdy.all_reduce {"y"} %1 out_sharding=<@mesh, [{"x"}]> : tensor<6xf32>
  %3 = sdy.all_gather [{"x"}] %2 out_sharding=<@mesh, [{}]> : tensor<6xf32>
  return %3 : tensor<6xf32>
}

// The target dimension of an all-to-all is padded before it, and the padding of the source dimension sliced off after.
// CHECK-LABEL: func.func @all_to_all(%arg0: tensor<7x7xf32>) -> tensor<7x7xf32>
// CHECK-NEXT: %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT: %0 = stablehlo.pad %arg0, %cst, low = [0, 0], high = [1, 0], interior = [0, 0] : (tensor<7x7xf32>, tensor<f32>) -> tensor<8x7xf32>
// CHECK-NEXT: %1 = sdy.all_slice [{"x"}, {}] %0 out_sharding=<@mesh, [{"x"}, {}]> : tensor<8x7xf32>
// CHECK-NEXT: %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT: %2 = stablehlo.pad %1, %cst_0, low = [0, 0], high = [0, 1], interior = [0, 0]{{.*}} : (tensor<8x7xf32>, tensor<f32>) -> tensor<8x8xf32>
// CHECK-NEXT: %3 = sdy.all_to_all [{"x"}: 0->1] %2 out_sharding=<@mesh, [{}, {"x"}]> : tensor<8x8xf32>
// CHECK-NEXT: %4 = stablehlo.slice %3 [0:7, 0:8]{{.*}} : (tensor<8x8xf32>) -> tensor<7x8xf32>
// CHECK-NEXT: %5 = sdy.all_gather [{}, {"x"}] %4 out_sharding=<@mesh, [{}, {}]> : tensor<7x8xf32>
// CHECK-NEXT: %6 = stablehlo.slice %5 [0:7, 0:7]{{.*}} : (tensor<7x8xf32>) -> tensor<7x7xf32>
// CHECK-NEXT: return %6 : tensor<7x7xf32>
func.func @all_to_all(%a: tensor<7x7xf32>) -> tensor<7x7xf32> {
  %0 = sdy.all_slice [{"x"}, {}] %a out_sharding=<@mesh, [{"x"}, {}]> : tensor<7x7xf32>
  %1 = sdy.all_to_all [{"x"}: 0->1] %0 out_sharding=<@mesh, [{}, {"x"}]> : tensor<7x7xf32>
  %2 = sdy.all_gather [{}, {"x"}] %1 out_sharding=<@mesh, [{}, {}]> : tensor<7x7xf32>
  return %2 : tensor<7x7xf32>
}

// The padding of a sliced tensor is zero, so it does not change a dot.
// CHECK-LABEL: func.func @dot_of_zeros(%arg0: tensor<4x7xf32>, %arg1: tensor<7x4xf32>) -> tensor<4x4xf32>
// CHECK-NEXT: %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT: %0 = stablehlo.pad %arg0, %cst, low = [0, 0], high = [0, 1], interior = [0, 0] : (tensor<4x7xf32>, tensor<f32>) -> tensor<4x8xf32>
// CHECK-NEXT: %1 = sdy.all_slice [{}, {"x"}] %0 out_sharding=<@mesh, [{}, {"x"}]> : tensor<4x8xf32>
// CHECK-NEXT: %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT: %2 = stablehlo.pad %arg1, %cst_0, low = [0, 0], high = [1, 0], interior = [0, 0] : (tensor<7x4xf32>, tensor<f32>) -> tensor<8x4xf32>
// CHECK-NEXT: %3 = sdy.all_slice [{"x"}, {}] %2 out_sharding=<@mesh, [{"x"}, {}]> : tensor<8x4xf32>
// CHECK-NEXT: %4 = stablehlo.dot %1, %3{{.*}} : (tensor<4x8xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
// CHECK-NEXT: %5 = sdy.all_reduce {"x"} %4 out_sharding=<@mesh, [{}, {}]> : tensor<4x4xf32>
// CHECK-NEXT: return %5 : tensor<4x4xf32>
func.func @dot_of_zeros(%a: tensor<4x7xf32>, %b: tensor<7x4xf32>) -> tensor<4x4xf32> {
  %0 = sdy.all_slice [{}, {"x"}] %a out_sharding=<@mesh, [{}, {"x"}]> : tensor<4x7xf32>
  %1 = sdy.all_slice [{"x"}, {}] %b out_sharding=<@mesh, [{"x"}, {}]> : tensor<7x4xf32>
  %2 = stablehlo.dot %0, %1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>} : (tensor<4x7xf32>, tensor<7x4xf32>) -> tensor<4x4xf32>
  %3 = sdy.all_reduce {"x"} %2 out_sharding=<@mesh, [{}, {}]> : tensor<4x4xf32>
  return %3 : tensor<4x4xf32>
}

// After a cosine, the padding is not zero, and is overwritten. Later versions create the zero before the mask.
// CHECK-LABEL: func.func @dot(%arg0: tensor<4x7xf32>, %arg1: tensor<7x4xf32>) -> tensor<4x4xf32>
// CHECK-NEXT: %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT: %0 = stablehlo.pad %arg0, %cst, low = [0, 0], high = [0, 1], interior = [0, 0] : (tensor<4x7xf32>, tensor<f32>) -> tensor<4x8xf32>
// CHECK-NEXT: %1 = sdy.all_slice [{}, {"x"}] %0 out_sharding=<@mesh, [{}, {"x"}]> : tensor<4x8xf32>
// CHECK-NEXT: %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT: %2 = stablehlo.pad %arg1, %cst_0, low = [0, 0], high = [1, 0], interior = [0, 0] : (tensor<7x4xf32>, tensor<f32>) -> tensor<8x4xf32>
// CHECK-NEXT: %3 = sdy.all_slice [{"x"}, {}] %2 out_sharding=<@mesh, [{"x"}, {}]> : tensor<8x4xf32>
// CHECK-NEXT: %4 = stablehlo.cosine %1{{.*}} : tensor<4x8xf32>
// CHECK-NEXT: %5 = stablehlo.iota dim = 1{{.*}} : tensor<4x8xi32>
// CHECK-NEXT: %c = stablehlo.constant dense<7> : tensor<i32>
// CHECK-NEXT: %6 = stablehlo.broadcast_in_dim %c, dims = []{{.*}} : (tensor<i32>) -> tensor<4x8xi32>
// CHECK-NEXT: %7 = stablehlo.compare LT, %5, %6{{.*}} : (tensor<4x8xi32>, tensor<4x8xi32>) -> tensor<4x8xi1>
// CHECK-NEXT: %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT: %8 = stablehlo.broadcast_in_dim %cst_1, dims = []{{.*}} : (tensor<f32>) -> tensor<4x8xf32>
// CHECK-NEXT: %9 = stablehlo.select %7, %4, %8{{.*}} : tensor<4x8xi1>, tensor<4x8xf32>
// CHECK-NEXT: %10 = stablehlo.dot %9, %3{{.*}} : (tensor<4x8xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
// CHECK-NEXT: %11 = sdy.all_reduce {"x"} %10 out_sharding=<@mesh, [{}, {}]> : tensor<4x4xf32>
// CHECK-NEXT: return %11 : tensor<4x4xf32>
// LATER-LABEL: func.func @dot(
// LATER: %4 = stablehlo.cosine %1
// LATER-NEXT: %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// LATER-NEXT: %5 = stablehlo.iota dim = 1
func.func @dot(%a: tensor<4x7xf32>, %b: tensor<7x4xf32>) -> tensor<4x4xf32> {
  %0 = sdy.all_slice [{}, {"x"}] %a out_sharding=<@mesh, [{}, {"x"}]> : tensor<4x7xf32>
  %1 = sdy.all_slice [{"x"}, {}] %b out_sharding=<@mesh, [{"x"}, {}]> : tensor<7x4xf32>
  %2 = stablehlo.cosine %0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"x"}]>]>} : tensor<4x7xf32>
  %3 = stablehlo.dot %2, %1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>} : (tensor<4x7xf32>, tensor<7x4xf32>) -> tensor<4x4xf32>
  %4 = sdy.all_reduce {"x"} %3 out_sharding=<@mesh, [{}, {}]> : tensor<4x4xf32>
  return %4 : tensor<4x4xf32>
}

// Before a reduction, the padding becomes the identity. (C++ reduces the padding too.)
// CHECK-LABEL: func.func @reduce(%arg0: tensor<7xf32>, %arg1: tensor<f32>) -> tensor<f32>
// CHECK-NEXT: %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT: %0 = stablehlo.pad %arg0, %cst, low = [0], high = [1], interior = [0] : (tensor<7xf32>, tensor<f32>) -> tensor<8xf32>
// CHECK-NEXT: %1 = sdy.all_slice [{"x"}] %0 out_sharding=<@mesh, [{"x"}]> : tensor<8xf32>
// CHECK-NEXT: %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
// CHECK-NEXT: %2 = stablehlo.iota dim = 0{{.*}} : tensor<8xi32>
// CHECK-NEXT: %c = stablehlo.constant dense<7> : tensor<i32>
// CHECK-NEXT: %3 = stablehlo.broadcast_in_dim %c, dims = []{{.*}} : (tensor<i32>) -> tensor<8xi32>
// CHECK-NEXT: %4 = stablehlo.compare LT, %2, %3{{.*}} : (tensor<8xi32>, tensor<8xi32>) -> tensor<8xi1>
// CHECK-NEXT: %5 = stablehlo.broadcast_in_dim %cst_0, dims = []{{.*}} : (tensor<f32>) -> tensor<8xf32>
// CHECK-NEXT: %6 = stablehlo.select %4, %1, %5{{.*}} : tensor<8xi1>, tensor<8xf32>
// CHECK-NEXT: %7 = stablehlo.reduce(%6 init: %arg1) applies stablehlo.maximum across dimensions = [0] : (tensor<8xf32>, tensor<f32>) -> tensor<f32>
// CHECK-NEXT: %8 = sdy.all_reduce {"x"} %7 out_sharding=<@mesh, []> : tensor<f32>
// CHECK-NEXT: return %8 : tensor<f32>
func.func @reduce(%a: tensor<7xf32>, %low: tensor<f32>) -> tensor<f32> {
  %0 = sdy.all_slice [{"x"}] %a out_sharding=<@mesh, [{"x"}]> : tensor<7xf32>
  %1 = stablehlo.reduce(%0 init: %low) applies stablehlo.maximum across dimensions = [0] : (tensor<7xf32>, tensor<f32>) -> tensor<f32>
  %2 = sdy.all_reduce {"x"} %1 out_sharding=<@mesh, []> : tensor<f32>
  return %2 : tensor<f32>
}

// An index of 7 or more means element 6, even if element 7 exists as padding.
// CHECK-LABEL: func.func @gather(%arg0: tensor<7xf32>, %arg1: tensor<3xi32>) -> tensor<3xf32>
// CHECK-NEXT: %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT: %0 = stablehlo.pad %arg0, %cst, low = [0], high = [1], interior = [0] : (tensor<7xf32>, tensor<f32>) -> tensor<8xf32>
// CHECK-NEXT: %1 = sdy.all_slice [{"x"}] %0 out_sharding=<@mesh, [{"x"}]> : tensor<8xf32>
// CHECK-NEXT: %c = stablehlo.constant dense<0> : tensor<i32>
// CHECK-NEXT: %c_0 = stablehlo.constant dense<6> : tensor<i32>
// CHECK-NEXT: %2 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<3xi32>
// CHECK-NEXT: %3 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<3xi32>
// CHECK-NEXT: %4 = stablehlo.clamp %2, %arg1, %3 : tensor<3xi32>
// CHECK-NEXT: %5 = "stablehlo.gather"(%1, %4) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1>}> : (tensor<8xf32>, tensor<3xi32>) -> tensor<3xf32>
// CHECK-NEXT: %6 = sdy.all_reduce {"x"} %5 out_sharding=<@mesh, [{}]> : tensor<3xf32>
// CHECK-NEXT: return %6 : tensor<3xf32>
func.func @gather(%a: tensor<7xf32>, %i: tensor<3xi32>) -> tensor<3xf32> {
  %0 = sdy.all_slice [{"x"}] %a out_sharding=<@mesh, [{"x"}]> : tensor<7xf32>
  %1 = "stablehlo.gather"(%0, %i) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1>}> : (tensor<7xf32>, tensor<3xi32>) -> tensor<3xf32>
  %2 = sdy.all_reduce {"x"} %1 out_sharding=<@mesh, [{}]> : tensor<3xf32>
  return %2 : tensor<3xf32>
}

// Updates in the padding get an index that is out of bounds.
// CHECK-LABEL: func.func @scatter(%arg0: tensor<8xf32>, %arg1: tensor<3x1xi32>, %arg2: tensor<3xf32>) -> tensor<8xf32>
// CHECK-NEXT: %c = stablehlo.constant dense<0> : tensor<i32>
// CHECK-NEXT: %0 = stablehlo.pad %arg1, %c, low = [0, 0], high = [1, 0], interior = [0, 0] : (tensor<3x1xi32>, tensor<i32>) -> tensor<4x1xi32>
// CHECK-NEXT: %1 = sdy.all_slice [{"x"}, {}] %0 out_sharding=<@mesh, [{"x"}, {}]> : tensor<4x1xi32>
// CHECK-NEXT: %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT: %2 = stablehlo.pad %arg2, %cst, low = [0], high = [1], interior = [0] : (tensor<3xf32>, tensor<f32>) -> tensor<4xf32>
// CHECK-NEXT: %3 = sdy.all_slice [{"x"}] %2 out_sharding=<@mesh, [{"x"}]> : tensor<4xf32>
// CHECK-NEXT: %4 = stablehlo.iota dim = 0{{.*}} : tensor<4x1xi32>
// CHECK-NEXT: %c_0 = stablehlo.constant dense<3> : tensor<i32>
// CHECK-NEXT: %5 = stablehlo.broadcast_in_dim %c_0, dims = []{{.*}} : (tensor<i32>) -> tensor<4x1xi32>
// CHECK-NEXT: %6 = stablehlo.compare LT, %4, %5{{.*}} : (tensor<4x1xi32>, tensor<4x1xi32>) -> tensor<4x1xi1>
// CHECK-NEXT: %c_1 = stablehlo.constant{{.*}} dense<-1> : tensor<4x1xi32>
// CHECK-NEXT: %7 = stablehlo.select %6, %1, %c_1{{.*}} : tensor<4x1xi1>, tensor<4x1xi32>
// CHECK-NEXT: %8 = "stablehlo.scatter"(%arg0, %7, %3) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
// CHECK-NEXT: ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
// CHECK-NEXT: %10 = stablehlo.add %arg3, %arg4 : tensor<f32>
// CHECK-NEXT: stablehlo.return %10 : tensor<f32>
// CHECK-NEXT: }) : (tensor<8xf32>, tensor<4x1xi32>, tensor<4xf32>) -> tensor<8xf32>
// CHECK-NEXT: %9 = sdy.all_reduce {"x"} %8 out_sharding=<@mesh, [{}]> : tensor<8xf32>
// CHECK-NEXT: return %9 : tensor<8xf32>
func.func @scatter(%a: tensor<8xf32>, %i: tensor<3x1xi32>, %u: tensor<3xf32>) -> tensor<8xf32> {
  %0 = sdy.all_slice [{"x"}, {}] %i out_sharding=<@mesh, [{"x"}, {}]> : tensor<3x1xi32>
  %1 = sdy.all_slice [{"x"}] %u out_sharding=<@mesh, [{"x"}]> : tensor<3xf32>
  %2 = "stablehlo.scatter"(%a, %0, %1) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %4 = stablehlo.add %p, %q : tensor<f32>
    stablehlo.return %4 : tensor<f32>
  }) : (tensor<8xf32>, tensor<3x1xi32>, tensor<3xf32>) -> tensor<8xf32>
  %3 = sdy.all_reduce {"x"} %2 out_sharding=<@mesh, [{}]> : tensor<8xf32>
  return %3 : tensor<8xf32>
}

// A constant that is not a splat is padded and sliced.
// CHECK-LABEL: func.func @constant() -> tensor<3xf32>
// CHECK-NEXT: %cst = stablehlo.constant dense<[1.000000e+00, 2.000000e+00, 3.000000e+00]> : tensor<3xf32>
// CHECK-NEXT: %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT: %0 = stablehlo.pad %cst, %cst_0, low = [0], high = [1], interior = [0] : (tensor<3xf32>, tensor<f32>) -> tensor<4xf32>
// CHECK-NEXT: %1 = sdy.all_slice [{"x"}] %0 out_sharding=<@mesh, [{"x"}]> : tensor<4xf32>
// CHECK-NEXT: %2 = sdy.all_gather [{"x"}] %1 out_sharding=<@mesh, [{}]> : tensor<4xf32>
// CHECK-NEXT: %3 = stablehlo.slice %2 [0:3]{{.*}} : (tensor<4xf32>) -> tensor<3xf32>
// CHECK-NEXT: return %3 : tensor<3xf32>
func.func @constant() -> tensor<3xf32> {
  %0 = sdy.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  %1 = sdy.all_gather [{"x"}] %0 out_sharding=<@mesh, [{}]> : tensor<3xf32>
  return %1 : tensor<3xf32>
}

// The last element of a slice may be padding.
// CHECK-LABEL: func.func @slice(%arg0: tensor<8xf32>{{.*}}) -> tensor<7xf32>
// CHECK-NEXT: %0 = stablehlo.slice %arg0 [0:8]{{.*}} : (tensor<8xf32>) -> tensor<8xf32>
// CHECK-NEXT: %1 = sdy.all_gather [{"x"}] %0 out_sharding=<@mesh, [{}]> : tensor<8xf32>
// CHECK-NEXT: %2 = stablehlo.slice %1 [0:7]{{.*}} : (tensor<8xf32>) -> tensor<7xf32>
// CHECK-NEXT: return %2 : tensor<7xf32>
func.func @slice(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<7xf32> {
  %0 = stablehlo.slice %a [0:7] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : (tensor<8xf32>) -> tensor<7xf32>
  %1 = sdy.all_gather [{"x"}] %0 out_sharding=<@mesh, [{}]> : tensor<7xf32>
  return %1 : tensor<7xf32>
}

// The arguments and results of a private function are padded as the values in it are.
// CHECK-LABEL: func.func private @layer(%arg0: tensor<8xf32>{{.*}}) -> (tensor<8xf32>{{.*}})
// CHECK-NEXT: %0 = stablehlo.sine %arg0{{.*}} : tensor<8xf32>
// CHECK-NEXT: return %0 : tensor<8xf32>
func.func private @layer(%a: tensor<7xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> (tensor<7xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  %0 = stablehlo.sine %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : tensor<7xf32>
  return %0 : tensor<7xf32>
}

// A reversed kernel of three elements: the zero that is added at its end is multiplied with what comes before the
// window, so there is one more element of padding before the left operand.
// CHECK-LABEL: func.func @reversed_kernel(%arg0: tensor<1x8x1xf32>, %arg1: tensor<4x1x1xf32>{{.*}}) -> tensor<1x6x1xf32>
// CHECK-NEXT: %0 = stablehlo.slice %arg1 [0:4, 0:1, 0:1]{{.*}} : (tensor<4x1x1xf32>) -> tensor<4x1x1xf32>
// CHECK-NEXT: %1 = stablehlo.iota dim = 0{{.*}} : tensor<4x1x1xi32>
// CHECK-NEXT: %c = stablehlo.constant dense<3> : tensor<i32>
// CHECK-NEXT: %2 = stablehlo.broadcast_in_dim %c, dims = []{{.*}} : (tensor<i32>) -> tensor<4x1x1xi32>
// CHECK-NEXT: %3 = stablehlo.compare LT, %1, %2{{.*}} : (tensor<4x1x1xi32>, tensor<4x1x1xi32>) -> tensor<4x1x1xi1>
// CHECK-NEXT: %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT: %4 = stablehlo.broadcast_in_dim %cst, dims = []{{.*}} : (tensor<f32>) -> tensor<4x1x1xf32>
// CHECK-NEXT: %5 = stablehlo.select %3, %0, %4{{.*}} : tensor<4x1x1xi1>, tensor<4x1x1xf32>
// CHECK-NEXT: %6 = stablehlo.convolution(%arg0, %5) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {pad = {{\[\[}}1, 0]], reverse = [true]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x1xf32>, tensor<4x1x1xf32>) -> tensor<1x6x1xf32>
// CHECK-NEXT: %7 = sdy.all_reduce {"x"} %6 out_sharding=<@mesh, [{}, {}, {}]> : tensor<1x6x1xf32>
// CHECK-NEXT: return %7 : tensor<1x6x1xf32>
func.func @reversed_kernel(%a: tensor<1x8x1xf32>, %k: tensor<4x1x1xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}, {}]>}) -> tensor<1x6x1xf32> {
  %0 = stablehlo.slice %k [0:3, 0:1, 0:1] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}, {}]>]>} : (tensor<4x1x1xf32>) -> tensor<3x1x1xf32>
  %1 = stablehlo.convolution(%a, %0) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {reverse = [true]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x1xf32>, tensor<3x1x1xf32>) -> tensor<1x6x1xf32>
  %2 = sdy.all_reduce {"x"} %1 out_sharding=<@mesh, [{}, {}, {}]> : tensor<1x6x1xf32>
  return %2 : tensor<1x6x1xf32>
}

// The borders of the shards move, because 3 is padded to 8: the sum is made on whole shards, which then exchange halos
// and are sliced.
// CHECK-LABEL: func.func @reduce_scatter_of_uneven_shards
// CHECK: sdy.all_reduce {"w":(1)2} {{.*}} out_sharding=<@eight, [{"w":(2)4}]>
// CHECK: "stablehlo.collective_permute"
// CHECK: sdy.all_slice [{"w":(1)2}] {{.*}} out_sharding=<@eight, [{"w":(2)4, "w":(1)2}]> : tensor<8xf32>
sdy.mesh @eight = <["w"=8]>
func.func @reduce_scatter_of_uneven_shards(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@eight, [{"w":(2)4}], unreduced={"w":(1)2}>}) -> tensor<8xf32> {
  %0 = stablehlo.slice %a [0:3] {sdy.sharding = #sdy.sharding_per_value<[<@eight, [{"w":(2)4}], unreduced={"w":(1)2}>]>} : (tensor<8xf32>) -> tensor<3xf32>
  %1 = sdy.reduce_scatter [{"w":(1)2}] %0 out_sharding=<@eight, [{"w":(2)4, "w":(1)2}]> : tensor<3xf32>
  %2 = sdy.all_gather [{"w":(2)4, "w":(1)2}] %1 out_sharding=<@eight, [{}]> : tensor<3xf32>
  %3 = stablehlo.concatenate %2, %2, dim = 0 : (tensor<3xf32>, tensor<3xf32>) -> tensor<6xf32>
  %c = stablehlo.constant dense<0.0> : tensor<f32>
  %4 = stablehlo.pad %3, %c, low = [0], high = [2], interior = [0] : (tensor<6xf32>, tensor<f32>) -> tensor<8xf32>
  return %4 : tensor<8xf32>
}

// A reshape keeps padded dimensions: also one of one element, before dimensions that it merges.
// CHECK-LABEL: func.func @reshape_after_dimension_of_one_element
// CHECK: %2 = stablehlo.reshape %1 {{{.*}}} : (tensor<2x2x2x2xf32>) -> tensor<2x4x2xf32>
func.func @reshape_after_dimension_of_one_element(%a: tensor<1x2x2x2xf32>) -> tensor<1x4x2xf32> {
  %0 = sdy.all_slice [{"x"}, {"y"}, {}, {}] %a out_sharding=<@mesh, [{"x"}, {"y"}, {}, {}]> : tensor<1x2x2x2xf32>
  %1 = stablehlo.reshape %0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {"y"}, {}]>]>} : (tensor<1x2x2x2xf32>) -> tensor<1x4x2xf32>
  %2 = sdy.all_gather [{"x"}, {"y"}, {}] %1 out_sharding=<@mesh, [{}, {}, {}]> : tensor<1x4x2xf32>
  return %2 : tensor<1x4x2xf32>
}
