// RUN: sdy-opt %s -sharding-propagation -split-input-file -verify-diagnostics

// This operation does not implement the sharding interface.
func.func @unknown(%s: tensor<6x4xf32>) -> tensor<6x4xf32> {
  // expected-error @+1 {{'math.absf' op sharding interface is not implemented.}}
  %0 = math.absf %s : tensor<6x4xf32>
  return %0 : tensor<6x4xf32>
}

// -----

// Reported in each direction, without failing the pass.
mesh.mesh @g(shape = 2x3)
func.func @partial(%a: tensor<6x4xf32>) -> tensor<6x4xf32> {
  // expected-error @+1 {{no matched reduction loop found for the result's partial type}}
  %0 = tosa.abs %a : (tensor<6x4xf32>) -> tensor<6x4xf32>
  %s = mesh.shard %0 to <@g, [[1]], partial = sum[0]> : tensor<6x4xf32>
  return %s : tensor<6x4xf32>
}

// -----

// expected-error @+1 {{only one block is supported!}}
func.func @two_blocks() {
  cf.br ^bb1
^bb1:
  return
}

// -----

// A declaration has no block.
// expected-error @+1 {{only one block is supported!}}
func.func private @declaration(i64)
