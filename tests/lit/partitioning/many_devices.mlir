// RUN: sdy-opt %s -sdy-resolve-permutation-factors | filecheck %s
// RUN: sdy-opt %s -sdy-partition-pipeline -verify-diagnostics

// A halo exchange lists pairs of devices, which is too much on a mesh of 2^40 devices: the tensor is gathered. The
// all-gather lists all devices, too, so it is an error, before a table fills the memory.

sdy.mesh @mesh = <["x"=1099511627776]>

// CHECK-LABEL: func.func @main
// CHECK-NEXT: %c = stablehlo.constant dense<7> : tensor<i8>
// CHECK-NEXT: %0 = sdy.reshard %arg0 <@mesh, [{}]> : tensor<1099511627776xi8>
// CHECK-NEXT: %1 = stablehlo.pad %0, %c, low = [1], high = [-1], interior = [0]
// CHECK-NEXT: %2 = sdy.reshard %1 <@mesh, [{"x"}]> : tensor<1099511627776xi8>
// expected-error @+2 {{needs a table of all 1099511627776 devices; the limit is 1048576}}
// expected-error @+1 {{failed to legalize operation 'sdy.all_gather'}}
func.func @main(%a: tensor<1099511627776xi8> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> (tensor<1099511627776xi8> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  %c = stablehlo.constant dense<7> : tensor<i8>
  %0 = stablehlo.pad %a, %c, low = [1], high = [-1], interior = [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : (tensor<1099511627776xi8>, tensor<i8>) -> tensor<1099511627776xi8>
  return %0 : tensor<1099511627776xi8>
}
