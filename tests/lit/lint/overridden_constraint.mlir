// RUN: sdy-opt %s --lint=overridden-constraint --lint-config=- --split-input-file --verify-diagnostics

sdy.mesh @mesh = <["x"=4]>

// %a is sharded already, so that only the last constraint shards anything: %0 never has its sharding.
func.func @twice(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<8x8xf32> {
  // expected-warning@+1 {{this constraint to [{}, {"x"}] has no effect: its value is constrained to [{}, {}] next}}
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
  // expected-warning@+1 {{this constraint to [{}, {"x"}] has no effect: its value is constrained to [{"x"}, {}] next}}
  %0 = sdy.sharding_constraint %a <@mesh, [{}, {"x"}]> : tensor<8x8xf32>
  // expected-note@+1 {{returned here}}
  return %0 : tensor<8x8xf32>
}
