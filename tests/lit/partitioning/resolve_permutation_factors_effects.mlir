// RUN: sdy-opt %s -sdy-resolve-permutation-factors -verify-diagnostics

// A call with side effects gets whole operands, and runs on every device.

sdy.mesh @mesh = <["x"=2, "y"=2]>

func.func @print(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  // expected-warning @+2 {{has side effects, and runs on each of 4 devices}}
  // expected-warning @+1 {{custom call @print is unknown to SDY sharding rule registry}}
  stablehlo.custom_call @print(%a) {has_side_effect = true} : (tensor<8xf32>) -> ()
  return
}
