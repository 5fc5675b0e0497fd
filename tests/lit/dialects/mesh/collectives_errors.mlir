// RUN: sdy-opt %s -split-input-file -verify-diagnostics

mesh.mesh @g(shape = 2x3)
func.func @unknown_mesh(%t: tensor<6x4xf32>) {
  // expected-error @+1 {{Undefined required mesh symbol "other".}}
  %0 = mesh.all_reduce %t on @other mesh_axes = [0] : tensor<6x4xf32> -> tensor<6x4xf32>
  return
}

// -----

// Duplicate axes are reported before axes out of bounds.
mesh.mesh @g(shape = 2x3)
func.func @duplicates_before_range(%t: tensor<6x4xf32>) {
  // expected-error @+1 {{Mesh axes contains duplicate elements.}}
  %0 = mesh.all_gather %t on @g mesh_axes = [9, 0, 0] gather_axis = 0 : tensor<6x4xf32> -> tensor<12x4xf32>
  return
}

// -----

mesh.mesh @g(shape = 2x3)
func.func @all_gather_axis(%t: tensor<6x4xf32>) {
  // expected-error @+1 {{Gather axis 2 is out of bounds [0, 2).}}
  %0 = mesh.all_gather %t on @g mesh_axes = [0] gather_axis = 2 : tensor<6x4xf32> -> tensor<12x4xf32>
  return
}

// -----

mesh.mesh @g(shape = 2x3)
func.func @all_gather_size(%t: tensor<6x4xf32>) {
  // expected-error @+1 {{Dimension size mismatch for result axis 1. Expected 24, but got 12.}}
  %0 = mesh.all_gather %t on @g mesh_axes = [0, 1] gather_axis = 1 : tensor<6x4xf32> -> tensor<6x12xf32>
  return
}

// -----

// A size that depends on a dynamic size must be dynamic.
mesh.mesh @g(shape = 2x3)
mesh.mesh @d(shape = 2x?)
func.func @all_gather_dynamic(%t: tensor<6x4xf32>) {
  // expected-error @+1 {{Dimension size mismatch for result axis 0. Expected dynamic, but got 12.}}
  %0 = mesh.all_gather %t on @d mesh_axes = [1] gather_axis = 0 : tensor<6x4xf32> -> tensor<12x4xf32>
  return
}

// -----

mesh.mesh @g(shape = 2x3)
func.func @all_gather_elements(%t: tensor<6x4xf32>) {
  // expected-error @+1 {{requires the same element type for all operands and results}}
  %0 = mesh.all_gather %t on @g mesh_axes = [0] gather_axis = 0 : tensor<6x4xf32> -> tensor<12x4xf64>
  return
}

// -----

mesh.mesh @g(shape = 2x3)
func.func @all_gather_rank(%t: tensor<6x4xf32>) {
  // expected-error @+1 {{result type has different rank than operands}}
  %0 = mesh.all_gather %t on @g mesh_axes = [0] gather_axis = 0 : tensor<6x4xf32> -> tensor<12x4x1xf32>
  return
}

// -----

mesh.mesh @g(shape = 2x3)
func.func @all_reduce_shape(%t: tensor<6x4xf32>) {
  // expected-error @+1 {{requires the same shape for all operands and results}}
  %0 = mesh.all_reduce %t on @g mesh_axes = [0] : tensor<6x4xf32> -> tensor<6x5xf32>
  return
}

// -----

mesh.mesh @g(shape = 2x3)
func.func @all_slice_indivisible(%t: tensor<6x4xf32>) {
  // expected-error @+1 {{Operand dimension size 4 is not divisible by collective device group size 3 for tensor axis 1.}}
  %0 = mesh.all_slice %t on @g mesh_axes = [1] slice_axis = 1 : tensor<6x4xf32> -> tensor<6x?xf32>
  return
}

// -----

// An axis out of bounds is reported before mismatched sizes.
mesh.mesh @g(shape = 2x3)
func.func @all_slice_axis(%t: tensor<6x4xf32>) {
  // expected-error @+1 {{Slice axis 2 is out of bounds [0, 2).}}
  %0 = mesh.all_slice %t on @g mesh_axes = [1] slice_axis = 2 : tensor<6x4xf32> -> tensor<6x4xf32>
  return
}

// -----

mesh.mesh @g(shape = 2x3)
func.func @all_to_all_axes(%t: tensor<6x4xf32>) {
  // expected-error @+1 {{Concat axis -1 is out of bounds [0, 2).}}
  %0 = mesh.all_to_all %t on @g mesh_axes = [0] split_axis = 0 concat_axis = -1 : tensor<6x4xf32> -> tensor<3x8xf32>
  return
}

// -----

mesh.mesh @g(shape = 2x3)
func.func @all_to_all_split(%t: tensor<6x4xf32>) {
  // expected-error @+1 {{Dimension size mismatch for result axis 0. Expected 3, but got 6.}}
  %0 = mesh.all_to_all %t on @g mesh_axes = [0] split_axis = 0 concat_axis = 1 : tensor<6x4xf32> -> tensor<6x8xf32>
  return
}

// -----

mesh.mesh @g(shape = 2x3)
func.func @reduce_scatter_size(%t: tensor<6x4xf32>) {
  // expected-error @+1 {{Dimension size mismatch for result axis 1. Expected 2, but got 4.}}
  %0 = mesh.reduce_scatter %t on @g mesh_axes = [0] scatter_axis = 1 : tensor<6x4xf32> -> tensor<6x4xf32>
  return
}

// -----

// Dynamic and static sizes differ.
mesh.mesh @g(shape = 2x3)
func.func @broadcast_shape(%t: tensor<6x4xf32>) {
  // expected-error @+1 {{failed to verify that all of {input, result} have same shape}}
  %0 = mesh.broadcast %t on @g mesh_axes = [0] root = [0] : (tensor<6x4xf32>) -> tensor<?x4xf32>
  return
}

