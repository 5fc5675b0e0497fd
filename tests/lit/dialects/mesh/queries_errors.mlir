// RUN: sdy-opt %s -split-input-file -verify-diagnostics

mesh.mesh @g(shape = 2x3)
func.func @an_axis_too_many() {
  // expected-error @+1 {{0-based mesh axis index 2 is out of bounds. The referenced mesh "g" is of rank 2.}}
  %0 = mesh.mesh_shape @g axes = [2] : index
  return
}

// -----

mesh.mesh @g(shape = 2x3)
func.func @an_axis_twice() {
  // expected-error @+1 {{Mesh axes contains duplicate elements.}}
  %0:2 = mesh.process_multi_index on @g axes = [1, 1] : index, index
  return
}

// -----

// One result per listed axis, or per axis of the mesh.
mesh.mesh @g(shape = 2x3)
func.func @results() {
  // expected-error @+1 {{Unexpected number of results 1. Expected 2.}}
  %0 = mesh.mesh_shape @g : index
  return
}

// -----

// A symbol that is no mesh.
func.func @f() {
  // expected-error @+1 {{Undefined required mesh symbol "f".}}
  %0 = mesh.process_linear_index on @f : index
  return
}

// -----

mesh.mesh @g(shape = 2x3)
func.func @nested() {
  // expected-error @+1 {{invalid kind of attribute specified}}
  %0 = mesh.process_linear_index on @g::@h : index
  return
}

// -----

mesh.mesh @g(shape = 2x3)
func.func @result_type() {
  // expected-error @+1 {{result #1 must be variadic of index, but got 'i32'}}
  %0:2 = mesh.mesh_shape @g : index, i32
  return
}
