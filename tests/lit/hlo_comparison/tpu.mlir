// RUN: sdy-opt %s --compare-hlo=%S/Inputs/tpu_async_fusion.txt | filecheck %s --check-prefix=ASYNC
// RUN: sdy-opt %s --compare-hlo=%S/Inputs/tpu_sparse_core.txt | filecheck %s --check-prefix=ASYNC
// RUN: sdy-opt %s --compare-hlo=%S/Inputs/tpu_unknown.txt | filecheck %s --check-prefix=UNKNOWN
// RUN: not sdy-opt %s --compare-hlo=%S/Inputs/tpu_unknown.txt --hlo-budget=%S/Inputs/total_budget.toml 2>&1 | filecheck %s --check-prefix=UNKNOWN-BUDGET

// TPU: a gather that fusions start, continue beside a product and end, or that a SparseCore does, is one.

// ASYNC:      report: 1 collective, 192.0 KiB on the wire per device
// ASYNC-NEXT: XLA:    1 collective, 192.0 KiB on the wire per device, compiled for TPU
// ASYNC-EMPTY:
// ASYNC-NEXT: 1 of 1 collectives are the same in XLA's program

// What is not understood, and may send, is named.

// UNKNOWN: XLA:    0 collectives, 0 B on the wire per device, compiled for TPU
// UNKNOWN: not understood: 1 custom-call MyAllGatherKernel, 256.0 KiB in one run, which may be sent (%kernel)
// UNKNOWN-BUDGET: total_budget.toml:2:1: error: 1 of all collectives have unknown bytes and are not counted

#up = loc("jit(step)/dot_general"("block"("model.py":20:5)))

sdy.mesh @mesh = <["x"=4]>
func.func public @main(
    %arg0: tensor<4096x128xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
    %arg1: tensor<128x512xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
    -> (tensor<4096x512xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0] : (tensor<4096x128xf32>, tensor<128x512xf32>) -> tensor<4096x512xf32> loc(#up)
  return %0 : tensor<4096x512xf32>
}
