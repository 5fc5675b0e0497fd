// A report is printed on stdout instead of the program.
// RUN: sdy-opt %s --report | filecheck %s
// With -o, the program is written as well.
// RUN: sdy-opt %s --report -o %t | filecheck %s && filecheck %s --check-prefix=PROGRAM < %t
// RUN: sdy-opt %s --report-rows=1 --report | filecheck %s --check-prefix=ROWS

sdy.mesh @mesh = <["x"=4, "y"=2]>

// CHECK:      8 devices, mesh <["x"=4, "y"=2]>
// CHECK:      communication: 8.00 KiB on the wire per device, 2 collectives
// CHECK:        6.00 KiB    75%      1  all_gather {"x"}
// CHECK-NEXT:   2.00 KiB    25%      1  all_reduce {"y"}
// CHECK:        6.00 KiB    75%      1  communication.mlir:{{[0-9]+}}  all_gather {"x"}
// CHECK-NEXT:     result 0 of @main needs this sharding: the program states it; P('x') → P()
// The argument, the results and %0: 2, 8, 2 and 2 KiB.
// CHECK:      memory per device: peak 14.0 KiB at communication.mlir
// CHECK:      compute per device: 0 FLOP in 0 products
// PROGRAM:    sdy.all_gather
// ROWS:         6.00 KiB    75%      1  all_gather {"x"}
// ROWS-NEXT:    … and 1 more
func.func @main(%a: tensor<64x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
    -> (tensor<64x32xf32>, tensor<64x32xf32>) {
  %0 = stablehlo.negate %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : tensor<64x32xf32>
  // The result is 8 KiB; a device receives the three quarters that it does not have.
  %1 = sdy.all_gather [{"x"}, {}] %0 out_sharding=<@mesh, [{}, {}]> : tensor<64x32xf32>
  // Each of the two devices in a ring sends half of its shard of 2 KiB twice.
  %2 = sdy.all_reduce {"y"} %0 out_sharding=<@mesh, [{"x"}, {}]> : tensor<64x32xf32>
  return %1, %2 : tensor<64x32xf32>, tensor<64x32xf32>
}
