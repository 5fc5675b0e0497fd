// RUN: sdy-opt %s -sdy-insert-explicit-reshards --no-implicit-module -verify-diagnostics

// Outside of a module, the verifier does not look up callees.
func.func @main(%a: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @+1 {{'func.call' op 'nowhere' does not reference a valid function}}
  %0 = call @nowhere(%a) : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
