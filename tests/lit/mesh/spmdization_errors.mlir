// RUN: sdy-opt %s -mesh-spmdization -split-input-file -verify-diagnostics

// expected-error @+1 {{'func.func' op is not fully annotated with shardings}}
func.func @not_annotated(%t: tensor<6x9xf32>) -> tensor<6x9xf32> {
  return %t : tensor<6x9xf32>
}

// -----

// expected-error @+1 {{only one block is supported!}}
func.func @two_blocks() {
  cf.br ^bb1
^bb1:
  return
}

// -----

// A product of shards is not a shard of the product.
mesh.mesh @line(shape = 2)
func.func @matmul(%a: tensor<1x4x6xf32>, %b: tensor<1x6x8xf32>) -> tensor<1x4x8xf32> {
  %0 = mesh.shard %a to <@line, [[], [0]]> : tensor<1x4x6xf32>
  %1 = mesh.shard %b to <@line, [[]]> : tensor<1x6x8xf32>
  // expected-error @+1 {{can only be copied where its operands and results are fully replicated}}
  %2 = tosa.matmul %0, %1 : (tensor<1x4x6xf32>, tensor<1x6x8xf32>) -> tensor<1x4x8xf32>
  %3 = mesh.shard %2 to <@line, [[], [0]]> : tensor<1x4x8xf32>
  return %3 : tensor<1x4x8xf32>
}

// -----

// A sharding has axes of its mesh.
mesh.mesh @line(shape = 2)
func.func @no_axis(%t: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %0 = mesh.shard %t to <@line, [[]]> : tensor<4x6xf32>
  // expected-error @+1 {{0-based mesh axis index 1 is out of bounds. The referenced mesh "line" is of rank 1.}}
  %1 = mesh.shard %0 to <@line, [[1]]> annotate_for_users : tensor<4x6xf32>
  return %1 : tensor<4x6xf32>
}