// -----

mesh.mesh @g(shape = 2x3)
func.func @root_count(%t: tensor<6x4xf32>) {
  // expected-error @+1 {{In-group device "root" has unexpected multi-index size 2. Expected 1.}}
  %0 = mesh.broadcast %t on @g mesh_axes = [0] root = [0, 1] : (tensor<6x4xf32>) -> tensor<6x4xf32>
  return
}

// -----

mesh.mesh @g(shape = 2x3)
func.func @root_too_big(%t: tensor<6x4xf32>) {
  // expected-error @+1 {{Out of bounds coordinate 1 for in-group device "root". Got 2, but expected value in the range [0, 1].}}
  %0 = mesh.broadcast %t on @g mesh_axes = [1, 0] root = [2, 2] : (tensor<6x4xf32>) -> tensor<6x4xf32>
  return
}

// -----

mesh.mesh @g(shape = 2x3)
func.func @gather_size(%t: tensor<6x4xf32>) {
  // expected-error @+1 {{Dimension size mismatch for result axis 0. Expected 18, but got 6.}}
  %0 = mesh.gather %t on @g mesh_axes = [1] gather_axis = 0 root = [0] : (tensor<6x4xf32>) -> tensor<6x4xf32>
  return
}

// -----

mesh.mesh @g(shape = 2x3)
func.func @reduce_shape(%t: tensor<6x4xf32>) {
  // expected-error @+1 {{failed to verify that all of {input, result} have same shape}}
  %0 = mesh.reduce %t on @g mesh_axes = [0] root = [1] : (tensor<6x4xf32>) -> tensor<6x?xf32>
  return
}

// -----

mesh.mesh @g(shape = 2x3)
func.func @scatter_axis(%t: tensor<6x4xf32>) {
  // expected-error @+1 {{Scatter axis 2 is out of bounds [0, 2).}}
  %0 = mesh.scatter %t on @g mesh_axes = [1] scatter_axis = 2 root = [0] : (tensor<6x4xf32>) -> tensor<6x4xf32>
  return
}

// -----

mesh.mesh @g(shape = 2x3)
func.func @send_destination(%t: tensor<6x4xf32>) {
  // expected-error @+1 {{Out of bounds coordinate 1 for in-group device "destination". Got 3, but expected value in the range [0, 2].}}
  %0 = mesh.send %t on @g mesh_axes = [0, 1] destination = [1, 3] : (tensor<6x4xf32>) -> tensor<6x4xf32>
  return
}

// -----

mesh.mesh @g(shape = 2x3)
func.func @recv_source(%t: tensor<6x4xf32>) {
  // expected-error @+1 {{In-group device "source" has unexpected multi-index size 1. Expected 2.}}
  %0 = mesh.recv %t on @g mesh_axes = [0, 1] source = [0] : (tensor<6x4xf32>) -> tensor<6x4xf32>
  return
}

// -----

// The shift axis must be one of the mesh axes.
mesh.mesh @g(shape = 2x3)
func.func @shift_axis(%t: tensor<6x4xf32>) {
  // expected-error @+1 {{Invalid shift axis 0. It must be one of the grouping mesh axes.}}
  %0 = mesh.shift %t on @g mesh_axes = [1] shift_axis = 0 offset = 1 : tensor<6x4xf32> -> tensor<6x4xf32>
  return
}

// -----

// A dynamic index needs an operand.
mesh.mesh @g(shape = 2x3)
func.func @generic_marks(%t: tensor<6x4xf32>) {
  // expected-error @+1 {{number of dynamic coordinates does not match the operands}}
  %0 = "mesh.broadcast"(%t) {mesh = @g, mesh_axes = array<i16: 0>, root = array<i64: -9223372036854775808>} : (tensor<6x4xf32>) -> tensor<6x4xf32>
  return
}

// -----

mesh.mesh @g(shape = 2x3)
func.func @generic_axis_kind(%t: tensor<6x4xf32>) {
  // expected-error @+1 {{attribute 'gather_axis' failed to satisfy constraint: index attribute}}
  %0 = "mesh.all_gather"(%t) {mesh = @g, gather_axis = 0 : i64} : (tensor<6x4xf32>) -> tensor<6x4xf32>
  return
}

// -----

mesh.mesh @g(shape = 2x3)
func.func @function_type(%t: tensor<6x4xf32>) {
  // expected-error @+1 {{invalid kind of type specified}}
  %0 = mesh.all_gather %t on @g mesh_axes = [0] gather_axis = 0 : (tensor<6x4xf32>) -> tensor<12x4xf32>
  return
}

// -----

// The clauses have a fixed order.
mesh.mesh @g(shape = 2x3)
func.func @order_of_clauses(%t: tensor<6x4xf32>) {
  // expected-error @+1 {{expected ':'}}
  %0 = mesh.all_gather %t on @g gather_axis = 0 mesh_axes = [0] : tensor<6x4xf32> -> tensor<12x4xf32>
  return
}

// -----

mesh.mesh @g(shape = 2x3)
func.func @bare_kind(%t: tensor<6x4xf32>) {
  // expected-error @+1 {{expected '<'}}
  %0 = mesh.all_reduce %t on @g mesh_axes = [0] reduction = max : tensor<6x4xf32> -> tensor<6x4xf32>
  return
}

// -----

mesh.mesh @g(shape = 2x3)
func.func @axis_too_large(%t: tensor<6x4xf32>) {
  // expected-error @+1 {{integer value too large}}
  %0 = mesh.all_reduce %t on @g mesh_axes = [32768] : tensor<6x4xf32> -> tensor<6x4xf32>
  return
}
