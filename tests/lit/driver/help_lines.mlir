// RUN: not sdy-opt %s --split-input-file 2>&1 > /dev/null | filecheck %s
// RUN: sdy-opt %s --split-input-file --verify-diagnostics

// A help line, which the C++ tools do not have, shows the correct syntax. It is not a diagnostic, so
// --verify-diagnostics does not check it.
// CHECK:      help_lines.mlir:{{[0-9]+:53}}: error: expected attribute value
// CHECK-NEXT: func.func
// CHECK-NEXT: ^
// CHECK-NEXT: help: write `sdy.sharding = #sdy.sharding<@mesh, […]>`
// expected-error @+1 {{expected attribute value}}
func.func @sharding(%x: tensor<4xf32> {sdy.sharding=<@mesh, [{}]>}) {
  return
}

// -----

// CHECK:      error: expected '{'
// CHECK:      help: an attribute of this kind is written `#sdy<manual_axes{"a"}>`
// expected-error @+1 {{expected '{'}}
func.func @manual_axes() attributes {axes = #sdy.manual_axes<"a">} {
  return
}
