// a slice that drops the first elements
// 1 collective_permute
sdy.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> (tensor<12xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  %0 = stablehlo.slice %a [3:15] : (tensor<16xf32>) -> tensor<12xf32>
  return %0 : tensor<12xf32>
}

// -----

// a slice that drops the last elements of shards that start at the same elements
// 1 all_gather, 1 collective_permute
sdy.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> (tensor<14xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  %0 = stablehlo.slice %a [0:14] : (tensor<16xf32>) -> tensor<14xf32>
  return %0 : tensor<14xf32>
}

// -----

// a slice with a stride that divides the shards
// no collectives
sdy.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  %0 = stablehlo.slice %a [0:16:2] : (tensor<16xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// a slice with a stride that does not divide the shards
// no collectives
sdy.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<18xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> (tensor<6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  %0 = stablehlo.slice %a [1:18:3] : (tensor<18xf32>) -> tensor<6xf32>
  return %0 : tensor<6xf32>
}

// -----

// a slice of a dimension that the shards do not divide
// 1 collective_permute
sdy.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<10xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  %0 = stablehlo.slice %a [2:10] : (tensor<10xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// a slice on devices in another order
// 2 collective_permute
sdy.mesh @mesh = <["x"=4], device_ids=[2, 0, 3, 1]>
func.func @main(%a: tensor<16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  %0 = stablehlo.slice %a [5:13] : (tensor<16xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// a slice along a sub-axis
// 1 collective_permute
sdy.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x":(2)2}]>}) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x":(2)2}]>}) {
  %0 = stablehlo.slice %a [2:10] : (tensor<16xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// a slice of one shard
// 3 collective_permute
sdy.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> (tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  %0 = stablehlo.slice %a [4:8] : (tensor<16xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// padding after the last element
// 1 collective_permute
sdy.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<12xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %b: tensor<f32>) -> (tensor<16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  %0 = stablehlo.pad %a, %b, low = [0], high = [4], interior = [0] : (tensor<12xf32>, tensor<f32>) -> tensor<16xf32>
  return %0 : tensor<16xf32>
}

// -----

// padding before the first element
// 1 collective_permute
sdy.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<12xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %b: tensor<f32>) -> (tensor<16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  %0 = stablehlo.pad %a, %b, low = [4], high = [0], interior = [0] : (tensor<12xf32>, tensor<f32>) -> tensor<16xf32>
  return %0 : tensor<16xf32>
}

// -----

// padding at both ends that keeps the size of shards even
// 2 collective_permute
sdy.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %b: tensor<f32>) -> (tensor<20xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  %0 = stablehlo.pad %a, %b, low = [2], high = [2], interior = [0] : (tensor<16xf32>, tensor<f32>) -> tensor<20xf32>
  return %0 : tensor<20xf32>
}

// -----

// padding between elements
// no collectives
sdy.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %b: tensor<f32>) -> (tensor<16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  %0 = stablehlo.pad %a, %b, low = [0], high = [1], interior = [1] : (tensor<8xf32>, tensor<f32>) -> tensor<16xf32>
  return %0 : tensor<16xf32>
}

// -----

// padding between elements and at both ends
// 1 all_gather, 1 collective_permute
sdy.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %b: tensor<f32>) -> (tensor<25xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  %0 = stablehlo.pad %a, %b, low = [1], high = [2], interior = [2] : (tensor<8xf32>, tensor<f32>) -> tensor<25xf32>
  return %0 : tensor<25xf32>
}

// -----

// negative padding
// 1 collective_permute
sdy.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %b: tensor<f32>) -> (tensor<12xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  %0 = stablehlo.pad %a, %b, low = [-3], high = [-1], interior = [0] : (tensor<16xf32>, tensor<f32>) -> tensor<12xf32>
  return %0 : tensor<12xf32>
}

// -----

// negative and positive padding
// 1 collective_permute
sdy.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %b: tensor<f32>) -> (tensor<20xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  %0 = stablehlo.pad %a, %b, low = [-2], high = [6], interior = [0] : (tensor<16xf32>, tensor<f32>) -> tensor<20xf32>
  return %0 : tensor<20xf32>
}

// -----

// padding as large as the shards of two devices
// 2 collective_permute
sdy.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %b: tensor<f32>) -> (tensor<16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  %0 = stablehlo.pad %a, %b, low = [8], high = [0], interior = [0] : (tensor<8xf32>, tensor<f32>) -> tensor<16xf32>
  return %0 : tensor<16xf32>
}

// -----

// padding of an uneven dimension
// no collectives
sdy.mesh @mesh = <["x"=4], device_ids=[2, 0, 3, 1]>
func.func @main(%a: tensor<7xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %b: tensor<f32>) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  %0 = stablehlo.pad %a, %b, low = [1], high = [0], interior = [0] : (tensor<7xf32>, tensor<f32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// padding of integers
// 1 collective_permute
sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func @main(%a: tensor<8xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %b: tensor<i32>) -> (tensor<12xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  %0 = stablehlo.pad %a, %b, low = [3], high = [1], interior = [0] : (tensor<8xi32>, tensor<i32>) -> tensor<12xi32>
  return %0 : tensor<12xi32>
}

// -----

// a concatenation along a sharded dimension
// 3 collective_permute
sdy.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %b: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> (tensor<24xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  %0 = stablehlo.concatenate %a, %b, dim = 0 : (tensor<16xf32>, tensor<8xf32>) -> tensor<24xf32>
  return %0 : tensor<24xf32>
}

// -----

// a concatenation of uneven parts
// 1 all_gather
sdy.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<5xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %b: tensor<3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> (tensor<13xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  %0 = stablehlo.concatenate %a, %b, %a, dim = 0 : (tensor<5xf32>, tensor<3xf32>, tensor<5xf32>) -> tensor<13xf32>
  return %0 : tensor<13xf32>
}

// -----

// a concatenation along another dimension
// no collectives
sdy.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<8x3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %b: tensor<8x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<8x5xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  %0 = stablehlo.concatenate %a, %b, dim = 1 : (tensor<8x3xf32>, tensor<8x2xf32>) -> tensor<8x5xf32>
  return %0 : tensor<8x5xf32>
}

// -----

// a reversal
// 1 collective_permute
sdy.mesh @mesh = <["x"=4], device_ids=[2, 0, 3, 1]>
func.func @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  %0 = stablehlo.reverse %a, dims = [0] : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// a reversal of an uneven dimension
// 1 all_gather, 3 collective_permute
sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func @main(%a: tensor<7x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}) -> (tensor<7x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}) {
  %0 = stablehlo.reverse %a, dims = [0, 1] : tensor<7x6xf32>
  return %0 : tensor<7x6xf32>
}

// -----

// a rotation
// 1 collective_permute
sdy.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> (tensor<16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  %0 = stablehlo.slice %a [3:16] : (tensor<16xf32>) -> tensor<13xf32>
  %1 = stablehlo.slice %a [0:3] : (tensor<16xf32>) -> tensor<3xf32>
  %2 = stablehlo.concatenate %0, %1, dim = 0 : (tensor<13xf32>, tensor<3xf32>) -> tensor<16xf32>
  return %2 : tensor<16xf32>
}

// -----

// windows without overlap
// no collectives
sdy.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  %cst = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = "stablehlo.reduce_window"(%a, %cst) <{window_dimensions = array<i64: 2>, window_strides = array<i64: 2>, base_dilations = array<i64: 1>, window_dilations = array<i64: 1>, padding = dense<[[0, 0]]> : tensor<1x2xi64>}> ({
  ^bb0(%l: tensor<f32>, %r: tensor<f32>):
    %s = stablehlo.add %l, %r : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<16xf32>, tensor<f32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// windows that overlap, with padding
// 2 collective_permute
sdy.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> (tensor<16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  %cst = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = "stablehlo.reduce_window"(%a, %cst) <{window_dimensions = array<i64: 3>, window_strides = array<i64: 1>, base_dilations = array<i64: 1>, window_dilations = array<i64: 1>, padding = dense<[[1, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%l: tensor<f32>, %r: tensor<f32>):
    %s = stablehlo.add %l, %r : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<16xf32>, tensor<f32>) -> tensor<16xf32>
  return %0 : tensor<16xf32>
}

// -----

// windows of an uneven dimension
// 2 collective_permute
sdy.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<14xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> (tensor<12xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  %cst = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = "stablehlo.reduce_window"(%a, %cst) <{window_dimensions = array<i64: 3>, window_strides = array<i64: 1>, base_dilations = array<i64: 1>, window_dilations = array<i64: 1>, padding = dense<[[0, 0]]> : tensor<1x2xi64>}> ({
  ^bb0(%l: tensor<f32>, %r: tensor<f32>):
    %s = stablehlo.add %l, %r : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<14xf32>, tensor<f32>) -> tensor<12xf32>
  return %0 : tensor<12xf32>
}

// -----

// windows with a stride
// no collectives
sdy.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<17xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> (tensor<9xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  %cst = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = "stablehlo.reduce_window"(%a, %cst) <{window_dimensions = array<i64: 3>, window_strides = array<i64: 2>, base_dilations = array<i64: 1>, window_dilations = array<i64: 1>, padding = dense<[[1, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%l: tensor<f32>, %r: tensor<f32>):
    %s = stablehlo.add %l, %r : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<17xf32>, tensor<f32>) -> tensor<9xf32>
  return %0 : tensor<9xf32>
}

// -----

// windows with dilation
// 2 collective_permute
sdy.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> (tensor<16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  %cst = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = "stablehlo.reduce_window"(%a, %cst) <{window_dimensions = array<i64: 3>, window_strides = array<i64: 1>, base_dilations = array<i64: 1>, window_dilations = array<i64: 2>, padding = dense<[[2, 2]]> : tensor<1x2xi64>}> ({
  ^bb0(%l: tensor<f32>, %r: tensor<f32>):
    %s = stablehlo.add %l, %r : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<16xf32>, tensor<f32>) -> tensor<16xf32>
  return %0 : tensor<16xf32>
}

// -----

// windows over a dilated base
// 1 all_gather, 1 collective_permute
sdy.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> (tensor<15xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  %cst = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = "stablehlo.reduce_window"(%a, %cst) <{window_dimensions = array<i64: 3>, window_strides = array<i64: 1>, base_dilations = array<i64: 2>, window_dilations = array<i64: 1>, padding = dense<[[1, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%l: tensor<f32>, %r: tensor<f32>):
    %s = stablehlo.add %l, %r : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<8xf32>, tensor<f32>) -> tensor<15xf32>
  return %0 : tensor<15xf32>
}

// -----

// a maximum over windows, with padding
// 2 collective_permute
sdy.mesh @mesh = <["x"=4], device_ids=[2, 0, 3, 1]>
func.func @main(%a: tensor<16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %0 = "stablehlo.reduce_window"(%a, %cst) <{window_dimensions = array<i64: 4>, window_strides = array<i64: 2>, base_dilations = array<i64: 1>, window_dilations = array<i64: 1>, padding = dense<[[1, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%l: tensor<f32>, %r: tensor<f32>):
    %s = stablehlo.maximum %l, %r : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<16xf32>, tensor<f32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// windows over sums from the first element
// 1 all_gather
sdy.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  %cst = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = "stablehlo.reduce_window"(%a, %cst) <{window_dimensions = array<i64: 8>, window_strides = array<i64: 1>, base_dilations = array<i64: 1>, window_dilations = array<i64: 1>, padding = dense<[[7, 0]]> : tensor<1x2xi64>}> ({
  ^bb0(%l: tensor<f32>, %r: tensor<f32>):
    %s = stablehlo.add %l, %r : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// a convolution with a sharded image
// 2 collective_permute
sdy.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<1x16x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}, {}]>}, %b: tensor<3x2x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {}]>}) -> (tensor<1x16x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}, {}]>}) {
  %0 = stablehlo.convolution(%a, %b) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {stride = [1], pad = [[1, 1]], lhs_dilate = [1], rhs_dilate = [1], reverse = [false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x16x2xf32>, tensor<3x2x2xf32>) -> tensor<1x16x2xf32>
  return %0 : tensor<1x16x2xf32>
}

// -----

// a convolution with a stride
// 1 collective_permute
sdy.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<1x16x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}, {}]>}, %b: tensor<3x2x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {}]>}) -> (tensor<1x8x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}, {}]>}) {
  %0 = stablehlo.convolution(%a, %b) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {stride = [2], pad = [[1, 1]], lhs_dilate = [1], rhs_dilate = [1], reverse = [false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x16x2xf32>, tensor<3x2x2xf32>) -> tensor<1x8x2xf32>
  return %0 : tensor<1x8x2xf32>
}

// -----

// a convolution without padding, so that the result is uneven
// 1 all_gather, 2 collective_permute
sdy.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<1x16x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}, {}]>}, %b: tensor<3x2x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {}]>}) -> (tensor<1x14x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}, {}]>}) {
  %0 = stablehlo.convolution(%a, %b) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x16x2xf32>, tensor<3x2x2xf32>) -> tensor<1x14x2xf32>
  return %0 : tensor<1x14x2xf32>
}

