// A batch that is not sharded makes all devices along "data" repeat a product. The errors of budget and baseline are at lines of the model.
// RUN: split-file %s %t
// RUN: sdy-opt %t/good.mlir -sdy-propagation-pipeline=enable-insert-explicit-collectives=true --budget=%t/budget.toml --report=%t/good.json -o /dev/null
// RUN: not sdy-opt %t/worse.mlir -sdy-propagation-pipeline=enable-insert-explicit-collectives=true --budget=%t/budget.toml -o /dev/null 2>&1 | filecheck %s --check-prefix=BUDGET
// RUN: not sdy-opt %t/worse.mlir -sdy-propagation-pipeline=enable-insert-explicit-collectives=true --baseline=%t/good.json -o /dev/null 2>&1 | filecheck %s --check-prefix=BASELINE

// BUDGET: model.py:21:0: error: repeated FLOPs: 196.6 kFLOP, over the budget of 0 FLOP
// BUDGET-NEXT: model.py:21:0: note: dot_general %0: 196.6 kFLOP repeated
// BUDGET-NEXT: {{.*}}budget.toml:{{[0-9]+:[0-9]+}}: note: limit set here
// BASELINE: model.py:21:0: error: peak of live memory grew from 18.0 KiB to 48.0 KiB
// BASELINE-NEXT: model.py:21:0: note: tensor<64x128xf32>: 16.0 KiB, was 4.00 KiB
// BASELINE-NEXT: model.py:22:0: note: tensor<64x128xf32>: 16.0 KiB, was 4.00 KiB
// BASELINE-NEXT: <unknown>:0: note: x: tensor<64x32xf32>: 8.00 KiB, was 2.00 KiB
// BASELINE-NEXT: {{.*}}good.json:{{[0-9]+:[0-9]+}}: note: the baseline is set here
// BASELINE-NEXT: help: if this is intended, write a new baseline with --report={{.*}}good.json, or allow it with --tolerance=PERCENT
// BASELINE: model.py:21:0: error: FLOPs per device grew from 65.5 kFLOP to 262.1 kFLOP

//--- budget.toml
[total]
repeated_flops = 0

//--- good.mlir
sdy.mesh @mesh = <["data"=4, "model"=2]>

func.func @main(
    %x: tensor<64x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>} loc("x"),
    %w: tensor<32x128xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>} loc("w")) -> tensor<64x128xf32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<64x32xf32>, tensor<32x128xf32>) -> tensor<64x128xf32> loc("project"("model.py":21:0))
  %1 = stablehlo.tanh %0 : tensor<64x128xf32> loc("tanh"("model.py":22:0))
  return %1 : tensor<64x128xf32> loc("model.py":23:0)
}

//--- worse.mlir
sdy.mesh @mesh = <["data"=4, "model"=2]>

func.func @main(
    %x: tensor<64x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>} loc("x"),
    %w: tensor<32x128xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>} loc("w")) -> tensor<64x128xf32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<64x32xf32>, tensor<32x128xf32>) -> tensor<64x128xf32> loc("project"("model.py":21:0))
  %1 = stablehlo.tanh %0 : tensor<64x128xf32> loc("tanh"("model.py":22:0))
  return %1 : tensor<64x128xf32> loc("model.py":23:0)
}
