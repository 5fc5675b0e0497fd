// RUN: sdy-opt %s -inline=inlining-threshold=49 | filecheck %s --check-prefixes=CHECK,SMALL,LARGE
// RUN: sdy-opt %s -inline=inlining-threshold=50 | filecheck %s --check-prefixes=CHECK,LARGE
// RUN: sdy-opt %s -inline=inlining-threshold=74 | filecheck %s --check-prefixes=CHECK,LARGE
// RUN: sdy-opt %s -inline=inlining-threshold=75 | filecheck %s
// RUN: sdy-opt %s -inline=inlining-threshold=0 | filecheck %s --check-prefixes=CHECK,SMALL,LARGE

// The threshold is in percent of the caller, which has four operations: @small has half of them. Once that is inlined,
// without its return, the caller has as many, and @large three quarters of them.
func.func private @small(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.custom_call @one(%a) {has_side_effect = true} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @large(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.custom_call @two(%a) {has_side_effect = true} : (tensor<4xf32>) -> tensor<4xf32>
  %1 = stablehlo.custom_call @three(%0) {has_side_effect = true} : (tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}
// CHECK-LABEL: func.func @main
// SMALL:         call @small
// LARGE:         call @large
// CHECK-NOT:     {{ }}call @
func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = call @small(%a) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = call @large(%0) : (tensor<4xf32>) -> tensor<4xf32>
  %2 = stablehlo.custom_call @four(%1) {has_side_effect = true} : (tensor<4xf32>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}