// -----

// a convolution over a dilated image
// 1 all_gather, 1 collective_permute
sdy.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<1x8x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}, {}]>}, %b: tensor<3x2x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {}]>}) -> (tensor<1x15x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}, {}]>}) {
  %0 = stablehlo.convolution(%a, %b) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {stride = [1], pad = [[1, 1]], lhs_dilate = [2], rhs_dilate = [1], reverse = [false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x2xf32>, tensor<3x2x2xf32>) -> tensor<1x15x2xf32>
  return %0 : tensor<1x15x2xf32>
}

// -----

// a convolution with a dilated kernel
// 2 collective_permute
sdy.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<1x16x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}, {}]>}, %b: tensor<3x2x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {}]>}) -> (tensor<1x16x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}, {}]>}) {
  %0 = stablehlo.convolution(%a, %b) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {stride = [1], pad = [[2, 2]], lhs_dilate = [1], rhs_dilate = [2], reverse = [false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x16x2xf32>, tensor<3x2x2xf32>) -> tensor<1x16x2xf32>
  return %0 : tensor<1x16x2xf32>
}

// -----

// a convolution with a reversed kernel
// 2 collective_permute
sdy.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<1x16x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}, {}]>}, %b: tensor<4x2x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {}]>}) -> (tensor<1x16x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}, {}]>}) {
  %0 = stablehlo.convolution(%a, %b) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {stride = [1], pad = [[1, 2]], lhs_dilate = [1], rhs_dilate = [1], reverse = [true]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x16x2xf32>, tensor<4x2x2xf32>) -> tensor<1x16x2xf32>
  return %0 : tensor<1x16x2xf32>
}

// -----

// a convolution with sharded batches
// no collectives
sdy.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<4x8x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}, {}]>}, %b: tensor<3x2x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {}]>}) -> (tensor<4x8x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}, {}]>}) {
  %0 = stablehlo.convolution(%a, %b) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {stride = [1], pad = [[1, 1]], lhs_dilate = [1], rhs_dilate = [1], reverse = [false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<4x8x2xf32>, tensor<3x2x2xf32>) -> tensor<4x8x2xf32>
  return %0 : tensor<4x8x2xf32>
}

// -----

// a convolution with sharded output features
// no collectives
sdy.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<1x8x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {}]>}, %b: tensor<3x2x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {"x"}]>}) -> (tensor<1x8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {"x"}]>}) {
  %0 = stablehlo.convolution(%a, %b) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {stride = [1], pad = [[1, 1]], lhs_dilate = [1], rhs_dilate = [1], reverse = [false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x2xf32>, tensor<3x2x4xf32>) -> tensor<1x8x4xf32>
  return %0 : tensor<1x8x4xf32>
}

// -----

// a convolution that adds over sharded input features
// 1 all_reduce
sdy.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<1x8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {"x"}]>}, %b: tensor<3x4x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}, {}]>}) -> (tensor<1x8x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {}]>}) {
  %0 = stablehlo.convolution(%a, %b) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {stride = [1], pad = [[1, 1]], lhs_dilate = [1], rhs_dilate = [1], reverse = [false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x4xf32>, tensor<3x4x2xf32>) -> tensor<1x8x2xf32>
  return %0 : tensor<1x8x2xf32>
}

// -----

// a convolution with groups of features
// no collectives
sdy.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<1x8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {"x"}]>}, %b: tensor<3x1x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {"x"}]>}) -> (tensor<1x8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {"x"}]>}) {
  %0 = stablehlo.convolution(%a, %b) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {stride = [1], pad = [[1, 1]], lhs_dilate = [1], rhs_dilate = [1], reverse = [false]} {batch_group_count = 1 : i64, feature_group_count = 4 : i64} : (tensor<1x8x4xf32>, tensor<3x1x8xf32>) -> tensor<1x8x8xf32>
  return %0 : tensor<1x8x8xf32>
}

// -----

// a convolution with a kernel that is sharded like its image
// 1 all_reduce, 2 collective_permute
sdy.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<1x16x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}, {}]>}, %b: tensor<16x2x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}, {}]>}) -> (tensor<1x3x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {}]>}) {
  %0 = stablehlo.convolution(%a, %b) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {stride = [1], pad = [[1, 1]], lhs_dilate = [1], rhs_dilate = [1], reverse = [false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x16x2xf32>, tensor<16x2x2xf32>) -> tensor<1x3x2xf32>
  return %0 : tensor<1x3x2xf32>
}

// -----

// a convolution with a sharded kernel
// 1 all_gather
sdy.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<1x16x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {}]>}, %b: tensor<8x2x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}, {}]>}) -> (tensor<1x16x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {}]>}) {
  %0 = stablehlo.convolution(%a, %b) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {stride = [1], pad = [[3, 4]], lhs_dilate = [1], rhs_dilate = [1], reverse = [false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x16x2xf32>, tensor<8x2x2xf32>) -> tensor<1x16x2xf32>
  return %0 : tensor<1x16x2xf32>
}

// -----

// a convolution with a sharded and dilated kernel
// 1 all_reduce
sdy.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<1x16x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {}]>}, %b: tensor<8x2x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}, {}]>}) -> (tensor<1x2x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {}]>}) {
  %0 = stablehlo.convolution(%a, %b) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {stride = [1], pad = [[0, 0]], lhs_dilate = [1], rhs_dilate = [2], reverse = [false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x16x2xf32>, tensor<8x2x2xf32>) -> tensor<1x2x2xf32>
  return %0 : tensor<1x2x2xf32>
}

// -----

// a convolution with a sharded and reversed kernel
// 1 all_gather
sdy.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<1x16x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {}]>}, %b: tensor<8x2x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}, {}]>}) -> (tensor<1x9x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {}]>}) {
  %0 = stablehlo.convolution(%a, %b) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {stride = [1], pad = [[0, 0]], lhs_dilate = [1], rhs_dilate = [1], reverse = [true]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x16x2xf32>, tensor<8x2x2xf32>) -> tensor<1x9x2xf32>
  return %0 : tensor<1x9x2xf32>
}

// -----

// the gradient of a maximum over windows without overlap
// no collectives
sdy.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %b: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> (tensor<16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  %cst = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = "stablehlo.select_and_scatter"(%a, %b, %cst) <{window_dimensions = array<i64: 2>, window_strides = array<i64: 2>, padding = dense<[[0, 0]]> : tensor<1x2xi64>}> ({
  ^bb0(%l: tensor<f32>, %r: tensor<f32>):
    %c = stablehlo.compare GE, %l, %r : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }, {
  ^bb0(%l: tensor<f32>, %r: tensor<f32>):
    %c = stablehlo.add %l, %r : tensor<f32>
    stablehlo.return %c : tensor<f32>
  }) : (tensor<16xf32>, tensor<8xf32>, tensor<f32>) -> tensor<16xf32>
  return %0 : tensor<16xf32>
}

// -----

// the gradient of a maximum over windows that overlap
// 4 collective_permute
sdy.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %b: tensor<16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> (tensor<16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  %cst = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = "stablehlo.select_and_scatter"(%a, %b, %cst) <{window_dimensions = array<i64: 3>, window_strides = array<i64: 1>, padding = dense<[[1, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%l: tensor<f32>, %r: tensor<f32>):
    %c = stablehlo.compare GE, %l, %r : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }, {
  ^bb0(%l: tensor<f32>, %r: tensor<f32>):
    %c = stablehlo.add %l, %r : tensor<f32>
    stablehlo.return %c : tensor<f32>
  }) : (tensor<16xf32>, tensor<16xf32>, tensor<f32>) -> tensor<16xf32>
  return %0 : tensor<16xf32>
}

// -----

// the gradient of a maximum over windows with a stride
// 3 collective_permute
sdy.mesh @mesh = <["x"=4], device_ids=[2, 0, 3, 1]>
func.func @main(%a: tensor<16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %b: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> (tensor<16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  %cst = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = "stablehlo.select_and_scatter"(%a, %b, %cst) <{window_dimensions = array<i64: 3>, window_strides = array<i64: 2>, padding = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%l: tensor<f32>, %r: tensor<f32>):
    %c = stablehlo.compare GE, %l, %r : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }, {
  ^bb0(%l: tensor<f32>, %r: tensor<f32>):
    %c = stablehlo.add %l, %r : tensor<f32>
    stablehlo.return %c : tensor<f32>
  }) : (tensor<16xf32>, tensor<8xf32>, tensor<f32>) -> tensor<16xf32>
  return %0 : tensor<16xf32>
}

