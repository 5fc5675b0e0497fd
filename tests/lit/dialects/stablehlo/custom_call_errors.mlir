// RUN: sdy-opt %s -split-input-file -verify-diagnostics

func.func @no_target(%a: tensor<4xf32>) {
  // expected-error @+1 {{custom op 'stablehlo.custom_call' expected valid '@'-identifier for symbol name}}
  stablehlo.custom_call foo(%a) : (tensor<4xf32>) -> ()
  return
}

// -----

func.func @counts(%a: tensor<4xf32>) {
  // expected-error @+1 {{custom op 'stablehlo.custom_call' number of operands and types do not match: got 1 operands and 2 types}}
  stablehlo.custom_call @foo(%a) : (tensor<4xf32>, i32) -> ()
  return
}

// -----

func.func @api_version(%a: tensor<4xf32>) {
  // expected-error @+1 {{attribute 'api_version' failed to satisfy constraint: Custom call API version}}
  stablehlo.custom_call @foo(%a) {api_version = 9 : i32} : (tensor<4xf32>) -> ()
  return
}

// -----

// The backend config is a dictionary for the typed FFI, a string otherwise.
func.func @backend_config(%a: tensor<4xf32>) {
  // expected-error @+1 {{'stablehlo.custom_call' op backend_config for api_version API_VERSION_TYPED_FFI must be a dictionary attribute.}}
  stablehlo.custom_call @foo(%a) {api_version = 4 : i32, backend_config = "x"} : (tensor<4xf32>) -> ()
  return
}

// -----

func.func @half_a_layout(%a: tensor<4xf32>) {
  // expected-error @+1 {{Layout attributes should be specified for either both operands and results or none.}}
  stablehlo.custom_call @foo(%a) {operand_layouts = [dense<0> : tensor<1xindex>]} : (tensor<4xf32>) -> ()
  return
}

// -----

func.func @layout(%a: tensor<4x8xf32>) {
  // expected-error @+1 {{incorrect layout dense<[0, 2]> : tensor<2xindex> for type 'tensor<4x8xf32>', layout must be a permutation of [0, 2)}}
  stablehlo.custom_call @foo(%a) {operand_layouts = [dense<[0, 2]> : tensor<2xindex>], result_layouts = []} : (tensor<4x8xf32>) -> ()
  return
}

// -----

func.func @alias_index(%a: tensor<4xf32>) {
  // expected-error @+1 {{expects operandIndex in the output_operand_alias attribute to be in range [0, 1); got: 1.}}
  %0 = stablehlo.custom_call @foo(%a) {output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 1, operand_tuple_indices = []>]} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @alias_type(%a: tensor<4xf32>) {
  // expected-error @+1 {{shapes mismatch in the output_operand_alias attribute: operand part has type 'tensor<4xf32>' and output part has type 'tensor<5xf32>'}}
  %0 = stablehlo.custom_call @foo(%a) {output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 0, operand_tuple_indices = []>]} : (tensor<4xf32>) -> tensor<5xf32>
  return
}

// -----

// A buffer result must alias an operand.
func.func @buffer(%a: tensor<4xf32>) {
  // expected-error @+1 {{buffer output [] is not used in output_operand_alias}}
  %0 = stablehlo.custom_call @foo(%a) : (tensor<4xf32>) -> memref<4xf32>
  return
}

// -----

func.func @unpin(%a: memref<4xf32>) {
  // expected-error @+1 {{Unpin custom_call should have compatible input and output types}}
  %0 = stablehlo.custom_call @Unpin(%a) : (memref<4xf32>) -> tensor<4xi32>
  return
}

// -----

func.func @tiles_of_no_result(%a: tensor<4xf32>) {
  // expected-error @+1 {{attribute 'result_tilings' failed to satisfy constraint: Array of tiling attributes}}
  %0 = stablehlo.custom_call @foo(%a) {result_tilings = [dense<128> : tensor<1xindex>]} : (tensor<4xf32>) -> tensor<4xf32>
  return
}
