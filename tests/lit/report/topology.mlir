// A topology adds estimated times. It has no link along "y", so that the time of one collective is unknown.
// RUN: sdy-opt %s --report --topology=%S/Inputs/topology.toml | filecheck %s
// RUN: sdy-opt %s --report=%t.json --topology=%S/Inputs/topology.toml -o /dev/null && filecheck %s --check-prefix=JSON < %t.json
// Without any figures and changes, the machine is for nothing.
// RUN: not sdy-opt %s --topology=%S/Inputs/topology.toml 2>&1 | filecheck %s --check-prefix=ALONE
// An error in a topology is located in its file.
// RUN: not sdy-opt %s --report --topology=%s 2>&1 | filecheck %s --check-prefix=FAULTY

// The product of 8.192 kFLOP takes longer than the all-gather: 6 KiB, and three steps of 1 ms.
// CHECK:      estimated time: 8.19 s to 14.2 s + 1 collective of unknown time
// CHECK-NEXT:   communication 6.00 s, products 8.19 s, elementwise operations 0.00 s
// CHECK-NEXT:   the least if communication overlaps with all else and elementwise operations are fused, the most
// CHECK-NEXT:   if nothing overlaps and each runs alone
// CHECK-NEXT:   an estimate from FLOPs, bytes and wire bytes for topology.toml: 1 kFLOP/s, 1 GB/s of device
// CHECK-NEXT:   memory, 1.02 kB/s sent and 1.00 ms a step along x
// CHECK:        8.19 s    58%      1  topology.mlir:{{[0-9]+}}  dot_general       compute
// CHECK:        6.00 s    42%      1  topology.mlir:{{[0-9]+}}  all_gather {"x"}  communication
// JSON:      "time": {
// JSON:      "communication": {
// JSON:      "high": 6.003,
// JSON-NEXT: "unknown": 1
// ALONE:     sdy-opt: the --topology option is the machine of figures and changes, and nothing asks for them
// ALONE:     help: add --report
// FAULTY:    topology.mlir:1:1: error: invalid TOML: Invalid statement
// FAULTY-NEXT: // A topology adds estimated times.
// FAULTY-NEXT: ^
// FAULTY-NEXT: help: write one key = value per line
sdy.mesh @mesh = <["x"=4, "y"=2]>

func.func @main(%a: tensor<64x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %b: tensor<32x2xf32>) -> tensor<64x2xf32> {
  %0 = sdy.all_gather [{"x"}, {}] %a out_sharding=<@mesh, [{}, {}]> : tensor<64x32xf32>
  %1 = stablehlo.dot_general %0, %b, contracting_dims = [1] x [0] : (tensor<64x32xf32>, tensor<32x2xf32>) -> tensor<64x2xf32>
  %2 = sdy.all_reduce {"y"} %1 out_sharding=<@mesh, [{}, {}]> : tensor<64x2xf32>
  return %2 : tensor<64x2xf32>
}
