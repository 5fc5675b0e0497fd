// Since jaxlib 0.12.0.1, constraints are applied before calls are inlined, with the same result as after it.
// RUN: sdy-opt %s -sdy-apply-sharding-constraints="debug-propagation-edge-sharding=true" | filecheck %s
// RUN: sdy-opt %s -sdy-apply-sharding-constraints="debug-propagation-edge-sharding=true" --sdy-version=jaxlib-0.11.2 \
// RUN:   | filecheck %s --check-prefix=BEFORE

sdy.mesh @mesh = <["x"=2, "y"=2]>

// The callee is visited before its caller.
// CHECK-LABEL: func.func @main(
// CHECK:         step-1
// BEFORE-LABEL: func.func @main(
// BEFORE:         step-0
func.func @main(%a: tensor<8xf32>) -> tensor<8xf32> {
  %0 = call @f(%a) : (tensor<8xf32>) -> tensor<8xf32>
  %1 = sdy.sharding_constraint %0 <@mesh, [{"x"}]> : tensor<8xf32>
  %2 = sdy.sharding_constraint %1 <@mesh, [{"y"}]> : tensor<8xf32>
  // What the program returns stays as it is.
  // CHECK: return %0
  return %0 : tensor<8xf32>
}

// The end of a chain also replaces what a called function returns: inlined, the return is no return.
// CHECK-LABEL: func.func private @f(
// CHECK:         step-0
// CHECK:         return %1
// BEFORE-LABEL: func.func private @f(
// BEFORE:         step-1
// BEFORE:         return %arg0
func.func private @f(%a: tensor<8xf32>) -> tensor<8xf32> {
  %0 = sdy.sharding_constraint %a <@mesh, [{"x"}]> : tensor<8xf32>
  %1 = sdy.sharding_constraint %0 <@mesh, [{"y"}]> : tensor<8xf32>
  return %a : tensor<8xf32>
}
