// A weight that is sharded along the batch axis is gathered where it is used. The errors of budget and baseline are at lines of the model.
// RUN: split-file %s %t
// RUN: sdy-opt %t/good.mlir -sdy-propagation-pipeline=enable-insert-explicit-collectives=true --budget=%t/budget.toml --report=%t/good.json -o /dev/null
// RUN: not sdy-opt %t/worse.mlir -sdy-propagation-pipeline=enable-insert-explicit-collectives=true --budget=%t/budget.toml -o /dev/null 2>&1 | filecheck %s --check-prefix=BUDGET
// RUN: not sdy-opt %t/worse.mlir -sdy-propagation-pipeline=enable-insert-explicit-collectives=true --baseline=%t/good.json -o /dev/null 2>&1 | filecheck %s --check-prefix=BASELINE

// BUDGET: model.py:11:0: error: all_gather collectives: 6.00 KiB on the wire, over the budget of 0 B
// BUDGET-NEXT: model.py:11:0: note: all_gather {"data"} of tensor<8x64xf32>: 6.00 KiB; dot_general needs this sharding of a function argument: "data" shards dimension 0 of its result
// BUDGET-NEXT: {{.*}}budget.toml:{{[0-9]+:[0-9]+}}: note: limit set here
// BASELINE: model.py:11:0: error: wire bytes per device grew from 2.00 KiB to 8.00 KiB
// BASELINE-NEXT: model.py:11:0: note: all_gather {"data"}: 6.00 KiB, is new; dot_general needs this sharding of a function argument: "data" shards dimension 0 of its result
// BASELINE-NEXT: {{.*}}good.json:{{[0-9]+:[0-9]+}}: note: the baseline is set here
// BASELINE-NEXT: help: if this is intended, write a new baseline with --report={{.*}}good.json, or allow it with --tolerance=PERCENT

//--- budget.toml
[kinds]
all_gather = 0

//--- good.mlir
sdy.mesh @mesh = <["data"=4, "model"=2]>

func.func @main(
    %x: tensor<64x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>},
    %w1: tensor<32x128xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>},
    %w2: tensor<128x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}]>}) -> tensor<64x32xf32> {
  %0 = stablehlo.dot_general %x, %w1, contracting_dims = [1] x [0] : (tensor<64x32xf32>, tensor<32x128xf32>) -> tensor<64x128xf32> loc("up"("model.py":11:0))
  %1 = stablehlo.tanh %0 : tensor<64x128xf32> loc("tanh"("model.py":12:0))
  %2 = stablehlo.dot_general %1, %w2, contracting_dims = [1] x [0] : (tensor<64x128xf32>, tensor<128x32xf32>) -> tensor<64x32xf32> loc("down"("model.py":13:0))
  return %2 : tensor<64x32xf32> loc("model.py":14:0)
}

//--- worse.mlir
sdy.mesh @mesh = <["data"=4, "model"=2]>

func.func @main(
    %x: tensor<64x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>},
    %w1: tensor<32x128xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>},
    %w2: tensor<128x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}]>}) -> tensor<64x32xf32> {
  %0 = stablehlo.dot_general %x, %w1, contracting_dims = [1] x [0] : (tensor<64x32xf32>, tensor<32x128xf32>) -> tensor<64x128xf32> loc("up"("model.py":11:0))
  %1 = stablehlo.tanh %0 : tensor<64x128xf32> loc("tanh"("model.py":12:0))
  %2 = stablehlo.dot_general %1, %w2, contracting_dims = [1] x [0] : (tensor<64x128xf32>, tensor<128x32xf32>) -> tensor<64x32xf32> loc("down"("model.py":13:0))
  return %2 : tensor<64x32xf32> loc("model.py":14:0)
}
