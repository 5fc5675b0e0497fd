// RUN: sdy-opt %s --lint=overridden-constraint --lint-config=- --split-input-file --verify-diagnostics

sdy.mesh @mesh = <["x"=4]>

// Nothing is computed with the sharding of %0: an all-to-all comes before the all-gather.
func.func @twice(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<8x8xf32> {
  // expected-warning@+1 {{this constraint to P(None, 'x') only moves its value: the value is constrained to P() next}}
  %0 = sdy.sharding_constraint %a <@mesh, [{}, {"x"}]> : tensor<8x8xf32>
  // expected-note@+1 {{constrained again here}}
  %1 = sdy.sharding_constraint %0 <@mesh, [{}, {}]> : tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}

// -----

sdy.mesh @mesh = <["x"=4]>

// The result of the function has another sharding.
func.func @returned(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
    -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  // expected-warning@+1 {{this constraint to P(None, 'x') only moves its value: the value is constrained to P('x') next}}
  %0 = sdy.sharding_constraint %a <@mesh, [{}, {"x"}]> : tensor<8x8xf32>
  // expected-note@+1 {{returned here}}
  return %0 : tensor<8x8xf32>
}
