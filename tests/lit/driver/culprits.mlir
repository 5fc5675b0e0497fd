// The source in diagnostics: the culprit is underlined, wherever the diagnostic is located.

// RUN: not sdy-opt %s -split-input-file 2>&1 > /dev/null | filecheck %s
// RUN: not sdy-opt %s -split-input-file --max-diagnostic-op-lines=1 2>&1 > /dev/null \
// RUN:   | filecheck %s --check-prefix=SHORT

// The diagnostic is at the operation; `-->` leads to the axis. In a pipe, the whole operation is shown.
// CHECK:      culprits.mlir:{{[0-9]+}}:1: error: 'func.func' op arg 1 - unknown axis name: "z"
// CHECK-NEXT:   --> {{.*}}culprits.mlir:{{[0-9]+}}:81
// CHECK-NEXT: %y: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"z"}]>}) {
// CHECK-NEXT: {{^ {80}\^~~$}}
// CHECK-NEXT: note: see current operation:
// CHECK:      "func.return"() : () -> ()
// CHECK:      help: @mesh has the axes "x"=2
// SHORT:      note: see current operation:
// SHORT-NEXT: "func.func"()
// SHORT-NEXT: {{^}}... (3 more lines; --max-diagnostic-op-lines=0 prints all)
// SHORT-NEXT: help:
sdy.mesh @mesh = <["x"=2]>
// Of several arguments, the one that the message names is shown.
func.func @of_argument(%x: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>},
                       %y: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"z"}]>}) {
  return
}

// -----

// Of several shardings, the one of the result that the message names is shown.
// CHECK:      op result 1 - sharding doesn't match tensor rank: 2 != 1
// CHECK-NEXT:   -->
// CHECK-NEXT: [{}]>, <@mesh, [{}, {}]>]>}
// CHECK-NEXT: {{^ +\^~~~~~~~$}}
sdy.mesh @mesh = <["x"=2]>
func.func @of_result() {
  %0:2 = stablehlo.custom_call @g() {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}]>, <@mesh, [{}, {}]>]>} : () -> (tensor<4xf32>, tensor<4xf32>)
  return
}

// -----

// With locations, the Python source is named first, then the line of this file.
// CHECK:      step.py:7:1: error: 'sdy.sharding_constraint' op unknown mesh: @mseh
// CHECK-NEXT:   --> {{.*}}culprits.mlir:{{[0-9]+}}:36
// CHECK-NEXT: sdy.sharding_constraint %x <@mseh, [{}]>
// CHECK-NEXT: {{^ +\^~~~~$}}
// CHECK:      help: did you mean `@mesh`?
sdy.mesh @mesh = <["x"=2]>
func.func @with_location(%x: tensor<4xf32>) {
  %0 = sdy.sharding_constraint %x <@mseh, [{}]> : tensor<4xf32> loc("step"("step.py":7:1))
  return
}

// -----

// Errors that follow another one at the same location do not show the line again.
// CHECK:      error: custom op 'sdy.mesh' expected string
// CHECK-NEXT: sdy.mesh @mesh = <[x=2]>
// CHECK-NEXT: {{^ +\^$}}
// CHECK-NEXT: help: write it in quotes: `"x"`
// CHECK-NEXT: error: custom op 'sdy.mesh' failed to parse Sdy_MeshAxis parameter
// CHECK-NEXT: error: custom op 'sdy.mesh' failed to parse Sdy_Mesh parameter
sdy.mesh @mesh = <[x=2]>

// -----

// The help shows the type that the operands imply.
// CHECK:      error: inferred shape '[4, 16]' is incompatible with return type
// CHECK:      {{^ +\^~~~~~~~~~~~~~~~$}}
// CHECK:      help: write `tensor<4x16xf32>`
func.func @inferred_shape(%x: tensor<4x8xf32>, %y: tensor<8x16xf32>) {
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x17xf32>
  return
}

// -----

// A mistyped manual axis changes the shapes in the body, which are verified first; the axis is the mistake.
// CHECK:      error: 'sdy.manual_computation' op operand shape, corresponding sharding, and region operand shape
// CHECK:      manual_axes={"dta"}
// CHECK-NEXT: {{^ +\^~~~~$}}
// CHECK:      help: did you mean "data"? @mesh has the axes "data"=4
sdy.mesh @mesh = <["data"=4]>
func.func @manual_axis(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"data"}]>] out_shardings=[<@mesh, [{"data"}]>] manual_axes={"dta"} (%a: tensor<2xf32>) {
    sdy.return %a : tensor<2xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
