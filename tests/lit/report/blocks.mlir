// RUN: sdy-opt %s --report 2>&1 | filecheck %s

// CHECK: blocks.mlir:5:1: warning: @main has 2 blocks: figures of memory and time do not follow branches
// CHECK: memory per device
func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  cf.br ^bb1(%x : tensor<8xf32>)
^bb1(%a: tensor<8xf32>):
  %0 = stablehlo.add %a, %a : tensor<8xf32>
  return %0 : tensor<8xf32>
}
