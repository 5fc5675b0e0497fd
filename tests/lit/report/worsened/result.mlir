// A result that must be replicated is gathered at the end. The errors of budget and baseline are at lines of the model.
// RUN: split-file %s %t
// RUN: sdy-opt %t/good.mlir -sdy-propagation-pipeline=enable-insert-explicit-collectives=true --budget=%t/budget.toml --report=%t/good.json -o /dev/null
// RUN: not sdy-opt %t/worse.mlir -sdy-propagation-pipeline=enable-insert-explicit-collectives=true --budget=%t/budget.toml -o /dev/null 2>&1 | filecheck %s --check-prefix=BUDGET
// RUN: not sdy-opt %t/worse.mlir -sdy-propagation-pipeline=enable-insert-explicit-collectives=true --baseline=%t/good.json -o /dev/null 2>&1 | filecheck %s --check-prefix=BASELINE

// BUDGET: model.py:51:0: error: all_gather {"data"} of tensor<16x64xf32>: 12.0 KiB, over the budget of 1.00 KiB for a single all_gather along "data"
// BUDGET-NEXT: model.py:51:0: note: cause: result 0 of @main needs this sharding: the program states it
// BUDGET-NEXT: {{.*}}budget.toml:{{[0-9]+:[0-9]+}}: note: limit set here
// BASELINE: model.py:51:0: error: wire bytes per device grew from 0 B to 12.0 KiB
// BASELINE-NEXT: model.py:51:0: note: all_gather {"data"}: 12.0 KiB, is new; result 0 of @main needs this sharding: the program states it
// BASELINE-NEXT: {{.*}}good.json:{{[0-9]+:[0-9]+}}: note: the baseline is set here
// BASELINE-NEXT: help: if this is intended, write a new baseline with --report={{.*}}good.json, or allow it with --tolerance=PERCENT
// BASELINE: model.py:51:0: error: peak of live memory grew from 14.0 KiB to 30.0 KiB

//--- budget.toml
[[rules]]
kind = "all_gather"
axis = "data"
max_bytes = "1 KiB"
unless = ["eval.py"]

//--- good.mlir
sdy.mesh @mesh = <["data"=4, "model"=2]>

func.func @main(
    %x: tensor<64x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>}, %w: tensor<32x64xf32>)
    -> (tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>}) {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<64x32xf32>, tensor<32x64xf32>) -> tensor<64x64xf32> loc("logits"("model.py":51:0))
  return %0 : tensor<64x64xf32> loc("model.py":52:0)
}

//--- worse.mlir
sdy.mesh @mesh = <["data"=4, "model"=2]>

func.func @main(
    %x: tensor<64x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>}, %w: tensor<32x64xf32>)
    -> (tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<64x32xf32>, tensor<32x64xf32>) -> tensor<64x64xf32> loc("logits"("model.py":51:0))
  return %0 : tensor<64x64xf32> loc("model.py":52:0)
}
