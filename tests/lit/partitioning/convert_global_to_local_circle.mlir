// RUN: sdy-opt %s -sdy-convert-global-to-local --allow-unregistered-dialect -verify-diagnostics

// In a graph region, barriers may form a circle. There is no value that could take their place.
func.func @circle() {
  "test.graph"() ({
    // expected-error @+1 {{'sdy.propagation_barrier' op has a result that depends on nothing but itself}}
    %0 = sdy.propagation_barrier %1 allowed_direction=NONE : tensor<8xf32>
    %1 = sdy.propagation_barrier %0 allowed_direction=NONE : tensor<8xf32>
    %2 = stablehlo.negate %1 : tensor<8xf32>
  }) : () -> ()
  return
}
