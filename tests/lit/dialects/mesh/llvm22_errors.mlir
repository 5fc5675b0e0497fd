// RUN: sdy-opt %s -mesh-version=22 -split-input-file -verify-diagnostics

shard.grid @g(shape = 2x3)
func.func @rank(%t: tensor<6x4xf32>) {
  // expected-error @+1 {{0-based grid axis index 2 is out of bounds. The referenced grid "g" is of rank 2.}}
  %0 = shard.all_reduce %t on @g grid_axes = [2] : tensor<6x4xf32> -> tensor<6x4xf32>
  return
}

// -----

func.func @no_grid(%t: tensor<6x4xf32>) {
  // expected-error @+1 {{Undefined required grid symbol "my_mesh".}}
  %0 = shard.all_reduce %t on @my_mesh grid_axes = [0] : tensor<6x4xf32> -> tensor<6x4xf32>
  return
}

// -----

shard.grid @g(shape = 2x3)
func.func @twice(%t: tensor<6x4xf32>) {
  // expected-error @+1 {{Grid axes contains duplicate elements.}}
  %0 = shard.all_reduce %t on @g grid_axes = [0, 0] : tensor<6x4xf32> -> tensor<6x4xf32>
  return
}

// -----

shard.grid @g(shape = 2x3)
func.func @axis_twice() {
  // expected-error @+1 {{grid axis duplicated}}
  %0 = shard.sharding @g split_axes = [[0], [0]] : !shard.sharding
  return
}

// -----

shard.grid @g(shape = 2x3)
func.func @brackets(%t: tensor<6x4xf32>) {
  // expected-error @+2 {{expected valid keyword or string}}
  // expected-error @+1 {{failed to parse Shard_ReductionKindAttr parameter 'value'}}
  %0 = shard.all_reduce %t on @g grid_axes = [0] reduction = <max> : tensor<6x4xf32> -> tensor<6x4xf32>
  return
}

// -----

// A sharding is a value.
shard.grid @g(shape = 2x3)
func.func @sharding_in_place(%t: tensor<6x4xf32>) {
  // expected-error @+1 {{expected SSA operand}}
  %0 = shard.shard %t to <@g, [[0]]> : tensor<6x4xf32>
  return
}

// -----

// There are no partial shardings.
shard.grid @g(shape = 2x3)
func.func @partial() {
  // expected-error @+1 {{expected ':'}}
  %0 = shard.sharding @g split_axes = [[0]] partial = max [1] : !shard.sharding
  return
}

// -----

shard.grid @g(shape = 2x3)
func.func @unranked(%t: tensor<*xf32>) {
  // expected-error @+1 {{invalid kind of type specified: expected builtin.index, but found 'i32'}}
  %0 = shard.process_linear_index on @g : i32
  return
}

// -----

// expected-error @+1 {{dimension size of a grid is expected to be non-negative or dynamic}}
"shard.grid"() <{shape = array<i64: -2>, sym_name = "g"}> : () -> ()

// -----

func.func @type(%s: !shard.foo) {  // expected-error {{unknown  type `foo` in dialect `shard`}}
  return
}