// -----

// the gradient of a minimum of bf16
// 4 collective_permute
sdy.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<16xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %b: tensor<16xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> (tensor<16xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  %cst = stablehlo.constant dense<0.0> : tensor<bf16>
  %0 = "stablehlo.select_and_scatter"(%a, %b, %cst) <{window_dimensions = array<i64: 3>, window_strides = array<i64: 1>, padding = dense<[[1, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%l: tensor<bf16>, %r: tensor<bf16>):
    %c = stablehlo.compare LE, %l, %r : (tensor<bf16>, tensor<bf16>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }, {
  ^bb0(%l: tensor<bf16>, %r: tensor<bf16>):
    %c = stablehlo.add %l, %r : tensor<bf16>
    stablehlo.return %c : tensor<bf16>
  }) : (tensor<16xbf16>, tensor<16xbf16>, tensor<bf16>) -> tensor<16xbf16>
  return %0 : tensor<16xbf16>
}

// -----

// a dot with all dimensions sharded
// 1 all_reduce
sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func @main(%a: tensor<8x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}, %b: tensor<6x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}) -> (tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<8x6xf32>, tensor<6x4xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// -----

// a dot with an uneven contracting dimension
// 1 all_gather
sdy.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<3x7xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}, %b: tensor<7x5xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<3x5xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<3x7xf32>, tensor<7x5xf32>) -> tensor<3x5xf32>
  return %0 : tensor<3x5xf32>
}

// -----

// a dot with batch dimensions
// 1 all_reduce
sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func @main(%a: tensor<4x3x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}, {"y"}]>}, %b: tensor<4x6x5xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}, {}]>}) -> (tensor<4x3x5xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}, {}]>}) {
  %0 = stablehlo.dot_general %a, %b, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<4x3x6xf32>, tensor<4x6x5xf32>) -> tensor<4x3x5xf32>
  return %0 : tensor<4x3x5xf32>
}

// -----

// a sum over a sharded dimension
// 1 all_reduce
sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func @main(%a: tensor<8x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}) -> (tensor<6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>}) {
  %cst = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%a init: %cst) applies stablehlo.add across dimensions = [0] : (tensor<8x6xf32>, tensor<f32>) -> tensor<6xf32>
  return %0 : tensor<6xf32>
}

// -----

// a sum of an uneven dimension
// no collectives
sdy.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<7x3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}) {
  %cst = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%a init: %cst) applies stablehlo.add across dimensions = [0] : (tensor<7x3xf32>, tensor<f32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}

// -----

// a maximum of an uneven dimension
// no collectives
sdy.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<7xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> (tensor<f32> {sdy.sharding = #sdy.sharding<@mesh, []>}) {
  %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %0 = stablehlo.reduce(%a init: %cst) applies stablehlo.maximum across dimensions = [0] : (tensor<7xf32>, tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}

// -----

// a product of an uneven dimension
// no collectives
sdy.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<5xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> (tensor<f32> {sdy.sharding = #sdy.sharding<@mesh, []>}) {
  %cst = stablehlo.constant dense<1.0> : tensor<f32>
  %0 = stablehlo.reduce(%a init: %cst) applies stablehlo.multiply across dimensions = [0] : (tensor<5xf32>, tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}

// -----

// a minimum of integers
// 1 all_reduce
sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func @main(%a: tensor<6x5xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}) -> (tensor<i32> {sdy.sharding = #sdy.sharding<@mesh, []>}) {
  %cst = stablehlo.constant dense<2147483647> : tensor<i32>
  %0 = stablehlo.reduce(%a init: %cst) applies stablehlo.minimum across dimensions = [0, 1] : (tensor<6x5xi32>, tensor<i32>) -> tensor<i32>
  return %0 : tensor<i32>
}

// -----

// an initial value that is added once
// 1 all_reduce
sdy.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> (tensor<f32> {sdy.sharding = #sdy.sharding<@mesh, []>}) {
  %cst = stablehlo.constant dense<3.0> : tensor<f32>
  %0 = stablehlo.reduce(%a init: %cst) applies stablehlo.add across dimensions = [0] : (tensor<8xf32>, tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}

// -----

// a bitwise and
// 1 all_gather
sdy.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<6xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> (tensor<i32> {sdy.sharding = #sdy.sharding<@mesh, []>}) {
  %cst = stablehlo.constant dense<-1> : tensor<i32>
  %0 = stablehlo.reduce(%a init: %cst) applies stablehlo.and across dimensions = [0] : (tensor<6xi32>, tensor<i32>) -> tensor<i32>
  return %0 : tensor<i32>
}

// -----

// a dynamic slice of a dimension that is not sharded
// no collectives
sdy.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<8x5xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %b: tensor<i32>) -> (tensor<8x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  %0 = stablehlo.dynamic_slice %a, %b, %b, sizes = [8, 2] : (tensor<8x5xf32>, tensor<i32>, tensor<i32>) -> tensor<8x2xf32>
  return %0 : tensor<8x2xf32>
}

// -----

// a dynamic slice of a sharded dimension
// 1 all_gather
sdy.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %b: tensor<i32>) -> (tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  %0 = stablehlo.dynamic_slice %a, %b, sizes = [4] : (tensor<16xf32>, tensor<i32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// a dynamic update of a dimension that is not sharded
// no collectives
sdy.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<8x5xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %b: tensor<8x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %c: tensor<i32>) -> (tensor<8x5xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  %0 = stablehlo.dynamic_update_slice %a, %b, %c, %c : (tensor<8x5xf32>, tensor<8x2xf32>, tensor<i32>, tensor<i32>) -> tensor<8x5xf32>
  return %0 : tensor<8x5xf32>
}

// -----

// a dynamic update of a sharded dimension
// no collectives
sdy.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %b: tensor<3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}, %c: tensor<i32>) -> (tensor<16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  %0 = stablehlo.dynamic_update_slice %a, %b, %c : (tensor<16xf32>, tensor<3xf32>, tensor<i32>) -> tensor<16xf32>
  return %0 : tensor<16xf32>
}

// -----

// a dynamic update of one element
// 1 all_gather, 2 collective_permute
sdy.mesh @mesh = <["x"=4], device_ids=[2, 0, 3, 1]>
func.func @main(%a: tensor<10xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %b: tensor<1xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}, %c: tensor<i32>) -> (tensor<10xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  %0 = stablehlo.dynamic_update_slice %a, %b, %c : (tensor<10xf32>, tensor<1xf32>, tensor<i32>) -> tensor<10xf32>
  return %0 : tensor<10xf32>
}

// -----

// a gather of rows, with sharded indices
// no collectives
sdy.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<5x3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, %b: tensor<8x1xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<8x3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  %0 = "stablehlo.gather"(%a, %b) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 3>}> : (tensor<5x3xf32>, tensor<8x1xi32>) -> tensor<8x3xf32>
  return %0 : tensor<8x3xf32>
}

// -----

// a gather of rows of a sharded table
// 1 all_reduce
sdy.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<8x3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %b: tensor<6x1xi32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) -> (tensor<6x3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) {
  %0 = "stablehlo.gather"(%a, %b) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 3>}> : (tensor<8x3xf32>, tensor<6x1xi32>) -> tensor<6x3xf32>
  return %0 : tensor<6x3xf32>
}

// -----

// a gather of whole columns
// no collectives
sdy.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<3x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}, %b: tensor<6x1xi32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) -> (tensor<6x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}) {
  %0 = "stablehlo.gather"(%a, %b) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 8>}> : (tensor<3x8xf32>, tensor<6x1xi32>) -> tensor<6x8xf32>
  return %0 : tensor<6x8xf32>
}

// -----

// a scatter that adds sharded updates
// 1 all_reduce
sdy.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<5x3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, %b: tensor<8x1xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %c: tensor<8x3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<5x3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) {
  %0 = "stablehlo.scatter"(%a, %b, %c) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%l: tensor<f32>, %r: tensor<f32>):
    %s = stablehlo.add %l, %r : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<5x3xf32>, tensor<8x1xi32>, tensor<8x3xf32>) -> tensor<5x3xf32>
  return %0 : tensor<5x3xf32>
}

// -----

// a scatter into a sharded table
// no collectives
sdy.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<8x3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %b: tensor<6x1xi32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, %c: tensor<6x3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) -> (tensor<8x3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  %0 = "stablehlo.scatter"(%a, %b, %c) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%l: tensor<f32>, %r: tensor<f32>):
    %s = stablehlo.add %l, %r : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<8x3xf32>, tensor<6x1xi32>, tensor<6x3xf32>) -> tensor<8x3xf32>
  return %0 : tensor<8x3xf32>
}

// -----

// a scatter of sharded columns
// no collectives
sdy.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<5x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}, %b: tensor<4x1xi32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, %c: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}) -> (tensor<5x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}) {
  %0 = "stablehlo.scatter"(%a, %b, %c) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%l: tensor<f32>, %r: tensor<f32>):
    %s = stablehlo.maximum %l, %r : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<5x8xf32>, tensor<4x1xi32>, tensor<4x8xf32>) -> tensor<5x8xf32>
  return %0 : tensor<5x8xf32>
}

// -----

// a transposition
// no collectives
sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func @main(%a: tensor<6x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}) -> (tensor<8x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {"x"}]>}) {
  %0 = stablehlo.transpose %a, dims = [1, 0] : (tensor<6x8xf32>) -> tensor<8x6xf32>
  return %0 : tensor<8x6xf32>
}

// -----

// a reshape that merges dimensions
// 1 all_to_all
sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func @main(%a: tensor<4x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}) -> (tensor<24xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}]>}) {
  %0 = stablehlo.reshape %a : (tensor<4x6xf32>) -> tensor<24xf32>
  return %0 : tensor<24xf32>
}

// -----

// a reshape that splits a dimension
// 1 all_gather
sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func @main(%a: tensor<24xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}]>}) -> (tensor<4x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  %0 = stablehlo.reshape %a : (tensor<24xf32>) -> tensor<4x6xf32>
  return %0 : tensor<4x6xf32>
}

// -----

// a broadcast
// no collectives
sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func @main(%a: tensor<6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>}) -> (tensor<8x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}) {
  %0 = stablehlo.broadcast_in_dim %a, dims = [1] : (tensor<6xf32>) -> tensor<8x6xf32>
  return %0 : tensor<8x6xf32>
}

