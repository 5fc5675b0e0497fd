// Expected diagnostics may be those of a budget; the exit status depends only on whether they are as expected.
// RUN: sdy-opt %s --budget=%S/Inputs/one_kib.toml -verify-diagnostics=only-expected

sdy.mesh @mesh = <["x"=2]>

// A collective on an argument is shown at the first use of its result.
func.func @main(%a: tensor<1024xf32>) -> tensor<1024xf32> {
  %0 = sdy.all_reduce {"x"} %a out_sharding=<@mesh, [{}]> : tensor<1024xf32>
  // expected-error @+2 {{all_reduce {"x"} of tensor<1024xf32>: 4.00 KiB, over the budget of 1.00 KiB}}
  // expected-note @+1 {{cause: result 0 of @main needs this sharding: the program states it}}
  return %0 : tensor<1024xf32>
}
