// RUN: sdy-opt %s --compare-hlo=%S/Inputs/tpu_bf16.txt | filecheck %s
// RUN: sdy-opt %s --compare-hlo=%S/Inputs/tpu_bf16.txt --topology=tpu-v5e:2x2 | filecheck %s --check-prefix=MACHINE
// RUN: not sdy-opt %s --compare-hlo=%S/Inputs/tpu_bf16.txt --hlo-budget=%S/Inputs/small_budget.toml 2>&1 | filecheck %s --check-prefix=BUDGET

// With --topology, the report is of what the compiler of that machine makes. The budget is of what it made.

// CHECK:      report: 1 collective, 192.0 KiB on the wire per device{{$}}
// CHECK-NEXT: XLA:    1 collective, 96.0 KiB on the wire per device, compiled for TPU
// CHECK:      other element type: sent as bf16: products of default precision (%all-gather.1)

// MACHINE:      report: 1 collective, 96.0 KiB on the wire per device, for tpu-v5e:2x2
// MACHINE-NEXT: XLA:    1 collective, 96.0 KiB on the wire per device, compiled for TPU
// MACHINE-EMPTY:
// MACHINE-NEXT: 1 of 1 collectives are the same in XLA's program

// BUDGET: model.py:22{{.*}}: error: all_gather collectives: 96.0 KiB on the wire, over the budget of 64.0 KiB

#up = loc("jit(step)/dot_general"("block"("model.py":22:5)))

sdy.mesh @mesh = <["x"=4]>
func.func public @main(
    %arg0: tensor<4096x128xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
    %arg1: tensor<128x512xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
    -> (tensor<4096x512xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0] : (tensor<4096x128xf32>, tensor<128x512xf32>) -> tensor<4096x512xf32> loc(#up)
  return %0 : tensor<4096x512xf32>
}