// -----

// an iota along a sharded dimension
// 1 all_gather, 2 collective_permute
sdy.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<10x3xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<10x3xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  %0 = stablehlo.iota dim = 0 : tensor<10x3xi32>
  %1 = stablehlo.add %0, %a : tensor<10x3xi32>
  return %1 : tensor<10x3xi32>
}

// -----

// a constant
// 1 all_gather, 2 collective_permute
sdy.mesh @mesh = <["x"=4], device_ids=[2, 0, 3, 1]>
func.func @main(%a: tensor<6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> (tensor<6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  %0 = stablehlo.constant dense<[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]> : tensor<6xf32>
  %1 = stablehlo.add %0, %a : tensor<6xf32>
  return %1 : tensor<6xf32>
}

// -----

// an all-to-all
// 1 all_to_all
sdy.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<8x12xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<8x12xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}) {
  %0 = sdy.reshard %a <@mesh, [{}, {"x"}]> : tensor<8x12xf32>
  return %0 : tensor<8x12xf32>
}

// -----

// an exchange of two axes
// 2 all_to_all, 1 collective_permute
sdy.mesh @mesh = <["x"=2, "y"=3]>
func.func @main(%a: tensor<6x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}) -> (tensor<6x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {"x"}]>}) {
  %0 = sdy.reshard %a <@mesh, [{"y"}, {"x"}]> : tensor<6x6xf32>
  return %0 : tensor<6x6xf32>
}

// -----

// a gather of a major axis
// 1 all_gather, 1 collective_permute
sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}]>}) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>}) {
  %0 = sdy.reshard %a <@mesh, [{"y"}]> : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// a gather of uneven shards
// no collectives
sdy.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<7xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> (tensor<7xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}) {
  %0 = sdy.reshard %a <@mesh, [{}]> : tensor<7xf32>
  return %0 : tensor<7xf32>
}

// -----

// sub-axes that exchange places
// 1 collective_permute
sdy.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x":(1)2}, {"x":(2)2}]>}) -> (tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x":(2)2}, {"x":(1)2}]>}) {
  %0 = sdy.reshard %a <@mesh, [{"x":(2)2}, {"x":(1)2}]> : tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// -----

// a loop over sharded values
// 1 all_to_all
sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func @main(%a: tensor<6x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<6x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  %c = stablehlo.constant dense<0> : tensor<i32>
  %n = stablehlo.constant dense<3> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %0:2 = stablehlo.while(%i = %c, %v = %a) : tensor<i32>, tensor<6x6xf32>
    cond {
      %p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %j = stablehlo.add %i, %one : tensor<i32>
      %w = stablehlo.transpose %v, dims = [1, 0] : (tensor<6x6xf32>) -> tensor<6x6xf32>
      %u = stablehlo.add %w, %v : tensor<6x6xf32>
      stablehlo.return %j, %u : tensor<i32>, tensor<6x6xf32>
    }
  return %0#1 : tensor<6x6xf32>
}

// -----

// a call with sharded arguments
// 2 collective_permute
sdy.mesh @mesh = <["x"=4]>
func.func private @f(%v: tensor<8xf32>) -> tensor<8xf32> {
  %0 = stablehlo.reverse %v, dims = [0] : tensor<8xf32>
  %1 = stablehlo.add %0, %v : tensor<8xf32>
  return %1 : tensor<8xf32>
}
func.func @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  %0 = call @f(%a) : (tensor<8xf32>) -> tensor<8xf32>
  %1 = call @f(%0) : (tensor<8xf32>) -> tensor<8xf32>
  return %1 : tensor<8xf32>
}

// -----

// a sum over padded shards
// 1 all_reduce
sdy.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<7x3xf32>) -> (tensor<3xf32>) {
  %aa = sdy.sharding_constraint %a <@mesh, [{"x"}, {}]> : tensor<7x3xf32>
  %cst = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%aa init: %cst) applies stablehlo.add across dimensions = [0] : (tensor<7x3xf32>, tensor<f32>) -> tensor<3xf32>
  %out = sdy.sharding_constraint %0 <@mesh, [{}]> : tensor<3xf32>
  return %out : tensor<3xf32>
}

// -----

// a maximum over padded shards
// 1 all_reduce
sdy.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<7xf32>) -> (tensor<f32>) {
  %aa = sdy.sharding_constraint %a <@mesh, [{"x"}]> : tensor<7xf32>
  %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %0 = stablehlo.reduce(%aa init: %cst) applies stablehlo.maximum across dimensions = [0] : (tensor<7xf32>, tensor<f32>) -> tensor<f32>
  %out = sdy.sharding_constraint %0 <@mesh, []> : tensor<f32>
  return %out : tensor<f32>
}

// -----

// a product over padded shards
// 1 all_reduce
sdy.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<5xf32>) -> (tensor<f32>) {
  %aa = sdy.sharding_constraint %a <@mesh, [{"x"}]> : tensor<5xf32>
  %cst = stablehlo.constant dense<1.0> : tensor<f32>
  %0 = stablehlo.reduce(%aa init: %cst) applies stablehlo.multiply across dimensions = [0] : (tensor<5xf32>, tensor<f32>) -> tensor<f32>
  %out = sdy.sharding_constraint %0 <@mesh, []> : tensor<f32>
  return %out : tensor<f32>
}

// -----

// a minimum of padded integers
// 1 all_reduce, 1 collective_permute
sdy.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<6x5xi32>) -> (tensor<5xi32>) {
  %aa = sdy.sharding_constraint %a <@mesh, [{"x"}, {}]> : tensor<6x5xi32>
  %cst = stablehlo.constant dense<2147483647> : tensor<i32>
  %0 = stablehlo.reduce(%aa init: %cst) applies stablehlo.minimum across dimensions = [0] : (tensor<6x5xi32>, tensor<i32>) -> tensor<5xi32>
  %out = sdy.sharding_constraint %0 <@mesh, [{}]> : tensor<5xi32>
  return %out : tensor<5xi32>
}

// -----

// a dot that contracts padded shards
// 1 all_reduce
sdy.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<3x7xf32>, %b: tensor<7x5xf32>) -> (tensor<3x5xf32>) {
  %aa = sdy.sharding_constraint %a <@mesh, [{}, {"x"}]> : tensor<3x7xf32>
  %bb = sdy.sharding_constraint %b <@mesh, [{"x"}, {}]> : tensor<7x5xf32>
  %0 = stablehlo.dot_general %aa, %bb, contracting_dims = [1] x [0] : (tensor<3x7xf32>, tensor<7x5xf32>) -> tensor<3x5xf32>
  %out = sdy.sharding_constraint %0 <@mesh, [{}, {}]> : tensor<3x5xf32>
  return %out : tensor<3x5xf32>
}

// -----

// a dot that keeps padded shards
// 1 all_gather
sdy.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<7x3xf32>, %b: tensor<3x5xf32>) -> (tensor<7x5xf32>) {
  %aa = sdy.sharding_constraint %a <@mesh, [{"x"}, {}]> : tensor<7x3xf32>
  %bb = sdy.sharding_constraint %b <@mesh, [{}, {}]> : tensor<3x5xf32>
  %0 = stablehlo.dot_general %aa, %bb, contracting_dims = [1] x [0] : (tensor<7x3xf32>, tensor<3x5xf32>) -> tensor<7x5xf32>
  %out = sdy.sharding_constraint %0 <@mesh, [{"x"}, {}]> : tensor<7x5xf32>
  return %out : tensor<7x5xf32>
}

// -----

// a reversal of padded shards
// 1 all_gather, 3 collective_permute
sdy.mesh @mesh = <["x"=4], device_ids=[2, 0, 3, 1]>
func.func @main(%a: tensor<10xf32>) -> (tensor<10xf32>) {
  %aa = sdy.sharding_constraint %a <@mesh, [{"x"}]> : tensor<10xf32>
  %0 = stablehlo.reverse %aa, dims = [0] : tensor<10xf32>
  %out = sdy.sharding_constraint %0 <@mesh, [{"x"}]> : tensor<10xf32>
  return %out : tensor<10xf32>
}

// -----

// a concatenation of padded shards
// 1 all_gather, 5 collective_permute
sdy.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<5xf32>, %b: tensor<3xf32>) -> (tensor<13xf32>) {
  %aa = sdy.sharding_constraint %a <@mesh, [{"x"}]> : tensor<5xf32>
  %bb = sdy.sharding_constraint %b <@mesh, [{"x"}]> : tensor<3xf32>
  %0 = stablehlo.concatenate %aa, %bb, %aa, dim = 0 : (tensor<5xf32>, tensor<3xf32>, tensor<5xf32>) -> tensor<13xf32>
  %out = sdy.sharding_constraint %0 <@mesh, [{"x"}]> : tensor<13xf32>
  return %out : tensor<13xf32>
}

// -----

// a slice of padded shards
// 1 all_gather, 2 collective_permute
sdy.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<14xf32>) -> (tensor<6xf32>) {
  %aa = sdy.sharding_constraint %a <@mesh, [{"x"}]> : tensor<14xf32>
  %0 = stablehlo.slice %aa [2:13:2] : (tensor<14xf32>) -> tensor<6xf32>
  %out = sdy.sharding_constraint %0 <@mesh, [{"x"}]> : tensor<6xf32>
  return %out : tensor<6xf32>
}

// -----

// a slice of the last padded shard
// 1 all_gather
sdy.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<10xf32>) -> (tensor<1xf32>) {
  %aa = sdy.sharding_constraint %a <@mesh, [{"x"}]> : tensor<10xf32>
  %0 = stablehlo.slice %aa [9:10] : (tensor<10xf32>) -> tensor<1xf32>
  %out = sdy.sharding_constraint %0 <@mesh, [{}]> : tensor<1xf32>
  return %out : tensor<1xf32>
}

// -----

// padding of padded shards
// 1 all_gather, 2 collective_permute
sdy.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<7xf32>) -> (tensor<10xf32>) {
  %aa = sdy.sharding_constraint %a <@mesh, [{"x"}]> : tensor<7xf32>
  %c = stablehlo.constant dense<3.0> : tensor<f32>
  %0 = stablehlo.pad %aa, %c, low = [2], high = [1], interior = [0] : (tensor<7xf32>, tensor<f32>) -> tensor<10xf32>
  %out = sdy.sharding_constraint %0 <@mesh, [{"x"}]> : tensor<10xf32>
  return %out : tensor<10xf32>
}

// -----

