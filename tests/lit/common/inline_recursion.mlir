// RUN: not sdy-opt %s -inline=max-iterations=4294967295 2>&1 | filecheck %s

// Functions that call each other are inlined again and again, so the number of iterations is limited.
// CHECK: inline_recursion.mlir:14:1: error: 'func.func' op calls are still inlined after 1000 iterations
// CHECK: help: lower max-iterations, or mark one of @c, @b, @a no_inline: they call each other
func.func @a(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = call @b(%a) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func @b(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = call @c(%a) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func @c(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = call @a(%a) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
