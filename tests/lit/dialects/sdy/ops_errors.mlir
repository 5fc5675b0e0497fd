// RUN: sdy-opt %s -split-input-file -verify-diagnostics

func.func @both_ways(%arg: tensor<8xf32>) {
  // expected-error @+1 {{cannot specify `BOTH` as the direction. Not blocking propagation direction makes the op redundant.}}
  %0 = sdy.propagation_barrier %arg allowed_direction=BOTH : tensor<8xf32>
  return
}

// -----

func.func @unknown_direction(%arg: tensor<8xf32>) {
  // expected-error @+1 {{expected string or keyword containing one of the following enum values for attribute 'allowed_direction' [NONE, FORWARD, BACKWARD, BOTH]}}
  %0 = sdy.propagation_barrier %arg allowed_direction=UP : tensor<8xf32>
  return
}

// -----

func.func @not_a_tensor(%arg: i32) {
  // expected-error @+1 {{invalid kind of type specified: expected builtin.tensor, but found 'i32'}}
  sdy.sharding_group %arg group_id=1 : i32
  return
}

// -----

func.func @another_type(%arg: tensor<8xf32>) {
  // expected-error @+1 {{'sdy.reshard' op requires the same type for all operands and results}}
  %0 = "sdy.reshard"(%arg) {sharding = #sdy.sharding<mesh<["x"=2]>, [{}]>} : (tensor<8xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @missing_attribute(%arg: tensor<8xf32>) {
  // expected-error @+1 {{'sdy.sharding_constraint' op requires attribute 'sharding'}}
  %0 = "sdy.sharding_constraint"(%arg) : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @constant_of_another_type() {
  // expected-error @+2 {{'sdy.constant' op inferred type(s) 'tensor<2xf32>' are incompatible with return type(s) of operation 'tensor<3xf32>'}}
  // expected-error @+1 {{'sdy.constant' op failed to infer returned types}}
  %0 = "sdy.constant"() {value = dense<1.0> : tensor<2xf32>} : () -> tensor<3xf32>
  return
}

// -----

func.func @edge_of_unknown_size(%arg: tensor<?xf32>) {
  // expected-error @+1 {{expected sdy.data_flow_edge to have a static-shaped result. type: 'tensor<?xf32>'}}
  %0 = sdy.data_flow_edge %arg : tensor<?xf32>
  return
}

// -----

func.func @edge_is_not_alone(%arg: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @+1 {{expected input of sdy.data_flow_edge to have a single user}}
  %0 = sdy.data_flow_edge %arg : tensor<8xf32>
  return %arg : tensor<8xf32>
}

// -----

// An sdy operation that is no data-flow operation owns no edge.
func.func @edge_without_owner(%arg: tensor<8xf32>) {
  // expected-note @+1 {{sdy op defining the input of the sdy.data_flow_edge}}
  %0 = sdy.propagation_barrier %arg allowed_direction=NONE : tensor<8xf32>
  // expected-error @+1 {{expected input of sdy.data_flow_edge to not be defined by an SdyDialect op (other than an sdy.named_computation).}}
  %1 = sdy.data_flow_edge %0 : tensor<8xf32>
  return
}

// -----

func.func @edge_of_no_call(%arg: tensor<8xf32>) {
  %0 = stablehlo.negate %arg : tensor<8xf32>
  // expected-error @+1 {{expected operand of sdy.func_data_flow_edge to be a result of call op.}}
  %1 = sdy.func_data_flow_edge %0 : tensor<8xf32>
  return
}

// -----

func.func @edge_of_another_argument(%arg: tensor<8xf32>) {
  sdy.named_computation<"inner">(%arg) (%inner: tensor<8xf32>) {
    // expected-error @+1 {{expected operand of sdy.func_data_flow_edge to be a block argument of a func op.}}
    %0 = sdy.func_data_flow_edge %inner : tensor<8xf32>
    sdy.return
  } : (tensor<8xf32>) -> ()
  return
}

// -----

// Symbol uses are verified last, from the last function to the first.
func.func @checked_later(%arg: tensor<8xf32>) {
  %0 = sdy.reshard %arg <@missing, [{}]> : tensor<8xf32>
  return
}

func.func @checked_first(%arg: tensor<8xf32>) {
  // expected-error @+1 {{unknown mesh: @absent}}
  %0 = sdy.reshard %arg <@absent, [{}]> : tensor<8xf32>
  return
}
