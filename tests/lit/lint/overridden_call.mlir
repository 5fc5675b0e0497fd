// JAX may not derive the sharding of what a call with an out_sharding returns: it gets the next one, and is not removed.
// RUN: sdy-opt %s --lint=overridden-constraint --lint-config=- 2>&1 | filecheck %s

// CHECK:     model.py:4:6: warning: this constraint to P(None, 'x') only moves its value: the value is constrained to P('x') next
// CHECK:     help: write P('x') in its out_sharding
// CHECK-NOT: remove
#gather = loc("jit(f)/tanh"("f"("model.py":4:5 to :30)))
#in_call = loc("jit(f)/reshard"("f"("model.py":4:5 to :30)))
#next = loc("jit(f)/reshard"("f"("model.py":5:5 to :30)))

sdy.mesh @mesh = <["x"=4]>
func.func @call(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<8x8xf32> {
  %0 = stablehlo.tanh %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : tensor<8x8xf32> loc(#gather)
  %1 = sdy.sharding_constraint %0 <@mesh, [{}, {"x"}]> : tensor<8x8xf32> loc(#in_call)
  %2 = sdy.sharding_constraint %1 <@mesh, [{"x"}, {}]> : tensor<8x8xf32> loc(#next)
  return %2 : tensor<8x8xf32>
}
