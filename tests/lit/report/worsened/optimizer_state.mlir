// A momentum that is not sharded like its weight takes more memory on each device. The errors of budget and baseline are at lines of the model.
// RUN: split-file %s %t
// RUN: sdy-opt %t/good.mlir -sdy-propagation-pipeline=enable-insert-explicit-collectives=true --budget=%t/budget.toml --report=%t/good.json -o /dev/null
// RUN: not sdy-opt %t/worse.mlir -sdy-propagation-pipeline=enable-insert-explicit-collectives=true --budget=%t/budget.toml -o /dev/null 2>&1 | filecheck %s --check-prefix=BUDGET
// RUN: not sdy-opt %t/worse.mlir -sdy-propagation-pipeline=enable-insert-explicit-collectives=true --baseline=%t/good.json -o /dev/null 2>&1 | filecheck %s --check-prefix=BASELINE

// BUDGET: train.py:35:0: error: peak memory: 3.00 MiB, over the budget of 1.25 MiB
// BUDGET-NEXT: train.py:35:0: note: the peak is here
// BUDGET-NEXT: train.py:32:0: note: %arg1 of tensor<512x512xf32>: 1.00 MiB, on 8 devices
// BUDGET-NEXT: train.py:35:0: note: %3 of tensor<512x512xf32>: 1.00 MiB, on 8 devices
// BUDGET-NEXT: train.py:31:0: note: %arg0 of tensor<512x512xf32>: 256.0 KiB, on 2 devices
// BUDGET-NEXT: {{.*}}budget.toml:{{[0-9]+:[0-9]+}}: note: limit set here
// BASELINE: train.py:35:0: error: wire bytes per device grew from 0 B to 768.0 KiB
// BASELINE-NEXT: train.py:35:0: note: all_gather {"data"}: 768.0 KiB, is new; result 1 of @main needs this sharding: the program states it
// BASELINE-NEXT: {{.*}}good.json:{{[0-9]+:[0-9]+}}: note: the baseline is set here
// BASELINE-NEXT: help: if this is intended, write a new baseline with --report={{.*}}good.json, or allow it with --tolerance=PERCENT
// BASELINE: train.py:32:0: error: peak of live memory grew from 1.25 MiB to 3.00 MiB

//--- budget.toml
[total]
peak_memory = "1.25 MiB"

//--- good.mlir
sdy.mesh @mesh = <["data"=4, "model"=2]>

func.func @main(
    %w: tensor<512x512xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>} loc("weight"("train.py":31:0)),
    %m: tensor<512x512xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>} loc("momentum"("train.py":32:0)),
    %g: tensor<512x512xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>} loc("gradient"("train.py":33:0)))
    -> (tensor<512x512xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>}, tensor<512x512xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>}) {
  %0 = stablehlo.add %m, %g : tensor<512x512xf32> loc("momentum"("train.py":35:0))
  %1 = stablehlo.subtract %w, %0 : tensor<512x512xf32> loc("update"("train.py":36:0))
  return %1, %0 : tensor<512x512xf32>, tensor<512x512xf32> loc("train.py":37:0)
}

//--- worse.mlir
sdy.mesh @mesh = <["data"=4, "model"=2]>

func.func @main(
    %w: tensor<512x512xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>} loc("weight"("train.py":31:0)),
    %m: tensor<512x512xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>} loc("momentum"("train.py":32:0)),
    %g: tensor<512x512xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>} loc("gradient"("train.py":33:0)))
    -> (tensor<512x512xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>}, tensor<512x512xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) {
  %0 = stablehlo.add %m, %g : tensor<512x512xf32> loc("momentum"("train.py":35:0))
  %1 = stablehlo.subtract %w, %0 : tensor<512x512xf32> loc("update"("train.py":36:0))
  return %1, %0 : tensor<512x512xf32>, tensor<512x512xf32> loc("train.py":37:0)
}
