// RUN: sdy-opt %s -test-mesh-resharding-spmdization -split-input-file -verify-diagnostics

mesh.mesh @line(shape = 3)
func.func @split(%t: tensor<4x9xf32>) -> tensor<4x9xf32> {
  %0 = mesh.shard %t to <@line, [[]]> : tensor<4x9xf32>
  // expected-error @+1 {{Operand dimension size 4 is not divisible by collective device group size 3 for tensor axis 0.}}
  %1 = mesh.shard %0 to <@line, [[0]]> annotate_for_users : tensor<4x9xf32>
  return %1 : tensor<4x9xf32>
}

// -----

mesh.mesh @line(shape = 3)
func.func @unsplit(%t: tensor<4x9xf32>) -> tensor<4x9xf32> {
  // expected-error @+1 {{dimension 0 of size 4 is not divisible by the shard count 3}}
  %0 = mesh.shard %t to <@line, [[0]]> : tensor<4x9xf32>
  %1 = mesh.shard %0 to <@line, [[]]> annotate_for_users : tensor<4x9xf32>
  return %1 : tensor<4x9xf32>
}

// -----

// A reshard cannot make a tensor partial.
mesh.mesh @line(shape = 3)
func.func @to_partial(%t: tensor<4x9xf32>) -> tensor<4x9xf32> {
  %0 = mesh.shard %t to <@line, [[]]> : tensor<4x9xf32>
  // expected-error @+1 {{cannot reshard to a partial sharding}}
  %1 = mesh.shard %0 to <@line, [[]], partial = sum[0]> annotate_for_users : tensor<4x9xf32>
  return %1 : tensor<4x9xf32>
}

// -----

// The mesh is looked up in this pass.
func.func @no_mesh(%t: tensor<4x9xf32>) -> tensor<4x9xf32> {
  // expected-error @+1 {{Undefined required mesh symbol "nowhere".}}
  %0 = mesh.shard %t to <@nowhere, [[0]]> : tensor<4x9xf32>
  %1 = mesh.shard %0 to <@nowhere, [[]]> annotate_for_users : tensor<4x9xf32>
  return %1 : tensor<4x9xf32>
}

// -----

mesh.mesh @line(shape = 3)
func.func @no_axis(%t: tensor<4x9xf32>) -> tensor<4x9xf32> {
  // expected-error @+1 {{0-based mesh axis index 7 is out of bounds. The referenced mesh "line" is of rank 1.}}
  %0 = mesh.shard %t to <@line, [[7]]> : tensor<4x9xf32>
  %1 = mesh.shard %0 to <@line, [[]]> annotate_for_users : tensor<4x9xf32>
  return %1 : tensor<4x9xf32>
}

// -----

// A sharding has axes of its mesh.
mesh.mesh @line(shape = 3)
func.func @no_axis(%t: tensor<4x9xf32>) -> tensor<4x9xf32> {
  %0 = mesh.shard %t to <@line, [[]]> : tensor<4x9xf32>
  // expected-error @+1 {{0-based mesh axis index 4 is out of bounds. The referenced mesh "line" is of rank 1.}}
  %1 = mesh.shard %0 to <@line, [[4]]> annotate_for_users : tensor<4x9xf32>
  return %1 : tensor<4x9xf32>
}
