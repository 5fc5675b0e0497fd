// VHLO text is parsed and printed; -vhlo-to-version prints it as it is.
// RUN: sdy-opt %s -vhlo-to-version='target=1.22.0' -o %t.mlir
// RUN: sdy-opt %t.mlir -vhlo-to-version='target=1.22.0' | diff - %t.mlir
// RUN: filecheck %s < %t.mlir
// RUN: sdy-opt %s -vhlo-to-version='target=1.22.0' --emit-bytecode -o %t.bc
// RUN: sdy-opt %t.bc -vhlo-to-version='target=1.22.0' | diff - %t.mlir
// RUN: sdy-opt %s -vhlo-to-version='target=1.22.0' --emit-bytecode --emit-bytecode-version=4 | sdy-opt -vhlo-to-version='target=1.22.0' | diff - %t.mlir

// CHECK: x.types = [!vhlo.complex_v1<!vhlo.f32_v1>, !vhlo.func_v1<(!vhlo.i32_v1) -> ()>, !vhlo.func_v1<(()) -> !vhlo.i32_v1, !vhlo.ui8_v1>,
module attributes {
    x.types = [!vhlo.complex_v1<!vhlo.f32_v1>, !vhlo.func_v1<(!vhlo.i32_v1) -> ()>, !vhlo.func_v1<(()) -> !vhlo.i32_v1, !vhlo.ui8_v1>,
               !vhlo.tensor_v1<4x?x!vhlo.bf16_v1, #vhlo.type_extensions_v1<bounds = [?, 8]>>, !vhlo.unranked_tensor_v1<!vhlo.tf31_v1>,
               !vhlo.tuple_v1<!vhlo.token_v1, !vhlo.index_v1>, !vhlo.future_v1<!vhlo.tensor_v1<!vhlo.bool_v1>>, !vhlo.buffer_v1<4x!vhlo.f64_v1>,
               !vhlo.quant_v1<!vhlo.i8_v1:!vhlo.f32_v1, 5.000000e-01:3, -128:127, 1>,
               !vhlo.quant_per_axis_v1<!vhlo.i8_v1:!vhlo.f32_v1, 1, [5.000000e-01, 2.5], [3, 4], -128:127, 1>, !vhlo.witness_v1, !vhlo.none_v1],
    x.attributes = [#vhlo.array_v1<[]>, #vhlo.bool_v1<true>, #vhlo.dict_v1<{#vhlo.string_v1<"a\22"> = #vhlo.type_v1<!vhlo.f32_v1>}>,
                    #vhlo.float_v1<-1.5 : !vhlo.f16_v1>, #vhlo.integer_v1<-3 : i8>, #vhlo.integer_v1<3 : ui64>,
                    #vhlo.output_operand_alias_v1<outputTupleIndices = [0], operandIndex = 1, operandTupleIndices = []>,
                    #vhlo.tensor_v1<dense<[true, false, true]> : tensor<3xi1>>, #vhlo.tensor_v1<dense<true> : tensor<1xi1>>,
                    #vhlo.result_accuracy_v1<atol = 1.0, rtol = 0.0, ulps = 2, mode = #vhlo<result_accuracy_mode_v1 TOLERANCE>>,
                    #vhlo.axis_ref_v1<name = #vhlo.string_v1<"x">, sub_axis_info = #vhlo.sub_axis_info_v1<pre_size = 1, size = 2>>,
                    #vhlo.axis_ref_v1<name = #vhlo.string_v1<"x">>, #vhlo.mesh_v1<axes = #vhlo.array_v1<[#vhlo.mesh_axis_v1<name = #vhlo.string_v1<"x">, size = 2>]>>,
                    #vhlo.replica_group_mesh_axes_v1<mesh = #vhlo.string_v1<"m">, axes = #vhlo.array_v1<[]>>, #vhlo<rng_distribution_v1 NORMAL>,
                    #vhlo<transpose_v1 ADJOINT>, #vhlo<fft_type_v1 RFFT>]} {
  // CHECK: vhlo.func_v1 @f(%arg0: !vhlo.tensor_v1<4x!vhlo.f32_v1>) -> (!vhlo.tensor_v1<4x!vhlo.f32_v1>) {
  // CHECK: } {arg_attrs = #vhlo.array_v1<[]>, res_attrs = #vhlo.array_v1<[]>, sym_visibility = #vhlo.string_v1<"">}
  vhlo.func_v1 @f(%a: !vhlo.tensor_v1<4x!vhlo.f32_v1>) -> (!vhlo.tensor_v1<4x!vhlo.f32_v1>) {
    %0 = "vhlo.add_v1"(%a, %a) : (!vhlo.tensor_v1<4x!vhlo.f32_v1>, !vhlo.tensor_v1<4x!vhlo.f32_v1>) -> !vhlo.tensor_v1<4x!vhlo.f32_v1>
    "vhlo.return_v1"(%0) : (!vhlo.tensor_v1<4x!vhlo.f32_v1>) -> ()
  } {arg_attrs = #vhlo.array_v1<[]>, res_attrs = #vhlo.array_v1<[]>, sym_visibility = #vhlo.string_v1<"">}
}
