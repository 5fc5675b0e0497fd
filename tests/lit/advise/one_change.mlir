// RUN: sdy-opt %s --advise --report-rows=2 | filecheck %s
// RUN: sdy-opt %s --advise --report-rows=2 --advise-jobs=1 | filecheck %s
// RUN: sdy-opt %s --advise=%t.json -o %t.mlir
// RUN: sdy-opt %t.mlir --report=%t.after.json -o /dev/null
// RUN: sdy-opt %s --advise=%t.html -o /dev/null
// RUN: filecheck %s --check-prefix=HTML --input-file=%t.html
// RUN: filecheck %s --check-prefix=JSON --input-file=%t.json
// RUN: filecheck %s --check-prefix=AFTER --input-file=%t.after.json
// RUN: filecheck %s --check-prefix=OUTPUT --input-file=%t.mlir

// The two weights of a block are to be sharded as Megatron does it, but the first one has the axis of the
// batch. The best change gives it the other axis in the other dimension: neither product then reshards.
//
// CHECK:      changes make the program cheaper, each alone, of {{[0-9]+}} tried
// CHECK-NEXT: times are for --topology=tpu-v5e
// CHECK:      1. shard the input weights['up'] as P(None, 'model')
// CHECK-NEXT:   now P('data')
// CHECK-NEXT:   on the wire 14.0 KiB → 2.00 KiB (−85.7%), peak memory 36.0 KiB → 26.0 KiB (−27.8%), time 5.20 us →
// CHECK-NEXT:   2.07 us (−60.3%)
// CHECK-NEXT:   conflict-free: no activation is resharded
// CHECK-NEXT:   in sdy: <@mesh, [{}, {"model"}]>
// Another place comes before another sharding of the first one.
// CHECK:      2. jax.lax.with_sharding_constraint(%2 (one_change.mlir:{{[0-9]+}}), P('data', 'model'))
// CHECK:      … and {{[0-9]+}} more
// What goes together is tried together.
// CHECK:      together: 1 and 2
// CHECK-NEXT:   on the wire 14.0 KiB → 1.00 KiB

// An explanation of the weight has this change, not one that saves less.
// RUN: sdy-opt %s --explain="weights['up']" | filecheck %s --check-prefix=EXPLAIN
// EXPLAIN:      help: shard the input weights['up'] as P(None, 'model')
// EXPLAIN-NEXT: tried: "model" shards it; -12.0 KiB sent, -10.0 KiB memory

// A page has a chart of time against memory, and the changes.
//
// HTML: {{[0-9]+}} changes make the program cheaper
// HTML: <title>now: 5.20 us, 36.0 KiB</title>
// HTML: 1. shard the input weights[{{.*}}up{{.*}}] as P(None, {{.*}}

// The program that -o writes has the figures that the advice has for all together.
//
// JSON:        "spec": "P(None, 'model')",
// JSON:      "together": {
// JSON-NEXT:  "text": "shard the input weights['up'] as P(None, 'model'); jax.lax.with_sharding_constraint(
// AFTER:       "wire_bytes": {
// AFTER-NEXT:    "count": 1,
// AFTER-NEXT:    "low": 1024,
// OUTPUT:      %arg1: tensor<32x128xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>}

sdy.mesh @mesh = <["data"=4, "model"=2]>
func.func @main(
    %x: tensor<64x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>} loc("x"),
    %up: tensor<32x128xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>} loc("weights['up']"),
    %down: tensor<128x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}]>} loc("weights['down']"))
    -> tensor<64x32xf32> {
  %0 = stablehlo.dot_general %x, %up, contracting_dims = [1] x [0]
    : (tensor<64x32xf32>, tensor<32x128xf32>) -> tensor<64x128xf32>
  %1 = stablehlo.tanh %0 : tensor<64x128xf32>
  %2 = stablehlo.dot_general %1, %down, contracting_dims = [1] x [0]
    : (tensor<64x128xf32>, tensor<128x32xf32>) -> tensor<64x32xf32>
  return %2 : tensor<64x32xf32>
}
