// A function of vhlo whose type is no type cannot be converted, and is printed in generic form only.
// RUN: not sdy-opt %s 2>&1 | filecheck %s
// RUN: not sdy-opt %s -vhlo-to-version=target=1.0.0 2>&1 | filecheck %s --check-prefix=CUSTOM
// RUN: sdy-opt %s -vhlo-to-version=target=1.0.0 --mlir-print-op-generic | filecheck %s --check-prefix=GENERIC

// CHECK: error: failed to legalize operation 'vhlo.func_v1'
// CUSTOM: error: 'vhlo.func_v1' op has no assembly format without a string as name and a function type
// CUSTOM: help: print it with --mlir-print-op-generic
// GENERIC: "vhlo.func_v1"() <{{.*}}function_type = #vhlo<comparison_direction_v1 LE>
"vhlo.func_v1"() <{
  arg_attrs = #vhlo.array_v1<[]>, res_attrs = #vhlo.array_v1<[]>,
  function_type = #vhlo<comparison_direction_v1 LE>,
  sym_name = #vhlo.string_v1<"main">, sym_visibility = #vhlo.string_v1<"">
}> ({
  "vhlo.return_v1"() : () -> ()
}) : () -> ()
