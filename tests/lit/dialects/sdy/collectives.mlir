// RUN: sdy-opt %s | filecheck %s
// RUN: sdy-opt %s -mlir-print-op-generic | sdy-opt - | filecheck %s

sdy.mesh @mesh = <["x"=4, "y"=2, "z"=2]>
sdy.mesh @reversed = <["x"=4, "y"=2, "z"=2], device_ids=[15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0]>

// all_gather removes a suffix of axes, or a minor-most sub-axis, from each dimension.
// CHECK-LABEL: func.func @all_gather
func.func @all_gather(%arg: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}, {"z"}]>}) {
  // CHECK: %[[PART:.*]] = sdy.all_gather [{"x":(2)2, "y"}, {}] %arg0 out_sharding=<@mesh, [{"x":(1)2}, {"z"}]> : tensor<16x8xf32>
  %0 = sdy.all_gather [{"x":(2)2, "y"}, {}] %arg out_sharding=<@mesh, [{"x":(1)2}, {"z"}]> : tensor<16x8xf32>
  // CHECK: sdy.all_gather [{"x":(1)2}, {"z"}] %[[PART]] out_sharding=<@mesh, [{}, {}]> {test.note} : tensor<16x8xf32>
  %1 = sdy.all_gather [{"x":(1)2}, {"z"}] %0 out_sharding=<@mesh, [{}, {}]> {test.note} : tensor<16x8xf32>
  return
}

// all_slice appends axes and merges sub-axes. An operand without a sharding is fully replicated.
// CHECK-LABEL: func.func @all_slice
func.func @all_slice(%arg: tensor<16x8xf32>) {
  // CHECK: %[[PART:.*]] = sdy.all_slice [{"x":(1)2}, {}] %arg0 out_sharding=<@mesh, [{"x":(1)2}, {}]> : tensor<16x8xf32>
  %0 = sdy.all_slice [{"x":(1)2}, {}] %arg out_sharding=<@mesh, [{"x":(1)2}, {}]> : tensor<16x8xf32>
  // CHECK: sdy.all_slice [{"x":(2)2}, {"y"}] %[[PART]] out_sharding=<@mesh, [{"x"}, {"y"}]> : tensor<16x8xf32>
  %1 = sdy.all_slice [{"x":(2)2}, {"y"}] %0 out_sharding=<@mesh, [{"x"}, {"y"}]> : tensor<16x8xf32>
  return
}

// all_to_all moves axes between dimensions, for several pairs of dimensions at once.
// CHECK-LABEL: func.func @all_to_all
func.func @all_to_all(%arg: tensor<8x8x8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}, {}, {"z"}, {}]>}) {
  // CHECK: sdy.all_to_all [{"y"}: 0->1, {"z"}: 2->3] %arg0 out_sharding=<@mesh, [{"x"}, {"y"}, {}, {"z"}]> : tensor<8x8x8x8xf32>
  %0 = sdy.all_to_all [{"y"}: 0->1, {"z"}: 2->3] %arg out_sharding=<@mesh, [{"x"}, {"y"}, {}, {"z"}]> : tensor<8x8x8x8xf32>
  return
}

// collective_permute replaces axes with others of the same size, and changes device orders.
// CHECK-LABEL: func.func @collective_permute
func.func @collective_permute(%arg: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}) {
  // CHECK: %[[MOVED:.*]] = sdy.collective_permute %arg0 out_sharding=<@mesh, [{"z", "x":(1)2}, {"x":(2)2}]> : tensor<16x8xf32>
  %0 = sdy.collective_permute %arg out_sharding=<@mesh, [{"z", "x":(1)2}, {"x":(2)2}]> : tensor<16x8xf32>
  // CHECK: sdy.collective_permute %[[MOVED]] out_sharding=<@reversed, [{"z", "x":(1)2}, {"x":(2)2}]> : tensor<16x8xf32>
  %1 = sdy.collective_permute %0 out_sharding=<@reversed, [{"z", "x":(1)2}, {"x":(2)2}]> : tensor<16x8xf32>
  return
}

// all_reduce reduces along axes, along which the operand may be unreduced.
// CHECK-LABEL: func.func @all_reduce
func.func @all_reduce(%arg: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {?}], unreduced={"y"}>}, %other: tensor<16x8xf32>) {
  // CHECK: sdy.all_reduce {"y", "z"} %arg0 out_sharding=<@mesh, [{"x"}, {}]> : tensor<16x8xf32>
  %0 = sdy.all_reduce {"y", "z"} %arg out_sharding=<@mesh, [{"x"}, {}]> : tensor<16x8xf32>
  // CHECK: sdy.all_reduce {"x"} %arg1 out_sharding=<@mesh, [{}, {}]> : tensor<16x8xf32>
  %1 = sdy.all_reduce {"x"} %other out_sharding=<@mesh, [{}, {}]> : tensor<16x8xf32>
  return
}

// reduce_scatter reduces along axes and shards the result along them.
// CHECK-LABEL: func.func @reduce_scatter
func.func @reduce_scatter(%arg: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}], unreduced={"y"}>}) {
  // CHECK: sdy.reduce_scatter [{"y"}, {}] %arg0 out_sharding=<@mesh, [{"x", "y"}, {}]> : tensor<16x8xf32>
  %0 = sdy.reduce_scatter [{"y"}, {}] %arg out_sharding=<@mesh, [{"x", "y"}, {}]> : tensor<16x8xf32>
  return
}

// Sharded or replicated axes become unreduced. Unreduced axes are in mesh order.
// CHECK-LABEL: func.func @unreduced
func.func @unreduced(%arg: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {"x":(2)2}], replicated={"x":(1)2}>}) {
  // CHECK: %[[SHARDED:.*]] = sdy.sharded_to_unreduced [{"y"}, {"x":(2)2}] %arg0 out_sharding=<@mesh, [{}, {}], unreduced={"x":(2)2, "y"}> : tensor<16x8xf32>
  %0 = sdy.sharded_to_unreduced [{"y"}, {"x":(2)2}] %arg out_sharding=<@mesh, [{}, {}], unreduced={"x":(2)2, "y"}> : tensor<16x8xf32>
  // CHECK: sdy.replicated_to_unreduced {"x":(1)2, "z"} %[[SHARDED]] out_sharding=<@mesh, [{}, {}], unreduced={"x", "y", "z"}> : tensor<16x8xf32>
  %1 = sdy.replicated_to_unreduced {"x":(1)2, "z"} %0 out_sharding=<@mesh, [{}, {}], unreduced={"x", "y", "z"}> : tensor<16x8xf32>
  return
}

// In a loop, a block argument has the sharding of the loop's result.
// CHECK-LABEL: func.func @loop
func.func @loop(%arg: tensor<8xf32>, %flag: tensor<i1>) {
  %0:2 = stablehlo.while(%iter = %arg, %go = %flag) : tensor<8xf32>, tensor<i1> attributes {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>, <@mesh, []>]>}
   cond {
    stablehlo.return %go : tensor<i1>
  } do {
    // CHECK: sdy.all_gather [{"x"}] %iterArg out_sharding=<@mesh, [{}]> : tensor<8xf32>
    %1 = sdy.all_gather [{"x"}] %iter out_sharding=<@mesh, [{}]> : tensor<8xf32>
    stablehlo.return %1, %go : tensor<8xf32>, tensor<i1>
  }
  return
}
