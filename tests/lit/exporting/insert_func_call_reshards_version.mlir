// RUN: sdy-opt %s -sdy-insert-func-call-reshards --sdy-version=jaxlib-0.11.2 | filecheck %s
// RUN: sdy-opt %s -sdy-insert-func-call-reshards --sdy-version=jaxlib-0.10.2 | filecheck %s --check-prefix=BEFORE

sdy.mesh @mesh = <["x"=2]>

// The result of the call is unreduced along "x", and that of the function is not. Since jaxlib 0.11.2 these shardings are
// different.
// CHECK-LABEL: func.func @main
// CHECK-NEXT: %0 = call @f(%arg0) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}]>]>}
// CHECK-NEXT: %1 = sdy.reshard %0 <@mesh, [{}], unreduced={"x"}>
// BEFORE-LABEL: func.func @main
// BEFORE-NEXT: %0 = call @f(%arg0) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}]>]>}
// BEFORE-NEXT: return %0
func.func @main(%a: tensor<8xf32>) -> tensor<8xf32> {
  %0 = call @f(%a) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}], unreduced={"x"}>]>} : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
func.func private @f(%a: tensor<8xf32>) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}) {
  return %a : tensor<8xf32>
}
