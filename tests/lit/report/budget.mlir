// A program within its budget is printed as usual.
// RUN: sdy-opt %s --budget=%S/Inputs/within.toml -o - | filecheck %s --check-prefix=WITHIN
// A limit that is exceeded is an error: at the collective, or at the one that contributes most.
// RUN: not sdy-opt %s --budget=%S/Inputs/exceeded.toml -o %t 2>&1 | filecheck %s
// An error in a budget is located in its file.
// RUN: not sdy-opt %s --budget=%S/Inputs/unknown_key.toml 2>&1 | filecheck %s --check-prefix=FAULTY

// The time of a run is that on a machine, if nothing overlaps.
// RUN: not sdy-opt %s --budget=%S/Inputs/time.toml --topology=h100:4 2>&1 | filecheck %s --check-prefix=TIME
// RUN: sdy-opt %s --budget=%S/Inputs/time.toml --topology=tpu-v5e:2x2 -o - | filecheck %s --check-prefix=WITHIN
// RUN: not sdy-opt %s --budget=%S/Inputs/time.toml 2>&1 | filecheck %s --check-prefix=NO-TIME

// CHECK: budget.mlir:{{[0-9]+}}:8: error: all_gather {"x"} of tensor<16x32xf32>: 6.00 KiB, over the budget of 4.00 KiB for a single all_gather along "x"
// CHECK: note: cause: result 0 of @main needs this sharding: the program states it
// CHECK: exceeded.toml:7:1: note: limit set here
// CHECK: budget.mlir:{{[0-9]+}}:8: error: all collectives: 6.00 KiB on the wire, over the budget of 4.00 KiB
// CHECK: budget.mlir:{{[0-9]+}}:8: note: all_gather {"x"} of tensor<16x32xf32>: 6.00 KiB; result 0 of @main needs this sharding: the program states it
// CHECK: exceeded.toml:2:1: note: limit set here
// FAULTY: unknown_key.toml:2:1: error: unknown key 'wire_byte' in [total]
// FAULTY: help: did you mean 'wire_bytes'?
// TIME:      budget.mlir:{{[0-9]+}}:8: error: time if nothing overlaps: {{.*}} us, over the budget of 15.0 us
// TIME:      note: all_gather {"x"}: {{.*}} us
// TIME:      time.toml:2:1: note: limit set here
// NO-TIME:      time.toml:2:1: error: time if nothing overlaps: unknown, and not checked
// NO-TIME:      help: name a machine with --topology, such as tpu-v5e:4x4, or allow unknown figures with --budget-allow-unknown
sdy.mesh @mesh = <["x"=4]>

// WITHIN: sdy.all_gather
func.func @main(%a: tensor<64x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<64x32xf32> {
  %0 = stablehlo.negate %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : tensor<64x32xf32>
  %1 = sdy.all_gather [{"x"}, {}] %0 out_sharding=<@mesh, [{}, {}]> : tensor<64x32xf32>
  return %1 : tensor<64x32xf32>
}
