// RUN: sdy-opt %s -xla-sdy-export-ops -allow-unregistered-dialect -verify-diagnostics

func.func @cycle() {
  "x.graph"() ({
    %0 = sdy.propagation_barrier %1 allowed_direction=NONE : tensor<8xf32>
    // expected-error@+1 {{'sdy.propagation_barrier' op cannot be replaced with its own result}}
    %1 = sdy.propagation_barrier %0 allowed_direction=NONE : tensor<8xf32>
  }) : () -> ()
  return
}
