// RUN: sdy-opt %s -split-input-file -verify-diagnostics -allow-unregistered-dialect

// expected-error @+1 {{'func.func' op arg 0 - unknown mesh: @mesh}}
func.func private @argument(tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>})

// -----

// expected-error @+1 {{'func.func' op result 1 - should have a sharding attribute of type TensorShardingAttr}}
func.func private @result() -> (i32, tensor<8xf32> {sdy.sharding = #sdy.sharding_per_value<[]>})

// -----

func.func @kind(%arg: tensor<8xf32>) {
  // expected-error @+1 {{'stablehlo.negate' op should have a sharding attribute of type TensorShardingPerValueAttr}}
  %0 = stablehlo.negate %arg {sdy.sharding = #sdy.sharding<mesh<["x"=2]>, [{"x"}]>} : tensor<8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2]>

func.func @number_of_shardings(%arg: tensor<8xf32>) {
  // expected-error @+1 {{'stablehlo.negate' op result shardings don't match number of values: 2 shardings vs 1 values}}
  %0 = stablehlo.negate %arg {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}]>, <@mesh, [{}]>]>} : tensor<8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2]>

// The index of a result, if there are several.
func.func @which_result(%arg: tensor<8xf32>) {
  // expected-error @+1 {{'test.op' op result 1 - sharding doesn't match tensor rank: 2 != 1}}
  %0:2 = "test.op"(%arg) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}]>, <@mesh, [{}, {}]>]>} : (tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
  return
}

// -----

sdy.mesh @mesh = <["x"=2]>

func.func @unknown_axis(%arg: tensor<8xf32>) {
  // expected-error @+1 {{unknown axis name: "y"}}
  %0 = sdy.sharding_constraint %arg <@mesh, [{"x", "y"}]> : tensor<8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=2]>

func.func @axis_twice(%arg: tensor<8x8xf32>) {
  // expected-error @+1 {{duplicate axis ref: "x"}}
  %0 = sdy.sharding_constraint %arg <@mesh, [{"x"}, {"y"}], replicated={"x"}> : tensor<8x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=8]>

func.func @neighbors(%arg: tensor<8xf32>) {
  // expected-error @+1 {{two consecutive sub-axes can be merged: "x":(1)2, "x":(2)4}}
  %0 = sdy.sharding_constraint %arg <@mesh, [{"x":(1)2, "x":(2)4}]> : tensor<8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=8]>

func.func @overlap(%arg: tensor<8x8xf32>) {
  // expected-error @+1 {{overlapping sub-axes: "x":(1)4, "x":(2)4}}
  %0 = sdy.sharding_constraint %arg <@mesh, [{"x":(2)4}, {"x":(1)4}]> : tensor<8x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=8]>

func.func @part_and_whole(%arg: tensor<8x8xf32>) {
  // expected-error @+1 {{both sub-axis and full-axis are used for axis name: "x"}}
  %0 = sdy.sharding_constraint %arg <@mesh, [{"x"}, {"x":(1)4}]> : tensor<8x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=8]>

func.func @does_not_divide(%arg: tensor<8xf32>) {
  // expected-error @+1 {{sub-axis next pre-size 6 doesn't divide the size of the full axis 8: "x":(2)3}}
  %0 = sdy.sharding_constraint %arg <@mesh, [{"x":(2)3}]> : tensor<8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=8]>

func.func @whole_axis_as_part(%arg: tensor<8xf32>) {
  // expected-error @+1 {{sub-axis size is equal to the full axis size: "x":(1)8}}
  %0 = sdy.sharding_constraint %arg <@mesh, [{"x":(1)8}]> : tensor<8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=8]>

func.func @part_of_size_1(%arg: tensor<8xf32>) {
  // expected-error @+1 {{sub-axis sizes must be greater than 1: "x":(2)1}}
  %0 = sdy.sharding_constraint %arg <@mesh, [{"x":(2)1}]> : tensor<8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=8]>

func.func @pre_size(%arg: tensor<8xf32>) {
  // expected-error @+1 {{sub-axis pre-size must be at least 1: "x":(0)2}}
  %0 = sdy.sharding_constraint %arg <@mesh, [{"x":(0)2}]> : tensor<8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=2]>

func.func @order_of_the_mesh(%arg: tensor<8xf32>) {
  // expected-error @+1 {{replicated axes are not ordered w.r.t. mesh}}
  %0 = sdy.sharding_constraint %arg <@mesh, [{}], replicated={"y", "x"}> : tensor<8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=8, "y"=2]>

// Nor have two axes an order that are not in the mesh.
func.func @order_of_unknown_axes(%arg: tensor<8xf32>) {
  // expected-error @+1 {{replicated axes are not ordered w.r.t. mesh}}
  %0 = sdy.sharding_constraint %arg <@mesh, [{}], replicated={"v", "w"}> : tensor<8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=8]>

// Sub-axes of one axis must be in order.
func.func @order_within_an_axis(%arg: tensor<8xf32>) {
  // expected-error @+1 {{unreduced axes are not ordered w.r.t. mesh}}
  %0 = sdy.sharding_constraint %arg <@mesh, [{}], unreduced={"x":(4)2, "x":(1)2}> : tensor<8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2]>

func.func @useless_priority(%arg: tensor<8xf32>) {
  // expected-error @+1 {{dim 0 is empty and closed but has a priority}}
  %0 = sdy.sharding_constraint %arg <@mesh, [{}p1]> : tensor<8xf32>
  return
}

// -----

func.func @maximal(%arg: tensor<8xf32>) {
  // expected-error @+1 {{a single-device sharding can only have a sharding with rank 0 and no replicated or unreduced axes.}}
  %0 = sdy.sharding_constraint %arg <mesh<[], device_ids=[1]>, [{}]> : tensor<8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2]>

func.func @not_shaped(%arg: i32) {
  // expected-error @+1 {{non-shaped tensors can only have a sharding with rank 0 and no replicated or unreduced axes. type: 'i32', sharding: #sdy.sharding<@mesh, [{"x"}]>}}
  %0 = sdy.sharding_constraint %arg <@mesh, [{"x"}]> : i32
  return
}

// -----

sdy.mesh @mesh = <["x"=2]>

func.func @unranked(%arg: tensor<*xf32>) {
  // expected-error @+1 {{only ranked tensors can have a sharding. type: 'tensor<*xf32>'}}
  %0 = sdy.sharding_constraint %arg <@mesh, []> : tensor<*xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2]>

func.func @tuple(%arg: tensor<8xf32>) {
  // expected-error @+1 {{'test.op' op result - ops can only have a sharding for a tuple of size 1: 'tuple<i32, f32>'}}
  %0 = "test.op"(%arg) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, []>]>} : (tensor<8xf32>) -> tuple<i32, f32>
  return
}
