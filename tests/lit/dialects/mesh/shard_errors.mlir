// RUN: sdy-opt %s -split-input-file -verify-diagnostics

func.func @axis_twice(%t: tensor<6x4xf32>) {
  // expected-error @+1 {{mesh axis duplicated}}
  %0 = mesh.shard %t to <@g, [[0], [1, 0]]> : tensor<6x4xf32>
  return
}

// -----

// Partial axes must not be split axes.
func.func @partial_axis_taken(%t: tensor<6x4xf32>) {
  // expected-error @+1 {{mesh axis duplicated}}
  %0 = mesh.shard %t to <@g, [[0]], partial = max[0]> : tensor<6x4xf32>
  return
}

// -----

func.func @negative(%t: tensor<6x4xf32>) {
  // expected-error @+1 {{mesh axis is expected to be non-negative}}
  %0 = mesh.shard %t to <@g, [[-1]]> : tensor<6x4xf32>
  return
}

// -----

// The axes of each dimension are a list.
func.func @flat(%t: tensor<6x4xf32>) {
  // expected-error @+2 {{expected '['}}
  // expected-error @+1 {{failed to parse MeshSharding parameter 'split_axes'}}
  %0 = mesh.shard %t to <@g, [0]> : tensor<6x4xf32>
  return
}

// -----

func.func @kind(%t: tensor<6x4xf32>) {
  // expected-error @+2 {{invalid Reduction of an iterator/mesh dimension. specification: mean}}
  // expected-error @+1 {{failed to parse MeshSharding parameter 'partial_type'}}
  %0 = mesh.shard %t to <@g, [[0]], partial = mean[1]> : tensor<6x4xf32>
  return
}

// -----

func.func @unranked(%t: tensor<*xf32>) {
  // expected-error @+1 {{invalid kind of type specified}}
  %0 = mesh.shard %t to <@g, [[0]]> : tensor<*xf32>
  return
}

// -----

func.func @no_sharding(%t: tensor<6x4xf32>) {
  // expected-error @+1 {{requires attribute 'shard'}}
  %0 = "mesh.shard"(%t) : (tensor<6x4xf32>) -> tensor<6x4xf32>
  return
}

// -----

// expected-error @+1 {{unknown attribute `sharding` in dialect `mesh`}}
func.func private @unknown() attributes {a = #mesh.sharding<@g>}
