// Well-known machines have topologies: the last axes of a mesh are within a node, the others between nodes.
// RUN: split-file %s %t
// RUN: sdy-opt %t/program.mlir --report --topology=h100 | filecheck %s --check-prefix=H100
// RUN: sdy-opt %t/program.mlir --report --topology=tpu-v5e | filecheck %s --check-prefix=TPU
// RUN: sdy-opt %t/program.mlir --report --topology=a100 | filecheck %s --check-prefix=A100
// RUN: sdy-opt %t/program.mlir --report=%t/report.json --topology=tpu-v5e -o /dev/null && filecheck %s --check-prefix=JSON < %t/report.json
// A name may have a shape; without one, the shape is the smallest that has the devices of the mesh.
// RUN: sdy-opt %t/program.mlir --report --topology=tpu-v5e:2x4,slices=4 | filecheck %s --check-prefix=SLICES
// RUN: sdy-opt %t/program.mlir --report --topology=tpu7x | filecheck %s --check-prefix=TPU7X
// RUN: sdy-opt %t/program.mlir --report --topology=h100:4x8 | filecheck %s --check-prefix=NODES
// RUN: sdy-opt %t/program.mlir --report --topology=cpu | filecheck %s --check-prefix=CPU
// Names and shapes of no machine.
// RUN: not sdy-opt %t/program.mlir --report --topology=tpu-v5 2>&1 | filecheck %s --check-prefix=UNKNOWN
// RUN: sdy-opt %t/program.mlir --report --topology=v5litepod-32 | filecheck %s --check-prefix=KNOWN
// RUN: not sdy-opt %t/program.mlir --report --topology=tpu-v5e:4 2>&1 | filecheck %s --check-prefix=RANK
// RUN: not sdy-opt %t/program.mlir --report --topology=tpu-v5e:32x4 2>&1 | filecheck %s --check-prefix=LARGE
// RUN: not sdy-opt %t/program.mlir --report --topology=tpu-v5e:3x3 2>&1 | filecheck %s --check-prefix=HOSTS
// RUN: not sdy-opt %t/program.mlir --check --topology=tpu-v4:2x3x5 2>&1 | filecheck %s --check-prefix=CUBE
// RUN: not sdy-opt %t/program.mlir --report --topology=tpu-v5e:4x4,slices=1 2>&1 | filecheck %s --check-prefix=FEWER
// RUN: not sdy-opt %t/program.mlir --lint --topology=tpu-v5e:4x4,slices=1 2>&1 | filecheck %s --check-prefix=FEWER
// RUN: not sdy-opt %t/program.mlir --report --topology=h100:8,slices=2 2>&1 | filecheck %s --check-prefix=NO-SLICES
// A file may name a machine, and replace figures of it.
// RUN: sdy-opt %t/program.mlir --report --topology=%t/derived.toml | filecheck %s --check-prefix=DERIVED
// RUN: not sdy-opt %t/program.mlir --report --topology=%t/wrong.toml 2>&1 | filecheck %s --check-prefix=WRONG
// Keys for all axes in a file.
// RUN: sdy-opt %t/program.mlir --report --topology=%t/link.toml | filecheck %s --check-prefix=LINK
// RUN: not sdy-opt %t/program.mlir --report --topology=%t/node.toml 2>&1 | filecheck %s --check-prefix=NODE