// windows over padded shards
// 1 all_gather, 3 collective_permute
sdy.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<14xf32>) -> (tensor<14xf32>) {
  %aa = sdy.sharding_constraint %a <@mesh, [{"x"}]> : tensor<14xf32>
  %cst = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = "stablehlo.reduce_window"(%aa, %cst) <{window_dimensions = array<i64: 3>, window_strides = array<i64: 1>, padding = dense<[[1, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%l: tensor<f32>, %r: tensor<f32>):
    %s = stablehlo.add %l, %r : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<14xf32>, tensor<f32>) -> tensor<14xf32>
  %out = sdy.sharding_constraint %0 <@mesh, [{"x"}]> : tensor<14xf32>
  return %out : tensor<14xf32>
}

// -----

// a convolution of a padded image
// 1 all_gather, 3 collective_permute
sdy.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<1x14x2xf32>, %b: tensor<3x2x2xf32>) -> (tensor<1x14x2xf32>) {
  %aa = sdy.sharding_constraint %a <@mesh, [{}, {"x"}, {}]> : tensor<1x14x2xf32>
  %bb = sdy.sharding_constraint %b <@mesh, [{}, {}, {}]> : tensor<3x2x2xf32>
  %0 = stablehlo.convolution(%aa, %bb) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {pad = [[1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x14x2xf32>, tensor<3x2x2xf32>) -> tensor<1x14x2xf32>
  %out = sdy.sharding_constraint %0 <@mesh, [{}, {"x"}, {}]> : tensor<1x14x2xf32>
  return %out : tensor<1x14x2xf32>
}

// -----

// a convolution that adds over padded features
// 1 all_reduce
sdy.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<1x6x3xf32>, %b: tensor<3x3x2xf32>) -> (tensor<1x6x2xf32>) {
  %aa = sdy.sharding_constraint %a <@mesh, [{}, {}, {"x"}]> : tensor<1x6x3xf32>
  %bb = sdy.sharding_constraint %b <@mesh, [{}, {"x"}, {}]> : tensor<3x3x2xf32>
  %0 = stablehlo.convolution(%aa, %bb) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {pad = [[1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x6x3xf32>, tensor<3x3x2xf32>) -> tensor<1x6x2xf32>
  %out = sdy.sharding_constraint %0 <@mesh, [{}, {}, {}]> : tensor<1x6x2xf32>
  return %out : tensor<1x6x2xf32>
}

// -----

// the gradient of a kernel over padded shards
// 1 all_gather, 1 all_reduce, 1 collective_permute
sdy.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<1x14x1xf32>, %b: tensor<1x14x1xf32>) -> (tensor<3x1x1xf32>) {
  %aa = sdy.sharding_constraint %a <@mesh, [{}, {"x"}, {}]> : tensor<1x14x1xf32>
  %bb = sdy.sharding_constraint %b <@mesh, [{}, {"x"}, {}]> : tensor<1x14x1xf32>
  %0 = stablehlo.convolution(%aa, %bb) dim_numbers = [f, 0, b]x[i, 0, o]->[0, b, f], window = {pad = [[1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x14x1xf32>, tensor<1x14x1xf32>) -> tensor<3x1x1xf32>
  %out = sdy.sharding_constraint %0 <@mesh, [{}, {}, {}]> : tensor<3x1x1xf32>
  return %out : tensor<3x1x1xf32>
}

// -----

// a gather from a padded table
// 1 all_reduce
sdy.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<7x3xf32>, %b: tensor<6x1xi32>) -> (tensor<6x3xf32>) {
  %aa = sdy.sharding_constraint %a <@mesh, [{"x"}, {}]> : tensor<7x3xf32>
  %0 = "stablehlo.gather"(%aa, %b) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 3>}> : (tensor<7x3xf32>, tensor<6x1xi32>) -> tensor<6x3xf32>
  %out = sdy.sharding_constraint %0 <@mesh, [{}, {}]> : tensor<6x3xf32>
  return %out : tensor<6x3xf32>
}

// -----

// a scatter of padded updates
// 1 all_reduce
sdy.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<5x3xf32>, %b: tensor<7x1xi32>, %c: tensor<7x3xf32>) -> (tensor<5x3xf32>) {
  %aa = sdy.sharding_constraint %a <@mesh, [{}, {}]> : tensor<5x3xf32>
  %bb = sdy.sharding_constraint %b <@mesh, [{"x"}, {}]> : tensor<7x1xi32>
  %cc = sdy.sharding_constraint %c <@mesh, [{"x"}, {}]> : tensor<7x3xf32>
  %0 = "stablehlo.scatter"(%aa, %bb, %cc) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%l: tensor<f32>, %r: tensor<f32>):
    %s = stablehlo.add %l, %r : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<5x3xf32>, tensor<7x1xi32>, tensor<7x3xf32>) -> tensor<5x3xf32>
  %out = sdy.sharding_constraint %0 <@mesh, [{}, {}]> : tensor<5x3xf32>
  return %out : tensor<5x3xf32>
}

// -----

// a dynamic update of padded shards
// 1 all_gather, 1 collective_permute
sdy.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<10xf32>, %b: tensor<3xf32>, %c: tensor<i32>) -> (tensor<10xf32>) {
  %aa = sdy.sharding_constraint %a <@mesh, [{"x"}]> : tensor<10xf32>
  %0 = stablehlo.dynamic_update_slice %aa, %b, %c : (tensor<10xf32>, tensor<3xf32>, tensor<i32>) -> tensor<10xf32>
  %out = sdy.sharding_constraint %0 <@mesh, [{"x"}]> : tensor<10xf32>
  return %out : tensor<10xf32>
}

// -----

// a dynamic slice of padded shards
// 1 all_reduce, 1 collective_permute
sdy.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<10xf32>, %b: tensor<i32>) -> (tensor<3xf32>) {
  %aa = sdy.sharding_constraint %a <@mesh, [{"x"}]> : tensor<10xf32>
  %0 = stablehlo.dynamic_slice %aa, %b, sizes = [3] : (tensor<10xf32>, tensor<i32>) -> tensor<3xf32>
  %out = sdy.sharding_constraint %0 <@mesh, [{}]> : tensor<3xf32>
  return %out : tensor<3xf32>
}

// -----

// a reshape of padded shards
// 1 all_gather, 1 collective_permute
sdy.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<5x6xf32>) -> (tensor<30xf32>) {
  %aa = sdy.sharding_constraint %a <@mesh, [{"x"}, {}]> : tensor<5x6xf32>
  %0 = stablehlo.reshape %aa : (tensor<5x6xf32>) -> tensor<30xf32>
  %out = sdy.sharding_constraint %0 <@mesh, [{"x"}]> : tensor<30xf32>
  return %out : tensor<30xf32>
}

// -----

// an all-to-all of padded shards
// no collectives
sdy.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<7x5xf32>) -> (tensor<7x5xf32>) {
  %aa = sdy.sharding_constraint %a <@mesh, [{"x"}, {}]> : tensor<7x5xf32>
  %0 = sdy.reshard %aa <@mesh, [{}, {"x"}]> : tensor<7x5xf32>
  %out = sdy.sharding_constraint %0 <@mesh, [{}, {"x"}]> : tensor<7x5xf32>
  return %out : tensor<7x5xf32>
}

// -----

// an iota and a constant with padded shards
// 1 all_gather, 1 collective_permute
sdy.mesh @mesh = <["x"=4], device_ids=[2, 0, 3, 1]>
func.func @main(%a: tensor<6xf32>) -> (tensor<6xf32>) {
  %aa = sdy.sharding_constraint %a <@mesh, [{"x"}]> : tensor<6xf32>
  %0 = stablehlo.iota dim = 0 : tensor<6xf32>
  %1 = stablehlo.constant dense<[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]> : tensor<6xf32>
  %2 = stablehlo.add %0, %1 : tensor<6xf32>
  %3 = stablehlo.multiply %2, %aa : tensor<6xf32>
  %out = sdy.sharding_constraint %3 <@mesh, [{"x"}]> : tensor<6xf32>
  return %out : tensor<6xf32>
}

// -----

// two reductions of the same padded shards
// 2 all_reduce
sdy.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<7xf32>) -> (tensor<f32>) {
  %aa = sdy.sharding_constraint %a <@mesh, [{"x"}]> : tensor<7xf32>
  %cst = stablehlo.constant dense<0.0> : tensor<f32>
  %s = stablehlo.reduce(%aa init: %cst) applies stablehlo.add across dimensions = [0] : (tensor<7xf32>, tensor<f32>) -> tensor<f32>
  %inf = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %m = stablehlo.reduce(%aa init: %inf) applies stablehlo.maximum across dimensions = [0] : (tensor<7xf32>, tensor<f32>) -> tensor<f32>
  %0 = stablehlo.add %s, %m : tensor<f32>
  %out = sdy.sharding_constraint %0 <@mesh, []> : tensor<f32>
  return %out : tensor<f32>
}

// -----

// a group of sub-axes that is reduced
// 1 all_reduce
sdy.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x":(1)2}, {"x":(2)2}]>}) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x":(2)2}]>}) {
  %cst = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%a init: %cst) applies stablehlo.add across dimensions = [0] : (tensor<8x8xf32>, tensor<f32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// a sum that is scattered
// 1 reduce_scatter
sdy.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  %cst = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%a init: %cst) applies stablehlo.add across dimensions = [0] : (tensor<8x8xf32>, tensor<f32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// a gather of two dimensions
// 1 all_gather
sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func @main(%a: tensor<4x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}) -> (tensor<4x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) {
  %0 = sdy.reshard %a <@mesh, [{}, {}]> : tensor<4x6xf32>
  return %0 : tensor<4x6xf32>
}

// -----

// an all-to-all of two axes to two dimensions
// 2 all_to_all
sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func @main(%a: tensor<8x4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}, {}, {}]>}) -> (tensor<8x4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}, {"x"}]>}) {
  %0 = sdy.reshard %a <@mesh, [{}, {"y"}, {"x"}]> : tensor<8x4x4xf32>
  return %0 : tensor<8x4x4xf32>
}

// -----

// a slice of replicated data for each device
// no collectives
sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func @main(%a: tensor<4x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) -> (tensor<4x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {"x"}]>}) {
  %0 = sdy.reshard %a <@mesh, [{"y"}, {"x"}]> : tensor<4x6xf32>
  return %0 : tensor<4x6xf32>
}

// -----

