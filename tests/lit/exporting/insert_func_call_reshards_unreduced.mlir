// Since jaxlib 0.12.0.1, no reshard is inserted if a call and its callee differ in unreduced axes: that is an error.
// RUN: sdy-opt %s -sdy-insert-func-call-reshards | filecheck %s
// RUN: not sdy-opt %s -sdy-insert-func-call-reshards -sdy-verify-unreduced-axes 2>&1 | filecheck %s --check-prefix=ERROR
// RUN: sdy-opt %s -sdy-insert-func-call-reshards -sdy-verify-unreduced-axes --sdy-version=jaxlib-0.11.2 | filecheck %s --check-prefix=BEFORE

sdy.mesh @mesh = <["x"=2, "y"=2]>

// CHECK-LABEL: func.func @main
// CHECK-NEXT:    %0 = call @f(%arg0) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}]>]>}
// CHECK-NEXT:    %1 = call @f(%arg0) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}]>]>}
// CHECK-NEXT:    %2 = call @f(%arg0) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}], unreduced={"x"}>]>}
// CHECK-NEXT:    %3 = sdy.reshard %2 <@mesh, [{"y"}], unreduced={"x"}>
// CHECK-NEXT:    return %0, %1, %3
// ERROR: error: 'func.call' op has unreduced axes mismatch for 'x' at call result 0.
// BEFORE-LABEL: func.func @main
// BEFORE-NEXT:    %0 = call @f(%arg0) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}], unreduced={"x"}>]>}
// BEFORE-NEXT:    %1 = sdy.reshard %0 <@mesh, [{}]>
func.func @main(%a: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  %0 = call @f(%a) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}]>]>} : (tensor<8xf32>) -> tensor<8xf32>
  %1 = call @f(%a) : (tensor<8xf32>) -> tensor<8xf32>
  %2 = call @f(%a) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}], unreduced={"x"}>]>} : (tensor<8xf32>) -> tensor<8xf32>
  return %0, %1, %2 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}

func.func private @f(%a: tensor<8xf32>) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced={"x"}>}) {
  %0 = sdy.reshard %a <@mesh, [{}], unreduced={"x"}> : tensor<8xf32>
  return %0 : tensor<8xf32>
}
