// RUN: sdy-opt %s -sdy-insert-explicit-reshards --no-implicit-module -split-input-file -verify-diagnostics

// Outside of a module, the verifier does not look up callees.
func.func @main(%a: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @+1 {{'func.call' op 'nowhere' does not reference a valid function}}
  %0 = call @nowhere(%a) : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// Nor does it look up meshes.
func.func @main(%a: tensor<8xf32>) -> tensor<8xf32> {
  %0 = sdy.sharding_constraint %a <@mesh, [{}], unreduced={"x"}> : tensor<8xf32>
  // expected-error @+1 {{unknown mesh: @mesh}}
  return %0 : tensor<8xf32>
}
