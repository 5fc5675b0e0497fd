// RUN: sdy-opt %s -sdy-reshard-to-collectives -verify-diagnostics | filecheck %s

sdy.mesh @mesh = <["z"=12]>

// Sub-axes of sizes 2 and 3 conflict: after two rounds, the last dimension has the right sub-axes of "z" in
// the wrong order. C++ stops here as well, without a warning.
// CHECK-LABEL: func @parts_that_do_not_divide
func.func @parts_that_do_not_divide(%a: tensor<6x6x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"z":(3)4}, {"z":(1)3}, {}]>}) -> tensor<6x6x6xf32> {
  // CHECK: out_sharding=<@mesh, [{}, {"z":(6)2}, {"z":(3)2, "z":(1)3}]>
  // CHECK-NEXT: return
  // expected-warning @+1 {{target sharding not reached: stopped at #sdy.sharding<@mesh, [{}, {"z":(6)2}, {"z":(3)2, "z":(1)3}]>, because the axis sizes do not divide each other}}
  %0 = sdy.reshard %a <@mesh, [{}, {"z":(6)2}, {"z":(1)6}]> : tensor<6x6x6xf32>
  return %0 : tensor<6x6x6xf32>
}
