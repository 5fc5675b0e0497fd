// Well-known machines have topologies: the last axes of a mesh are within a node, the others between nodes.
// RUN: split-file %s %t
// RUN: sdy-opt %t/program.mlir --report --topology=h100 | filecheck %s --check-prefix=H100
// RUN: sdy-opt %t/program.mlir --report --topology=tpu-v5e | filecheck %s --check-prefix=TPU
// RUN: sdy-opt %t/program.mlir --report=%t/report.json --topology=tpu-v5e -o /dev/null && filecheck %s --check-prefix=JSON < %t/report.json
// RUN: not sdy-opt %t/program.mlir --report --topology=tpu-v99 2>&1 | filecheck %s --check-prefix=UNKNOWN
// Keys for all axes in a file.
// RUN: sdy-opt %t/program.mlir --report --topology=%t/link.toml | filecheck %s --check-prefix=LINK
// RUN: not sdy-opt %t/program.mlir --report --topology=%t/node.toml 2>&1 | filecheck %s --check-prefix=NODE

// The chain of three elementwise operations reads 2 MiB and writes 2 MiB; alone, each of the operations does.
// H100: fits in 74.5 GiB of device memory
// H100: estimated time: {{.*}} to
// H100: communication {{.*}}, products 0.00 s, elementwise operations 1.25 us to 3.76 us
// TPU:  fits in 16.0 GiB of device memory
// TPU:  elementwise operations 5.12 us to 15.4 us
// JSON: "device_memory": 17179869184,
// JSON-NEXT: "fits": true,
// JSON: "elementwise": [
// JSON: "range": [
// UNKNOWN: tpu-v99
// LINK: communication 14.7 s
// NODE: node.toml:1:1: error: 'node' is not a number of devices
// NODE: help: write node = 8

//--- link.toml
memory_bandwidth = "1 GB/s"
[link]
bandwidth = "1 MB/s"
latency = "1 us"

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
