// REQUIRES: jax
// RUN: sdy-opt %s --validate -split-input-file -verify-diagnostics -sdy-insert-explicit-reshards=enable-full-version=true -sdy-insert-explicit-reshards=enable-full-version=true

// Reshards are inserted twice, so the partial products are added twice: the output is partitioned, run on 2
// devices, and the sums are twice as large as those of the input. The other result is right.
sdy.mesh @mesh = <["x"=2]>
func.func @main(%a: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}, %b: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<8x16xf32>, tensor<8x8xf32>) {
  %0 = stablehlo.negate %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"x"}]>]>} : tensor<8x16xf32>
  // expected-warning @+4 {{op 'sdy.all_reduce' is unknown to SDY sharding rule registry}}
  // expected-warning @+3 {{repeats the all-reduce along {"x"}}}
  // expected-error @+2 {{result #1 of @main differs on all 2 devices: by 1 times its largest element}}
  // expected-note @+1 {{of the shard on device 0 is}}
  %1 = stablehlo.dot %a, %b {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>} : (tensor<8x16xf32>, tensor<16x8xf32>) -> tensor<8x8xf32>
  return %0, %1 : tensor<8x16xf32>, tensor<8x8xf32>
}

// -----

// Along "y" there is nothing to add twice, so there is no difference.
sdy.mesh @mesh = <["y"=2]>
// expected-remark @+1 {{validated: @rows: 1 result is equal on 2 devices for 1 random input}}
func.func @rows(%a: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}, %b: tensor<16x8xf32>) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}) {
  %0 = stablehlo.dot %a, %b {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}, {}]>]>} : (tensor<8x16xf32>, tensor<16x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}
