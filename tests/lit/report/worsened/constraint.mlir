// A constraint whose axes are exchanged by mistake causes reshards before and after it. The errors of budget and baseline are at lines of the model.
// RUN: split-file %s %t
// RUN: sdy-opt %t/good.mlir -sdy-propagation-pipeline=enable-insert-explicit-collectives=true --budget=%t/budget.toml --report=%t/good.json -o /dev/null
// RUN: not sdy-opt %t/worse.mlir -sdy-propagation-pipeline=enable-insert-explicit-collectives=true --budget=%t/budget.toml -o /dev/null 2>&1 | filecheck %s --check-prefix=BUDGET
// RUN: not sdy-opt %t/worse.mlir -sdy-propagation-pipeline=enable-insert-explicit-collectives=true --baseline=%t/good.json -o /dev/null 2>&1 | filecheck %s --check-prefix=BASELINE

// BUDGET: model.py:42:0: error: all_to_all collectives: 4.00 KiB on the wire, over the budget of 0 B
// BUDGET-NEXT: model.py:42:0: note: all_to_all {"data":(2)2} of tensor<16x64xf32>: 2.00 KiB; exponential at model.py:43 needs this sharding: "data" shards dimension 1 of its result
// BUDGET-NEXT: model.py:43:0: note: all_to_all {"data":(2)2} of tensor<32x32xf32>: 2.00 KiB; result 0 of @main needs this sharding
// BUDGET-NEXT: {{.*}}budget.toml:{{[0-9]+:[0-9]+}}: note: limit set here
// BUDGET: model.py:42:0: error: collective_permute collectives: 4.00 KiB on the wire, over the budget of 0 B
// BASELINE: model.py:43:0: error: wire bytes per device grew from 0 B to 8.00 KiB
// BASELINE-NEXT: model.py:43:0: note: all_to_all {"data":(2)2}: 2.00 KiB, is new; result 0 of @main needs this sharding
// BASELINE-NEXT: model.py:42:0: note: all_to_all {"data":(2)2}: 2.00 KiB, is new; exponential at model.py:43 needs this sharding: "data" shards dimension 1 of its result
// BASELINE-NEXT: model.py:43:0: note: collective_permute {"data", "model"}: 2.00 KiB, is new; result 0 of @main needs this sharding
// BASELINE-NEXT: {{.*}}good.json:{{[0-9]+:[0-9]+}}: note: the baseline is set here
// BASELINE-NEXT: help: if this is intended, write a new baseline with --report={{.*}}good.json, or allow it with --tolerance=PERCENT

//--- budget.toml
[kinds]
all_gather = 0
all_to_all = 0
collective_permute = 0

//--- good.mlir
sdy.mesh @mesh = <["data"=4, "model"=2]>

func.func @main(
    %x: tensor<64x128xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {"model"}]>}) -> (tensor<64x128xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {"model"}]>}) {
  %0 = stablehlo.tanh %x : tensor<64x128xf32> loc("tanh"("model.py":41:0))
  %1 = sdy.sharding_constraint %0 <@mesh, [{"data"}, {"model"}]> : tensor<64x128xf32> loc("sharding_constraint"("model.py":42:0))
  %2 = stablehlo.exponential %1 : tensor<64x128xf32> loc("exp"("model.py":43:0))
  return %2 : tensor<64x128xf32> loc("model.py":44:0)
}

//--- worse.mlir
sdy.mesh @mesh = <["data"=4, "model"=2]>

func.func @main(
    %x: tensor<64x128xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {"model"}]>}) -> (tensor<64x128xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {"model"}]>}) {
  %0 = stablehlo.tanh %x : tensor<64x128xf32> loc("tanh"("model.py":41:0))
  %1 = sdy.sharding_constraint %0 <@mesh, [{"model"}, {"data"}]> : tensor<64x128xf32> loc("sharding_constraint"("model.py":42:0))
  %2 = stablehlo.exponential %1 : tensor<64x128xf32> loc("exp"("model.py":43:0))
  return %2 : tensor<64x128xf32> loc("model.py":44:0)
}
