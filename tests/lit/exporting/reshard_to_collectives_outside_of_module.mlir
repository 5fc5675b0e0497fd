// RUN: sdy-opt %s -sdy-reshard-to-collectives --no-implicit-module -verify-diagnostics

// Outside of a module, the verifier does not look up meshes.
func.func @main(%a: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @+1 {{unknown mesh: @mesh}}
  %0 = sdy.reshard %a <@mesh, [{"x"}]> : tensor<8xf32>
  %1 = sdy.reshard %0 <@mesh, [{}]> : tensor<8xf32>
  return %1 : tensor<8xf32>
}