// padding of one dimension, and shards of another that are padded
// 1 all_gather
sdy.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<7x3xf32>) -> (tensor<7x6xf32>) {
  %aa = sdy.sharding_constraint %a <@mesh, [{"x"}, {}]> : tensor<7x3xf32>
  %c = stablehlo.constant dense<3.0> : tensor<f32>
  %0 = stablehlo.pad %aa, %c, low = [0, 2], high = [0, 1], interior = [0, 0] : (tensor<7x3xf32>, tensor<f32>) -> tensor<7x6xf32>
  %out = sdy.sharding_constraint %0 <@mesh, [{"x"}, {}]> : tensor<7x6xf32>
  return %out : tensor<7x6xf32>
}

// -----

// padding of the last shard only
// no collectives
sdy.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<15xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %b: tensor<f32>) -> (tensor<16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  %0 = stablehlo.pad %a, %b, low = [0], high = [1], interior = [0] : (tensor<15xf32>, tensor<f32>) -> tensor<16xf32>
  return %0 : tensor<16xf32>
}

// -----

// one element of padding before the first shard
// 1 collective_permute
sdy.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<12xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %b: tensor<f32>) -> (tensor<16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  %0 = stablehlo.pad %a, %b, low = [1], high = [3], interior = [0] : (tensor<12xf32>, tensor<f32>) -> tensor<16xf32>
  return %0 : tensor<16xf32>
}

// -----

// a convolution whose kernel covers its image
// 1 all_reduce
sdy.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<1x16x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}, {}]>}, %b: tensor<16x2x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}, {}]>}) -> (tensor<1x1x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {}]>}) {
  %0 = stablehlo.convolution(%a, %b) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x16x2xf32>, tensor<16x2x2xf32>) -> tensor<1x1x2xf32>
  return %0 : tensor<1x1x2xf32>
}

// -----

// a convolution whose dilated kernel covers its image
// 1 all_reduce
sdy.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<1x16x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}, {}]>}, %b: tensor<8x2x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}, {}]>}) -> (tensor<1x2x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {}]>}) {
  %0 = stablehlo.convolution(%a, %b) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {stride = [1], pad = [[0, 0]], lhs_dilate = [1], rhs_dilate = [2], reverse = [false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x16x2xf32>, tensor<8x2x2xf32>) -> tensor<1x2x2xf32>
  return %0 : tensor<1x2x2xf32>
}

// -----

// a convolution with a window over each pair of elements
// no collectives
sdy.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<1x16x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}, {}]>}, %b: tensor<2x2x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {}]>}) -> (tensor<1x8x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}, {}]>}) {
  %0 = stablehlo.convolution(%a, %b) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {stride = [2], pad = [[0, 0]], lhs_dilate = [1], rhs_dilate = [1], reverse = [false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x16x2xf32>, tensor<2x2x2xf32>) -> tensor<1x8x2xf32>
  return %0 : tensor<1x8x2xf32>
}

// -----

// a convolution with a dilated window that stays in its shard
// no collectives
sdy.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<1x16x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}, {}]>}, %b: tensor<2x2x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {}]>}) -> (tensor<1x4x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}, {}]>}) {
  %0 = stablehlo.convolution(%a, %b) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {stride = [4], pad = [[0, 1]], lhs_dilate = [1], rhs_dilate = [3], reverse = [false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x16x2xf32>, tensor<2x2x2xf32>) -> tensor<1x4x2xf32>
  return %0 : tensor<1x4x2xf32>
}

// -----

// a convolution with a sharded, dilated kernel and several results
// 1 all_reduce, 2 collective_permute
sdy.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<1x18x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {}]>}, %b: tensor<8x2x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}, {}]>}) -> (tensor<1x4x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {}]>}) {
  %0 = stablehlo.convolution(%a, %b) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {stride = [1], pad = [[0, 0]], lhs_dilate = [1], rhs_dilate = [2], reverse = [false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x18x2xf32>, tensor<8x2x2xf32>) -> tensor<1x4x2xf32>
  return %0 : tensor<1x4x2xf32>
}

// -----

// a convolution with two spatial dimensions
// 3 collective_permute
sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func @main(%a: tensor<1x8x6x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}, {"y"}, {}]>}, %b: tensor<3x3x2x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {}, {}]>}) -> (tensor<1x8x6x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}, {"y"}, {}]>}) {
  %0 = stablehlo.convolution(%a, %b) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[1, 1], [0, 2]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x6x2xf32>, tensor<3x3x2x2xf32>) -> tensor<1x8x6x2xf32>
  return %0 : tensor<1x8x6x2xf32>
}

// -----

// a convolution with groups of batches
// no collectives
sdy.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<8x6x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}, {}]>}, %b: tensor<3x2x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {"x"}]>}) -> (tensor<2x6x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {"x"}]>}) {
  %0 = stablehlo.convolution(%a, %b) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {pad = [[1, 1]]} {batch_group_count = 4 : i64, feature_group_count = 1 : i64} : (tensor<8x6x2xf32>, tensor<3x2x8xf32>) -> tensor<2x6x8xf32>
  return %0 : tensor<2x6x8xf32>
}

// -----

// windows with dilation that stay in their shard
// no collectives
sdy.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> (tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  %cst = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = "stablehlo.reduce_window"(%a, %cst) <{window_dimensions = array<i64: 2>, window_strides = array<i64: 4>, base_dilations = array<i64: 1>, window_dilations = array<i64: 3>, padding = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%l: tensor<f32>, %r: tensor<f32>):
    %s = stablehlo.add %l, %r : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<16xf32>, tensor<f32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// windows of a dimension that is not sharded
// no collectives
sdy.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}) -> (tensor<6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}) {
  %cst = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = "stablehlo.reduce_window"(%a, %cst) <{window_dimensions = array<i64: 3>, window_strides = array<i64: 1>, base_dilations = array<i64: 1>, window_dilations = array<i64: 1>, padding = dense<[[1, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%l: tensor<f32>, %r: tensor<f32>):
    %s = stablehlo.add %l, %r : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<6xf32>, tensor<f32>) -> tensor<6xf32>
  return %0 : tensor<6xf32>
}

// -----

// padding after the last element on two devices
// 1 collective_permute
sdy.mesh @mesh = <["x"=2]>
func.func @main(%a: tensor<6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %b: tensor<f32>) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  %0 = stablehlo.pad %a, %b, low = [0], high = [2], interior = [0] : (tensor<6xf32>, tensor<f32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// one element of padding that fills the last shard
// no collectives
sdy.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<15xf32>) -> (tensor<16xf32>) {
  %aa = sdy.sharding_constraint %a <@mesh, [{"x"}]> : tensor<15xf32>
  %c = stablehlo.constant dense<3.0> : tensor<f32>
  %0 = stablehlo.pad %aa, %c, low = [0], high = [1], interior = [0] : (tensor<15xf32>, tensor<f32>) -> tensor<16xf32>
  %out = sdy.sharding_constraint %0 <@mesh, [{"x"}]> : tensor<16xf32>
  return %out : tensor<16xf32>
}

// -----

// windows with dilation that reach into the next shard
// 1 all_gather, 1 collective_permute
sdy.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<16xf32>) -> (tensor<7xf32>) {
  %aa = sdy.sharding_constraint %a <@mesh, [{"x"}]> : tensor<16xf32>
  %cst = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = "stablehlo.reduce_window"(%aa, %cst) <{window_dimensions = array<i64: 2>, window_strides = array<i64: 2>, window_dilations = array<i64: 3>}> ({
  ^bb0(%l: tensor<f32>, %r: tensor<f32>):
    %s = stablehlo.add %l, %r : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<16xf32>, tensor<f32>) -> tensor<7xf32>
  %out = sdy.sharding_constraint %0 <@mesh, [{"x"}]> : tensor<7xf32>
  return %out : tensor<7xf32>
}

// -----

// groups of features on more devices than there are features
// 2 all_gather
sdy.mesh @mesh = <["x"=6]>
func.func @main(%a: tensor<32x2xf32>, %b: tensor<16x4xf32>) -> (tensor<2x4xf32>) {
  %aa = sdy.sharding_constraint %a <@mesh, [{}, {"x":(1)2}]> : tensor<32x2xf32>
  %bb = sdy.sharding_constraint %b <@mesh, [{}, {"x":(1)2}]> : tensor<16x4xf32>
  %0 = stablehlo.convolution(%aa, %bb) dim_numbers = [f, b]x[i, o]->[b, f], window = {stride = [], pad = []} {batch_group_count = 1 : i64, feature_group_count = 2 : i64} : (tensor<32x2xf32>, tensor<16x4xf32>) -> tensor<2x4xf32>
  %out = sdy.sharding_constraint %0 <@mesh, [{}, {"x"}]> : tensor<2x4xf32>
  return %out : tensor<2x4xf32>
}

// -----

// groups of the batch, of which each shard of the result has a part
// 2 all_gather
sdy.mesh @mesh = <["z"=4, "y"=2]>
func.func @main(%a: tensor<10x4x3xf32>, %b: tensor<2x3x10xf32>) -> (tensor<5x3x10xf32>) {
  %aa = sdy.sharding_constraint %a <@mesh, [{"y"}, {}, {}]> : tensor<10x4x3xf32>
  %bb = sdy.sharding_constraint %b <@mesh, [{}, {}, {"y"}]> : tensor<2x3x10xf32>
  %0 = stablehlo.convolution(%aa, %bb) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {} {batch_group_count = 2 : i64, feature_group_count = 1 : i64} : (tensor<10x4x3xf32>, tensor<2x3x10xf32>) -> tensor<5x3x10xf32>
  %out = sdy.sharding_constraint %0 <@mesh, [{"z":(2)2}, {}, {"y"}]> : tensor<5x3x10xf32>
  return %out : tensor<5x3x10xf32>
}

// -----

// a sharding rule with a reduction factor, on an operation that sums nothing
// 1 all_gather
sdy.mesh @mesh = <["x"=2]>
func.func @main(%a: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}) -> (tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) {
  %0 = stablehlo.negate %a {sdy.sharding_rule = #sdy.op_sharding_rule<([i, k])->([i, j]) {i=8, j=4, k=4} reduction={k}>} : tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// -----

// a convolution of two groups whose input features are in parts of groups, with uneven shards
// 2 all_gather
sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func @main(%a: tensor<2x8x6xf32>, %b: tensor<3x3x4xf32>) -> (tensor<2x6x4xf32>) {
  %aa = sdy.sharding_constraint %a <@mesh, [{}, {}, {"x", "y"}]> : tensor<2x8x6xf32>
  %bb = sdy.sharding_constraint %b <@mesh, [{}, {"y"}, {"x"}]> : tensor<3x3x4xf32>
  %0 = stablehlo.convolution(%aa, %bb) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 2 : i64} : (tensor<2x8x6xf32>, tensor<3x3x4xf32>) -> tensor<2x6x4xf32>
  %out = sdy.sharding_constraint %0 <@mesh, [{}, {}, {"x"}]> : tensor<2x6x4xf32>
  return %out : tensor<2x6x4xf32>
}

// -----

// groups of the batch whose features are in uneven shards
// 1 all_gather
sdy.mesh @mesh = <["x"=6]>
func.func @main(%a: tensor<4x1x3xf32>, %b: tensor<3x2x16xf32>) -> (tensor<2x2x16xf32>) {
  %bb = sdy.sharding_constraint %b <@mesh, [{}, {}, {"x"}]> : tensor<3x2x16xf32>
  %0 = stablehlo.convolution(%a, %bb) dim_numbers = [b, 0, f]x[i, 0, o]->[b, 0, f], window = {pad = [[1, 1]]} {batch_group_count = 2 : i64, feature_group_count = 1 : i64} : (tensor<4x1x3xf32>, tensor<3x2x16xf32>) -> tensor<2x2x16xf32>
  %out = sdy.sharding_constraint %0 <@mesh, [{}, {}, {"x"}]> : tensor<2x2x16xf32>
  return %out : tensor<2x2x16xf32>
}

// -----

// a convolution with one output feature, along which the kernel is sharded
// 1 all_reduce
sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func @main(%a: tensor<4x2xf32>, %b: tensor<2x1xf32>) -> (tensor<4x1xf32>) {
  %aa = sdy.sharding_constraint %a <@mesh, [{}, {"y"}]> : tensor<4x2xf32>
  %bb = sdy.sharding_constraint %b <@mesh, [{"y"}, {"x"}]> : tensor<2x1xf32>
  %0 = stablehlo.convolution(%aa, %bb) dim_numbers = [b, f]x[i, o]->[b, f], window = {stride = [], pad = []} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<4x2xf32>, tensor<2x1xf32>) -> tensor<4x1xf32>
  return %0 : tensor<4x1xf32>
}

