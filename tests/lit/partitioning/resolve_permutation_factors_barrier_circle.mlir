// RUN: sdy-opt %s -sdy-resolve-permutation-factors --allow-unregistered-dialect | filecheck %s

// In a graph region, barriers may form a circle. All but one of them are removed: no other value could take its
// place.
// CHECK-LABEL: func.func @circle
// CHECK: "test.graph"() ({
// CHECK-NEXT: %0 = sdy.propagation_barrier %0 allowed_direction=NONE
// CHECK-NEXT: stablehlo.negate %0
func.func @circle() {
  "test.graph"() ({
    %0 = sdy.propagation_barrier %1 allowed_direction=NONE : tensor<8xf32>
    %1 = sdy.propagation_barrier %0 allowed_direction=NONE : tensor<8xf32>
    %2 = stablehlo.negate %1 : tensor<8xf32>
  }) : () -> ()
  return
}