// The chain of three elementwise operations reads 2 MiB and writes 2 MiB, in one kernel.
// H100: fits in 74.5 GiB of device memory
// H100: estimated time: {{.*}} to
// H100: communication {{.*}}, products 0.00 s, other operations 3.46 us
// H100: the least if communication overlaps with all else, the most if nothing overlaps and products are
// H100-NEXT: as slow as in measured steps
// H100: for h100: h100:4x8, 989 TFLOP/s
// H100: data on the network (4): 47 GB/s; model on a node (8): {{.*}} GB/s
// H100: error of collectives on h100: median 11%, 9 of 10 within 68%, of 42 measured times
// 15.75 GiB of 16 are usable.
// TPU:  fits in 15.8 GiB of device memory
// TPU:  other operations 7.50 us
// TPU:  for tpu-v5e: tpu-v5e:4x8, 197 TFLOP/s
// TPU:  data on x (4): 45 GB/s; model on y (8): 45 GB/s
// TPU:  error of compute on tpu-v5e: median 24%, 9 of 10 within 100%, of 19 programs above 100 us that
// A100: times on a100 are not validated: formulas only
// JSON: "device_memory": 16911433728,
// JSON-NEXT: "fits": true,
// JSON: "elementwise": [
// JSON: "range": [
// SLICES: for tpu-v5e:2x4,slices=4: 197
// TPU7X: fits in 94.7 GiB
// TPU7X: for tpu7x: tpu-v7x:2x2x4, 1.15
// NODES: for h100:4x8: 989 TFLOP/s
// CPU: unknown FLOP/s
// UNKNOWN:      unknown machine 'tpu-v5'
// UNKNOWN-NEXT: help: did you mean 'tpu-v5e' or 'tpu-v5p'?{{$}}
// KNOWN:  for v5litepod-32: tpu-v5e:4x8, 197 TFLOP/s
// RANK:      '4' is not a shape of tpu-v5e, which has 2 dimensions
// RANK-NEXT: help: write tpu-v5e:4x4
// LARGE:      '32x4' is larger than a slice of tpu-v5e, which is at most 16x16
// LARGE-NEXT: help: write the number of slices, such as tpu-v5e:4x4,slices=2
// HOSTS:      '3x3' is not a shape of tpu-v5e: 9 chips are no whole hosts of 2x2
// HOSTS-NEXT: help: write tpu-v5e:2x2 (4 devices) or tpu-v5e:4x4 (16 devices)
// CUBE:      '2x3x5' is not a shape of tpu-v4: 30 chips are no whole hosts of 2x2
// CUBE-NEXT: help: write tpu-v4:2x2x5 (20 devices) or tpu-v4:2x4x5 (40 devices)
// FEWER:      tpu-v5e:4x4,slices=1 has 16 devices, and the program 32
// FEWER:      help: write tpu-v5e:4x4,slices=2, or tpu-v5e:4x8
// NO-SLICES:      'h100:8,slices=2': only TPUs have slices
// NO-SLICES-NEXT: help: write nodes and devices of a node, such as h100:2x8
// DERIVED: fits in 15.8 GiB
// DERIVED: derived.toml: tpu-v5e:4x8, 100 TFLOP/s, 819 GB/s
// DERIVED-NEXT: of device memory; data on x (4): 45 GB/s; model on y (8): 45 GB/s
// WRONG:      wrong.toml:2:1: error: unknown machine 'h10'
// WRONG:      help: did you mean 'h100'?
// LINK: communication 14.7 s
// NODE: node.toml:1:1: error: 'node' is not a number of devices
// NODE: help: write node = 8

//--- link.toml
memory_bandwidth = "1 GB/s"
[link]
bandwidth = "1 MB/s"
latency = "1 us"

//--- derived.toml
machine = "tpu-v5e:4x8"
flops = "100 TFLOP/s"
[link]
latency = "2 us"

//--- wrong.toml
flops = "100 TFLOP/s"
machine = "h10"

//--- node.toml
node = 0

//--- program.mlir
sdy.mesh @mesh = <["data"=4, "model"=8]>
func.func @main(%a: tensor<4096x1024xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>}) -> (tensor<4096x1024xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) {
  %0 = stablehlo.tanh %a : tensor<4096x1024xf32>
  %1 = stablehlo.exponential %0 : tensor<4096x1024xf32>
  %2 = stablehlo.negate %1 : tensor<4096x1024xf32>
  return %2 : tensor<4096x1024xf32>
}
