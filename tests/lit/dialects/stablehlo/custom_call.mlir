// RUN: sdy-opt %s | filecheck %s
// RUN: sdy-opt %s -mlir-print-op-generic | filecheck %s --check-prefix=GENERIC
// RUN: sdy-opt %s -mlir-print-op-generic --sdy-version=jaxlib-0.10.2 | filecheck %s --check-prefix=BEFORE

// The target is printed as a symbol name, quoted if necessary. Default attributes are not printed.
// CHECK-LABEL: func.func @targets
func.func @targets(%a: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %0 = stablehlo.custom_call @foo(%arg0) : (tensor<4xf32>) -> tensor<4xf32>
  // GENERIC: "stablehlo.custom_call"(%{{.*}}) <{api_version = 1 : i32, call_target_name = "foo", has_side_effect = false}>
  %0 = stablehlo.custom_call @foo(%a) {api_version = 1 : i32, has_side_effect = false} : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %1 = stablehlo.custom_call @"not a symbol"(%0) {has_side_effect = true}
  // GENERIC: <{call_target_name = "not a symbol", has_side_effect = true}>
  %1 = stablehlo.custom_call @"not a symbol"(%0) {has_side_effect = true} : (tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// CHECK-LABEL: func.func @everything
func.func @everything(%a: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // CHECK-NEXT: stablehlo.custom_call @foo(%arg0) {api_version = 4 : i32, backend_config = {level = 1 : i64}, called_computations = [@everything], note = "kept", operand_layouts = [dense<[0, 1]> : tensor<2xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[1, 0]> : tensor<2xindex>]}
  %0 = stablehlo.custom_call @foo(%a) {
    api_version = 4 : i32,
    backend_config = {level = 1},
    called_computations = [@everything],
    note = "kept",
    operand_layouts = [dense<[0, 1]> : tensor<2xindex>],
    result_layouts = [dense<[1, 0]> : tensor<2xindex>],
    output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 0, operand_tuple_indices = []>]
  } : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// Buffers are created by CreateBuffer or Pin and forwarded by output-operand aliases.
// CHECK-LABEL: func.func @buffers
func.func @buffers(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.custom_call @Pin(%a) : (tensor<4xf32>) -> memref<4xf32>
  %1 = stablehlo.custom_call @in_place(%0) {output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 0, operand_tuple_indices = []>]} : (memref<4xf32>) -> memref<4xf32>
  // CHECK: stablehlo.custom_call @Unpin(%1) : (memref<4xf32>) -> tensor<4xf32>
  %2 = stablehlo.custom_call @Unpin(%1) : (memref<4xf32>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}

// Unranked tensors, tuples and tokens are allowed, as are no operands and no results.
// CHECK-LABEL: func.func @any_value
func.func @any_value(%a: tensor<*xf32>, %b: tuple<tensor<4xf32>, !stablehlo.token>) {
  // CHECK-NEXT: stablehlo.custom_call @foo(%arg0, %arg1) : (tensor<*xf32>, tuple<tensor<4xf32>, !stablehlo.token>) -> ()
  stablehlo.custom_call @foo(%a, %b) : (tensor<*xf32>, tuple<tensor<4xf32>, !stablehlo.token>) -> ()
  // CHECK-NEXT: stablehlo.custom_call @foo() : () -> ()
  stablehlo.custom_call @foo() : () -> ()
  return
}

// The tiles of each result, here of a matrix in the tiles of a TPU, and of a vector without tiles. To older
// releases, `result_tilings` is any attribute.
// CHECK-LABEL: func.func @tilings
func.func @tilings(%a: tensor<16x256xbf16>) -> (tensor<16x256xbf16>, tensor<16xf32>) {
  // CHECK: {result_tilings = {{\[\[}}dense<[8, 128]> : tensor<2xindex>, dense<[2, 1]> : tensor<2xindex>], []]}
  // GENERIC: <{call_target_name = "tiled", result_tilings = {{.*}}}> :
  // BEFORE: <{call_target_name = "tiled"}> {result_tilings = {{.*}}} :
  %0:2 = stablehlo.custom_call @tiled(%a) {
    result_tilings = [[dense<[8, 128]> : tensor<2xindex>, dense<[2, 1]> : tensor<2xindex>], []]
  } : (tensor<16x256xbf16>) -> (tensor<16x256xbf16>, tensor<16xf32>)
  return %0#0, %0#1 : tensor<16x256xbf16>, tensor<16xf32>
}
