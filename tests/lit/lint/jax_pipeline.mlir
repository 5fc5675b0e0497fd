// Without a pass, lint looks at what a report is on: shardings propagate through chlo as in XLA, so no device repeats
// the second product. Rules that try changes run beside a report, too.
// RUN: sdy-opt %s --lint --lint-config=- | filecheck %s
// RUN: sdy-opt %s --lint --lint-config=- --report=%t.json | filecheck %s
// CHECK: no findings

// Shardy's own pipeline stops at chlo.
// RUN: sdy-opt %s -sdy-propagation-pipeline=enable-insert-explicit-collectives=true --lint=redundant-compute --lint-config=- 2>&1 | filecheck %s --check-prefix=NAMED
// NAMED: 17:8: warning: dot repeats 88% of its FLOPs, 30.1 GFLOP per device: nothing of it is sharded along "data" [redundant-compute]
sdy.mesh @mesh = <["data"=8]>

func.func @main(%x: tensor<65536x512xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>},
                %w: tensor<512x512xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) -> tensor<65536x512xf32> {
  %0 = stablehlo.dot %x, %w : (tensor<65536x512xf32>, tensor<512x512xf32>) -> tensor<65536x512xf32>
  %1 = chlo.square %0 : tensor<65536x512xf32> -> tensor<65536x512xf32>
  %2 = stablehlo.transpose %w, dims = [1, 0] : (tensor<512x512xf32>) -> tensor<512x512xf32>
  %3 = stablehlo.dot %1, %2 : (tensor<65536x512xf32>, tensor<512x512xf32>) -> tensor<65536x512xf32>
  return %3 : tensor<65536x512xf32>
}
