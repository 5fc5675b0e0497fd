// RUN: sdy-opt %s -sdy-reshard-to-collectives -verify-diagnostics | filecheck %s

sdy.mesh @mesh = <["z"=12]>

// Parts of 2 and of 3 devices get in each other's way: after two rounds the parts of "z" that split the
// last dimension are the right ones in the wrong order. C++ ends here too, and does not say so.
// CHECK-LABEL: func @parts_that_do_not_divide
func.func @parts_that_do_not_divide(%a: tensor<6x6x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"z":(3)4}, {"z":(1)3}, {}]>}) -> tensor<6x6x6xf32> {
  // CHECK: out_sharding=<@mesh, [{}, {"z":(6)2}, {"z":(3)2, "z":(1)3}]>
  // CHECK-NEXT: return
  // expected-warning @+1 {{target sharding not reached: stopped at #sdy.sharding<@mesh, [{}, {"z":(6)2}, {"z":(3)2, "z":(1)3}]>, because the axis sizes do not divide each other}}
  %0 = sdy.reshard %a <@mesh, [{}, {"z":(6)2}, {"z":(1)6}]> : tensor<6x6x6xf32>
  return %0 : tensor<6x6x6xf32>
}
