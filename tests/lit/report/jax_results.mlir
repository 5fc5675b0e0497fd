// A result of a program of JAX has its name, and the reason for its sharding. A collective for it is at the line that
// computes it, and not at the one that lowers the program.
// RUN: sdy-opt %s --check | filecheck %s
// RUN: sdy-opt %s --report --report-rows=0 | filecheck %s --check-prefix=REPORT

// REPORT: result.of_constraint needs this sharding: the with_sharding_constraint on it states it;
// REPORT: result.mu needs this sharding: 66 is not divisible by 4; P('data') → P()

// CHECK:      why: model.py:4: {{.*}} 7 all_gather along data: 5 of them: resharded from
// CHECK-NEXT: P('data') to P() for result.nu, 5 leaves: out_shardings state it

#double = loc("jit(f)/add"(callsite("f"("model.py":4:8) at "<module>"("main.py":9:15))))
#lower = loc("jit(f)"("<module>"("main.py":9:15)))

sdy.mesh @mesh = <["data"=4]>
func.func public @main(
    %a: tensor<64x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>} loc("a"),
    %b: tensor<66xf32> loc("b"))
    -> (tensor<64x8xf32> {jax.result_info = "result.nu['a']", sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>},
        tensor<64x8xf32> {jax.result_info = "result.nu['b']", sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>},
        tensor<64x8xf32> {jax.result_info = "result.nu['c']['d']", sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>},
        tensor<64x8xf32> {jax.result_info = "result.nu['c']['e']", sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>},
        tensor<64x8xf32> {jax.result_info = "result.nu['f']", sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>},
        tensor<66xf32> {jax.result_info = "result.mu"},
        tensor<64x8xf32> {jax.result_info = "result.of_constraint"}) {
  %0 = stablehlo.add %a, %a : tensor<64x8xf32> loc(#double)
  %1 = stablehlo.multiply %a, %a : tensor<64x8xf32> loc(#double)
  %2 = stablehlo.subtract %a, %a : tensor<64x8xf32> loc(#double)
  %3 = stablehlo.negate %a : tensor<64x8xf32> loc(#double)
  %4 = stablehlo.tanh %a : tensor<64x8xf32> loc(#double)
  %5 = stablehlo.add %b, %b : tensor<66xf32> loc(#double)
  %6 = sdy.sharding_constraint %5 <@mesh, [{"data"}]> : tensor<66xf32>
  %7 = stablehlo.divide %a, %a : tensor<64x8xf32> loc(#double)
  %8 = sdy.sharding_constraint %7 <@mesh, [{}, {}]> : tensor<64x8xf32>
  return %0, %1, %2, %3, %4, %6, %8 : tensor<64x8xf32>, tensor<64x8xf32>, tensor<64x8xf32>, tensor<64x8xf32>, tensor<64x8xf32>, tensor<66xf32>, tensor<64x8xf32> loc(#lower)
}