// -----

// a convolution with one window, which is a partial sum, and a sharded result
// 1 all_gather, 1 all_reduce
sdy.mesh @mesh = <["x"=4, "y"=2], device_ids=[7, 1, 2, 3, 4, 5, 6, 0]>
func.func @main(%a: tensor<1x16x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {}]>}, %b: tensor<16x2x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}, {}]>}) -> (tensor<1x1x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}, {}]>}) {
  %0 = stablehlo.convolution(%a, %b) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x16x2xf32>, tensor<16x2x2xf32>) -> tensor<1x1x2xf32>
  return %0 : tensor<1x1x2xf32>
}

// -----

// a scatter without indices, whose updates are in uneven shards: every update counts on every device
// 1 all_gather
sdy.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<6x4xf32>, %i: tensor<10x0xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %u: tensor<10x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<6x4xf32>) {
  %0 = "stablehlo.scatter"(%a, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %m = stablehlo.add %p, %q : tensor<f32>
    stablehlo.return %m : tensor<f32>
  }) : (tensor<6x4xf32>, tensor<10x0xi32>, tensor<10x4xf32>) -> tensor<6x4xf32>
  return %0 : tensor<6x4xf32>
}

// -----

// products that are partial along "y", and declared partial along "x" too
// 1 all_reduce
sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func @main(%a: tensor<6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>}) -> (tensor<f32>) {
  %0 = stablehlo.dot_general %a, %a, contracting_dims = [0] x [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [], unreduced={"x"}>]>} : (tensor<6xf32>, tensor<6xf32>) -> tensor<f32>
  %r = sdy.reshard %0 <@mesh, []> : tensor<f32>
  return %r : tensor<f32>
}

// -----

// products along a sub-axis that cannot coexist with the declared one
// 1 all_reduce
sdy.mesh @mesh = <["x"=12]>
func.func @main(%a: tensor<12xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x":(4)3}]>}) -> (tensor<f32>) {
  %0 = stablehlo.dot_general %a, %a, contracting_dims = [0] x [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [], unreduced={"x":(3)4}>]>} : (tensor<12xf32>, tensor<12xf32>) -> tensor<f32>
  %r = sdy.reshard %0 <@mesh, []> : tensor<f32>
  return %r : tensor<f32>
}

// -----

// a convolution whose batch groups are in uneven shards, and whose features are summed over devices
// 3 all_gather, 1 all_reduce
sdy.mesh @mesh = <["x"=4, "y"=2]>
func.func @main(%a: tensor<6x4xf32>, %b: tensor<4x6xf32>) -> (tensor<3x6xf32>) {
  %aa = sdy.sharding_constraint %a <@mesh, [{"x"}, {"y"}]> : tensor<6x4xf32>
  %bb = sdy.sharding_constraint %b <@mesh, [{"y"}, {"x"}]> : tensor<4x6xf32>
  %0 = stablehlo.convolution(%aa, %bb) dim_numbers = [b, f]x[i, o]->[b, f], window = {stride = [], pad = []} {batch_group_count = 2 : i64, feature_group_count = 1 : i64} : (tensor<6x4xf32>, tensor<4x6xf32>) -> tensor<3x6xf32>
  return %0 : tensor<3x6xf32>
}

// -----

// groups of one input feature, along which the kernel is sharded
// 1 all_gather
sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func @main(%a: tensor<1x6x4xf32>, %b: tensor<3x1x20xf32>) -> (tensor<1x6x20xf32>) {
  %aa = sdy.sharding_constraint %a <@mesh, [{}, {"y"}, {}]> : tensor<1x6x4xf32>
  %bb = sdy.sharding_constraint %b <@mesh, [{}, {"y"}, {"x"}]> : tensor<3x1x20xf32>
  %0 = stablehlo.convolution(%aa, %bb) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {stride = [1], pad = [[1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 4 : i64} : (tensor<1x6x4xf32>, tensor<3x1x20xf32>) -> tensor<1x6x20xf32>
  %out = sdy.sharding_constraint %0 <@mesh, [{}, {}, {"x"}]> : tensor<1x6x20xf32>
  return %out : tensor<1x6x20xf32>
}

// -----

// a reduction whose result is on a mesh without axes
// 1 all_reduce
sdy.mesh @mesh = <["x"=2]>
sdy.mesh @empty = <[]>
func.func @main(%a: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}) -> (tensor<4xf32>) {
  %c = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = "stablehlo.reduce"(%a, %c) <{dimensions = array<i64: 1>}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %m = stablehlo.add %p, %q : tensor<f32>
    stablehlo.return %m : tensor<f32>
  }) {sdy.sharding = #sdy.sharding_per_value<[<@empty, [{}]>]>} : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// a reduce-scatter along axes in another order than in the mesh, which moves the borders of shards
// 1 all_gather, 1 all_reduce, 1 collective_permute
sdy.mesh @mesh = <["x"=2, "y"=2, "z"=2]>
func.func @main(%a: tensor<3x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x", "y"}]>}, %b: tensor<4x5xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}, {}]>}) -> (tensor<3x5xf32>) {
  %bb = sdy.sharding_constraint %b <@mesh, [{"x", "y"}, {"z"}]> : tensor<4x5xf32>
  %0 = stablehlo.dot_general %a, %bb, contracting_dims = [1] x [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"z"}]>]>} : (tensor<3x4xf32>, tensor<4x5xf32>) -> tensor<3x5xf32>
  %1 = sdy.sharding_constraint %0 <@mesh, [{"y"}, {"z", "x"}]> : tensor<3x5xf32>
  %2 = stablehlo.negate %1 : tensor<3x5xf32>
  return %2 : tensor<3x5xf32>
}

// -----

// a product of partial results along a sub-axis of the axis that shards the other factor
// 1 all_gather, 2 all_reduce
sdy.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<8xf32>, %b: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> (tensor<8xf32>) {
  %n = stablehlo.negate %a : tensor<8xf32>
  %p = sdy.sharding_constraint %n <@mesh, [{}], unreduced={"x"}> : tensor<8xf32>
  %0 = stablehlo.multiply %p, %b {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}], unreduced={"x":(1)2}>]>} : tensor<8xf32>
  %r = sdy.reshard %0 <@mesh, [{}]> : tensor<8xf32>
  return %r : tensor<8xf32>
}

// -----

// a reversal of no elements
// no collectives
sdy.mesh @mesh = <["x"=2]>
func.func @main(%a: tensor<0x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<0x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  %0 = stablehlo.reverse %a, dims = [0] : tensor<0x4xf32>
  return %0 : tensor<0x4xf32>
}

// -----

// a reduce-scatter of no elements
// no collectives
sdy.mesh @mesh = <["x"=2]>
func.func @main(%a: tensor<0x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}, %b: tensor<4x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<0x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<0x4xf32>, tensor<4x2xf32>) -> tensor<0x2xf32>
  return %0 : tensor<0x2xf32>
}

// -----

// a call with shardings of its own, which moves data before and after it
// 2 all_to_all
sdy.mesh @mesh = <["x"=4]>
func.func private @f(%v: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}) -> (tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}) {
  %cst = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%v init: %cst) applies stablehlo.add across dimensions = [0] : (tensor<8x4xf32>, tensor<f32>) -> tensor<4xf32>
  %1 = stablehlo.broadcast_in_dim %0, dims = [1] : (tensor<4xf32>) -> tensor<8x4xf32>
  %2 = stablehlo.multiply %1, %v : tensor<8x4xf32>
  return %2 : tensor<8x4xf32>
}
func.func @main(%a: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  %0 = call @f(%a) : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// -----

// a gather along a part of an axis, after which shards have other borders
// 1 all_gather, 1 collective_permute
sdy.mesh @mesh = <["x"=4, "y"=2]>
func.func @main(%a: tensor<6x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}]>}) -> (tensor<6x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x":(1)2}, {"y"}]>}) {
  %0 = sdy.sharding_constraint %a <@mesh, [{"x"}, {"y"}]> : tensor<6x4xf32>
  %1 = stablehlo.negate %0 : tensor<6x4xf32>
  %2 = sdy.sharding_constraint %1 <@mesh, [{"x":(1)2}, {"y"}]> : tensor<6x4xf32>
  return %2 : tensor<6x4xf32>
}

// -----

// a slice along a part of an axis, after which shards have other borders
// 1 all_gather, 2 collective_permute
sdy.mesh @mesh = <["x"=4, "y"=2]>
func.func @main(%a: tensor<10x4xf32>) -> tensor<10x4xf32> {
  %0 = sdy.sharding_constraint %a <@mesh, [{"y"}, {}]> : tensor<10x4xf32>
  %1 = stablehlo.negate %0 : tensor<10x4xf32>
  %2 = sdy.sharding_constraint %1 <@mesh, [{"y"}, {}]> : tensor<10x4xf32>
  %3 = sdy.sharding_constraint %2 <@mesh, [{"y", "x"}, {}]> : tensor<10x4xf32>
  %4 = stablehlo.negate %3 : tensor<10x4xf32>
  return %4 : tensor<10x4xf32>
}

