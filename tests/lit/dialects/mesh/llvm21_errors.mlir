// RUN: sdy-opt %s -mesh-version=21 -split-input-file -verify-diagnostics

mesh.mesh @g(shape = 2x3)
func.func @brackets(%t: tensor<6x4xf32>) {
  // expected-error @+2 {{expected valid keyword}}
  // expected-error @+1 {{failed to parse Mesh_ReductionKindAttr parameter 'value'}}
  %0 = mesh.all_reduce %t on @g mesh_axes = [0] reduction = <max> : tensor<6x4xf32> -> tensor<6x4xf32>
  return
}

// -----

// An empty list of axis lists.
mesh.mesh @g(shape = 2x3)
func.func @no_lists() {
  // expected-error @+2 {{expected '['}}
  // expected-error @+1 {{failed to parse Mesh_MeshAxesArrayAttr parameter 'axes'}}
  %0 = mesh.sharding @g split_axes = [] : !mesh.sharding
  return
}

// -----

mesh.mesh @g(shape = 2x3)
func.func @halos_and_offsets() {
  // expected-error @+1 {{halo sizes and shard offsets are mutually exclusive}}
  %0 = mesh.sharding @g split_axes = [[0]] halo_sizes = [1, 1] sharded_dims_offsets = [0, 3, 6] : !mesh.sharding
  return
}

// -----

// A split dimension has two halo sizes.
mesh.mesh @g(shape = 2x3)
func.func @halo_count() {
  // expected-error @+1 {{halo sizes must be specified for all split axes.}}
  %0 = mesh.sharding @g split_axes = [[0], [], [1]] halo_sizes = [1, 1] : !mesh.sharding
  return
}

// -----

mesh.mesh @line(shape = 4)
func.func @offsets_order() {
  // expected-error @+1 {{sharded dims offsets must be non-decreasing.}}
  %0 = mesh.sharding @line split_axes = [[0]] sharded_dims_offsets = [0, 3, 2, 6, 8] : !mesh.sharding
  return
}

// -----

mesh.mesh @d(shape = 2x?)
func.func @offsets_on_dynamic_mesh() {
  // expected-error @+1 {{sharded dims offsets are not allowed for devices meshes with dynamic shape.}}
  %0 = mesh.sharding @d split_axes = [[0]] sharded_dims_offsets = [0, 3, 6] : !mesh.sharding
  return
}

// -----

mesh.mesh @line(shape = 4)
func.func @rank_zero(%s: tensor<f32>) {
  // expected-error @+1 {{'result' must be non-0-ranked.memref of any type values or non-0-ranked.tensor of any type values, but got 'tensor<f32>'}}
  %0 = mesh.update_halo %s on @line split_axes = [[0]] : tensor<f32>
  return
}

// -----

mesh.mesh @mesh0(shape = 4)
func.func @decreasing_offsets() {
  // expected-error @+1 {{sharded dims offsets must be non-decreasing.}}
  %s = mesh.sharding @mesh0 split_axes = [[0]] sharded_dims_offsets = [0, 2, 3, 2] : !mesh.sharding
  return
}
