// Tests that were written for the drivers of C++ run without them, and need no configuration.
// RUN: sdy_opt %s -sdy-close-shardings | FileCheck %s
// RUN: sdy_opt %s | sdy_opt -sdy-close-shardings | FileCheck %s

// CHECK: sharding<@mesh, [{"x"}]>
sdy.mesh @mesh = <["x"=2]>
func.func @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", ?}]>}) -> tensor<8xf32> {
  return %a : tensor<8xf32>
}
