// RUN: sdy-opt %s -split-input-file -verify-diagnostics

func.func @same_replica(%a: tensor<4xf32>) {
  // expected-error @+1 {{replica id #0 seen more than once}}
  %0 = "stablehlo.all_gather"(%a) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 0]]> : tensor<1x2xi64>}> : (tensor<4xf32>) -> tensor<8xf32>
  return
}

// -----

// Few elements of a splat are examined, however many it has.
func.func @many_same_replicas(%a: tensor<4xf32>) {
  // expected-error @+1 {{replica id #0 seen more than once}}
  %0 = "stablehlo.all_gather"(%a) <{all_gather_dim = 0 : i64, replica_groups = dense<0> : tensor<1000000x1000000000xi64>}> : (tensor<4xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @missing_replica(%a: tensor<4xf32>) {
  // expected-error @+1 {{replica id #1 not seen in replica groups}}
  %0 = "stablehlo.all_gather"(%a) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 2]]> : tensor<1x2xi64>}> : (tensor<4xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @gathered_size(%a: tensor<4xf32>) {
  // expected-error @+1 {{result gather dimension has size 9, expected to be a multiple of operand gather dimension size 4}}
  %0 = "stablehlo.all_gather"(%a) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4xf32>) -> tensor<9xf32>
  return
}

// -----

// An attribute of the wrong class is rejected before any other check.
func.func @other_class(%a: tensor<4xf32>) {
  // expected-error @+1 {{for op stablehlo.all_gather: Invalid attribute `all_gather_dim` in property conversion: "0"}}
  %0 = "stablehlo.all_gather"(%a) <{all_gather_dim = "0", replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @negative(%a: tensor<4xf32>) {
  // expected-error @+1 {{attribute 'all_gather_dim' failed to satisfy constraint: 64-bit signless integer attribute whose value is non-negative}}
  %0 = "stablehlo.all_gather"(%a) <{all_gather_dim = -1 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4xf32>) -> tensor<8xf32>
  return
}

// -----

// An empty list of replica groups has group size 0.
func.func @no_groups(%a: tensor<4xf32>) {
  // expected-error @+2 {{group size of replica_groups must be 2}}
  // expected-error @+1 {{'stablehlo.all_to_all' op failed to infer returned types}}
  %0 = "stablehlo.all_to_all"(%a) <{concat_dimension = 0 : i64, replica_groups = dense<> : tensor<0x2xi64>, split_count = 2 : i64, split_dimension = 0 : i64}> : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @group_size(%a: tensor<4xf32>) {
  // expected-error @+2 {{group size of replica_groups must be 4}}
  // expected-error @+1 {{'stablehlo.all_to_all' op failed to infer returned types}}
  %0 = "stablehlo.all_to_all"(%a) <{concat_dimension = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, split_count = 4 : i64, split_dimension = 0 : i64}> : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @permute_twice(%a: tensor<4xf32>) {
  // expected-error @+1 {{duplicate targets not allowed.}}
  %0 = "stablehlo.collective_permute"(%a) <{source_target_pairs = dense<[[0, 1], [1, 1]]> : tensor<2x2xi64>}> : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @unknown_mesh(%a: tensor<4xf32>) {
  // expected-error @+1 {{'stablehlo.collective_broadcast' op replica_groups: mesh symbol 'mesh' not found}}
  %0 = "stablehlo.collective_broadcast"(%a) <{replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @mesh, axes = []>}> : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// Axes of an inlined mesh must exist.
// expected-error @+1 {{axis 'y' not found in mesh definition}}
func.func private @axes() attributes {groups = #stablehlo.replica_group_mesh_axes<mesh = #stablehlo.mesh<axes=[<name = "x", size = 2>]>, axes = [#stablehlo.axis_ref<name = "y">]>}

// -----

// expected-error @+2 {{expected integer value}}
// expected-error @+1 {{failed to parse StableHLO_ChannelHandle parameter 'type' which is to be a `int64_t`}}
func.func private @channel() attributes {channel = #stablehlo.channel_handle<handle = 1, type = x>}

// -----

func.func @channel_type(%t: !stablehlo.token) {
  // expected-error @+1 {{channel_type should be DEVICE_TO_DEVICE when is_host_transfer is false}}
  %0:2 = "stablehlo.recv"(%t) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 3>}> : (!stablehlo.token) -> (tensor<4xf32>, !stablehlo.token)
  return
}

// -----

func.func @no_token(%t: !stablehlo.token) {
  // expected-error @+1 {{last element of result types is expected to be of token type, but got 'tensor<4xf32>'}}
  %0 = "stablehlo.infeed"(%t) : (!stablehlo.token) -> tensor<4xf32>
  return
}

// -----

func.func @not_asynchronous(%a: tensor<4xf32>) {
  // expected-error @+2 {{'stablehlo.async_start' op region must contain a collective or slice operation}}
  // expected-error @+1 {{'stablehlo.async_start' op failed to infer returned types}}
  %0 = "stablehlo.async_start"(%a) ({
  ^bb0(%x: tensor<4xf32>):
    %1 = stablehlo.add %x, %x : tensor<4xf32>
    stablehlo.return %1 : tensor<4xf32>
  }) : (tensor<4xf32>) -> !stablehlo.future<tensor<4xf32>>
  return
}