// -----

// an all-to-all that moves the borders of shards of both dimensions
// 1 all_gather, 1 all_to_all, 4 collective_permute
sdy.mesh @mesh = <["x"=2, "y"=2, "z"=2]>
func.func @main(%a: tensor<6x10xf32>) -> tensor<6x10xf32> {
  %0 = sdy.sharding_constraint %a <@mesh, [{"x", "y"}, {"z"}]> : tensor<6x10xf32>
  %1 = stablehlo.negate %0 : tensor<6x10xf32>
  %2 = sdy.sharding_constraint %1 <@mesh, [{"x", "y"}, {"z"}]> : tensor<6x10xf32>
  %3 = sdy.sharding_constraint %2 <@mesh, [{"x"}, {"z", "y"}]> : tensor<6x10xf32>
  %4 = stablehlo.negate %3 : tensor<6x10xf32>
  return %4 : tensor<6x10xf32>
}

// -----

// halos as large as the dimension, along a part of an axis: only this dimension is gathered
// 2 all_gather, 1 collective_permute
sdy.mesh @mesh = <["x"=8, "y"=2]>
func.func @main(%a: tensor<3x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}]>}) -> tensor<3x4xf32> {
  %0 = sdy.sharding_constraint %a <@mesh, [{"x"}, {"y"}]> : tensor<3x4xf32>
  %1 = stablehlo.negate %0 : tensor<3x4xf32>
  %2 = sdy.sharding_constraint %1 <@mesh, [{"x":(1)2}, {"y"}]> : tensor<3x4xf32>
  %3 = stablehlo.negate %2 : tensor<3x4xf32>
  return %3 : tensor<3x4xf32>
}

// -----

// a reshape of 6 heads on 4 devices
// 2 collective_permute
sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%a: tensor<4x24xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}) -> (tensor<4x24xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}) {
  %0 = stablehlo.reshape %a : (tensor<4x24xf32>) -> tensor<4x6x4xf32>
  %1 = sdy.sharding_constraint %0 <@mesh, [{"x"}, {"y"}, {}]> : tensor<4x6x4xf32>
  %2 = stablehlo.negate %1 : tensor<4x6x4xf32>
  %3 = sdy.sharding_constraint %2 <@mesh, [{"x"}, {"y"}, {}]> : tensor<4x6x4xf32>
  %4 = stablehlo.reshape %3 : (tensor<4x6x4xf32>) -> tensor<4x24xf32>
  return %4 : tensor<4x24xf32>
}

// -----

// a reshape to heads that are sharded along a part of an axis
// 2 all_gather
sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%a: tensor<4x24xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}) -> (tensor<4x6x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y":(1)2}, {}]>}, tensor<4x6x4xf32>) {
  %0 = stablehlo.reshape %a : (tensor<4x24xf32>) -> tensor<4x6x4xf32>
  %1 = stablehlo.negate %0 : tensor<4x6x4xf32>
  return %1, %0 : tensor<4x6x4xf32>, tensor<4x6x4xf32>
}

// -----

// a slice of a padded tensor, which is a pad
// 1 collective_permute
sdy.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  %v = stablehlo.constant dense<3.0> : tensor<f32>
  %0 = stablehlo.pad %a, %v, low = [1, 0], high = [2, 2], interior = [0, 1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<11x9xf32>
  %1 = stablehlo.slice %0 [0:8, 3:7] : (tensor<11x9xf32>) -> tensor<8x4xf32>
  return %1 : tensor<8x4xf32>
}

// -----

// a gradient of a depthwise convolution, with rows and features of the image sharded
// 1 all_reduce, 2 collective_permute
sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func @main(%x: tensor<2x8x4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}, {}, {"y"}]>}, %g: tensor<2x8x4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}, {}, {"y"}]>}) -> tensor<3x3x1x4xf32> {
  %0 = stablehlo.convolution(%x, %g) dim_numbers = [f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f], window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 4 : i64, feature_group_count = 1 : i64} : (tensor<2x8x4x4xf32>, tensor<2x8x4x4xf32>) -> tensor<3x3x1x4xf32>
  return %0 : tensor<3x3x1x4xf32>
}

// -----

// a convolution with groups of batches and rows that are sharded
// 2 collective_permute
sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func @main(%x: tensor<8x8x4x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}, {}, {}]>}, %k: tensor<3x3x2x4xf32>) -> tensor<2x8x4x4xf32> {
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 4 : i64, feature_group_count = 1 : i64} : (tensor<8x8x4x2xf32>, tensor<3x3x2x4xf32>) -> tensor<2x8x4x4xf32>
  return %0 : tensor<2x8x4x4xf32>
}

// -----

// a loop that gathers what does not change in it
// 1 all_gather
sdy.mesh @mesh = <["x"=4]>
func.func @main(%w: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %x: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<4x8xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %r:3 = stablehlo.while(%i = %zero, %v = %w, %y = %x) : tensor<i32>, tensor<8x8xf32>, tensor<4x8xf32>
   cond {
    %n = stablehlo.constant dense<3> : tensor<i32>
    %p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %0 = sdy.sharding_constraint %v <@mesh, [{}, {}]> : tensor<8x8xf32>
    %1 = stablehlo.dot_general %y, %0, contracting_dims = [1] x [0] : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
    %2 = stablehlo.minimum %1, %x : tensor<4x8xf32>
    %j = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %j, %v, %2 : tensor<i32>, tensor<8x8xf32>, tensor<4x8xf32>
  }
  return %r#2 : tensor<4x8xf32>
}

// -----

// a sum of products, and of what has no partial results
// 1 all_reduce
sdy.mesh @mesh = <["x"=4, "y"=2]>
func.func @main(%a: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}, %b: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %c: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %d: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<8x16xf32>, tensor<16x8xf32>) -> tensor<8x8xf32>
  %1 = stablehlo.dot_general %a, %c, contracting_dims = [1] x [0] : (tensor<8x16xf32>, tensor<16x8xf32>) -> tensor<8x8xf32>
  %2 = stablehlo.transpose %1, dims = [1, 0] : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %3 = stablehlo.add %0, %d : tensor<8x8xf32>
  %4 = stablehlo.add %3, %2 : tensor<8x8xf32>
  return %4 : tensor<8x8xf32>
}

// -----

// a product that is summed along two axes and sharded along one of them
// 1 all_reduce, 1 reduce_scatter
sdy.mesh @mesh = <["x"=2, "y"=2, "z"=2]>
func.func @main(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x", "y"}]>}, %b: tensor<8x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}, {"z"}]>}) -> (tensor<8x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {"z"}]>}) {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x6xf32>) -> tensor<8x6xf32>
  return %0 : tensor<8x6xf32>
}

// -----

// an uneven sum of gathers and products, of which slices are reduced
// 1 all_gather, 1 all_reduce
sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%a: tensor<5x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}, %b: tensor<8x7xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %c: tensor<8x7xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<5x7xf32> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<5x8xf32>, tensor<8x7xf32>) -> tensor<5x7xf32>
  %1 = stablehlo.dot_general %a, %c, contracting_dims = [1] x [0] : (tensor<5x8xf32>, tensor<8x7xf32>) -> tensor<5x7xf32>
  %2 = sdy.sharding_constraint %0 <@mesh, [{"y"}, {}]> : tensor<5x7xf32>
  %3 = sdy.sharding_constraint %1 <@mesh, [{"y"}, {}]> : tensor<5x7xf32>
  %4 = stablehlo.add %2, %3 : tensor<5x7xf32>
  return %4 : tensor<5x7xf32>
}

// -----

// a sum of an all-reduced product inside of a loop and one before it
// 2 reduce_scatter
sdy.mesh @mesh = <["x"=2]>
func.func @main(%a: tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}, %b: tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<4x4xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %p = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %r:2 = stablehlo.while(%i = %zero, %y = %b) : tensor<i32>, tensor<4x4xf32>
   cond {
    %n = stablehlo.constant dense<2> : tensor<i32>
    %t = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %t : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %1 = stablehlo.dot_general %a, %y, contracting_dims = [1] x [0] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %2 = stablehlo.add %1, %p : tensor<4x4xf32>
    %j = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %j, %2 : tensor<i32>, tensor<4x4xf32>
  }
  return %r#1 : tensor<4x4xf32>
}

// -----

// a row of a sharded tensor, which all devices need
// 1 all_reduce, 1 collective_permute
sdy.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<1x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) {
  %0 = stablehlo.slice %a [5:6, 0:4] : (tensor<8x4xf32>) -> tensor<1x4xf32>
  %1 = stablehlo.negate %0 : tensor<1x4xf32>
  return %1 : tensor<1x4xf32>
}

// -----

// a reshard between meshes of the same devices
// 1 all_to_all
sdy.mesh @first = <["x"=8]>
sdy.mesh @second = <["a"=2, "b"=4]>
func.func @main(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@first, [{"x"}, {}]>}) -> tensor<8x8xf32> {
  %0 = stablehlo.negate %a : tensor<8x8xf32>
  %1 = sdy.sharding_constraint %0 <@second, [{"a"}, {"b"}]> : tensor<8x8xf32>
  %2 = stablehlo.add %1, %1 : tensor<8x8xf32>
  return %2 : tensor<8x8xf32>
}

// -----

// a product with few terms, whose operands are gathered
// 1 all_gather
sdy.mesh @mesh = <["x"=4, "y"=2]>
func.func @main(%a: tensor<8x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}, %b: tensor<2x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) -> (tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<8x2xf32>, tensor<2x16xf32>) -> tensor<8x16xf32>
  return %0 : tensor<8x16xf32>
}

// -----

// the sharded gradient of a table that is looked up and multiplied with
// 1 reduce_scatter
sdy.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, %b: tensor<16x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %c: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  %i = stablehlo.iota dim = 0 : tensor<16x1xi32>
  %0 = "stablehlo.scatter"(%a, %i, %b) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%l: tensor<f32>, %r: tensor<f32>):
    %s = stablehlo.add %l, %r : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>} : (tensor<8x4xf32>, tensor<16x1xi32>, tensor<16x4xf32>) -> tensor<8x4xf32>
  %1 = stablehlo.dot_general %c, %b, contracting_dims = [0] x [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>} : (tensor<16x8xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
  %2 = stablehlo.add %0, %1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>} : tensor<8x4xf32>
  return %2 : tensor<8x4xf32>
}
