// RUN: not sdy-opt %s -split-input-file -sdy-export-pipeline=enable-insert-explicit-collectives=true > %t.once 2>&1
// RUN: filecheck %s < %t.once
// RUN: not sdy-opt %s -split-input-file -sdy-export-pipeline=enable-insert-explicit-collectives=true --verify-each > %t.each 2>&1
// RUN: diff %t.once %t.each
// RUN: sdy-opt %s -split-input-file -sdy-export-pipeline=enable-insert-explicit-collectives=true --verify-each=false | sdy-opt -split-input-file
// RUN: not sdy-opt %s -split-input-file -sdy-propagation-pipeline 2>&1 | filecheck %s --check-prefix=NESTED

// These programs are valid after the last pass, but not after each. The errors remain.

// CHECK: error: 'sdy.collective_permute' op result mesh name is different but same device ids as operand
// CHECK: note: see current operation: %1 = "sdy.collective_permute"(%0)
// CHECK: error: operand #0 does not dominate this use
// CHECK-NOT: error

sdy.mesh @mesh = <["x"=2, "y"=4]>
sdy.mesh @other = <["x"=2, "y"=4]>

// Meshes are inlined at the end.
func.func @main(%arg0: tensor<16x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<16x16xf32> {sdy.sharding = #sdy.sharding<@other, [{}, {"x"}]>}) {
  %0 = stablehlo.add %arg0, %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@other, [{}, {"x"}]>]>} : tensor<16x16xf32>
  return %0 : tensor<16x16xf32>
}

// -----

// The constants of both branches are merged into one of them, and later the branches, too.
func.func @branches(%p: i1) -> tensor<f32> {
  cf.cond_br %p, ^yes, ^no
^yes:
  %0 = stablehlo.constant dense<1.0> : tensor<f32>
  return %0 : tensor<f32>
^no:
  %1 = stablehlo.constant dense<1.0> : tensor<f32>
  return %1 : tensor<f32>
}

// -----

// A mesh of the outer module is used in the inner one.
sdy.mesh @mesh = <["x"=2]>
func.func @main() {
  return
}
// NESTED: error: 'func.func' op arg 0 - unknown mesh: @mesh
module @inner {
  sdy.mesh @other = <["y"=2]>
  func.func @inlined(%x: tensor<4xf32> {sdy.sharding = #sdy.sharding<mesh<["z"=2]>, [{"z"}]>}) {
    return
  }
}
