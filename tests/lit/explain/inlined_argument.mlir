// RUN: sdy-opt %s --explain='#0' | filecheck %s

// The reason of a collective may be the annotation on the argument of a function, which is inlined since.

// CHECK:      #0 {{.*}} of %0
// CHECK:      input 0 of the call of @layer

sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func @main(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<8x8xf32> {
  %0 = stablehlo.tanh %a : tensor<8x8xf32>
  %1 = call @layer(%0) : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}
func.func private @layer(%b: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}) -> tensor<8x8xf32> {
  %0 = stablehlo.negate %b : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}
