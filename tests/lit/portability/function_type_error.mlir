// A function of vhlo whose type is no type cannot be converted.
// RUN: not sdy-opt %s 2>&1 | filecheck %s

// CHECK: error: failed to legalize operation 'vhlo.func_v1'
"vhlo.func_v1"() <{
  arg_attrs = #vhlo.array_v1<[]>, res_attrs = #vhlo.array_v1<[]>,
  function_type = #vhlo<comparison_direction_v1 LE>,
  sym_name = #vhlo.string_v1<"main">, sym_visibility = #vhlo.string_v1<"">
}> ({
  "vhlo.return_v1"() : () -> ()
}) : () -> ()
