// Reshards of values that are neither arguments, nor parts of them, nor results, and donated arguments whose result has
// another sharding.
// RUN: sdy-opt %s --report --report-rows=0 | filecheck %s
// RUN: sdy-opt %s --report=%t.json -o /dev/null && filecheck %s --check-prefix=JSON < %t.json
// RUN: sdy-opt %s --report=%t.md -o /dev/null && filecheck %s --check-prefix=MD < %t.md

// CHECK: communication: {{.*}} on the wire per device, 3 collectives
// CHECK: activation reshards: 12.0 KiB in 1 of them; XLA may do them otherwise, and at more expense
// CHECK: carried state: 16.0 KiB of donated arguments have another sharding as results: the next step
// CHECK: 16.0 KiB  state     0       <@mesh, [{"x"}, {}]>  <@mesh, [{}, {}]>
// MD:    activation reshards: 12.0 KiB in 1 of them
// MD:    carried state
// JSON:  "wire_bytes_of_activation_reshards": {
// JSON-NEXT: "count": 1,
// JSON:  "is_activation": true
// JSON:  "carried": [
// JSON:  "argument": "state",
sdy.mesh @mesh = <["x"=4]>
func.func @main(
    %state: tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>, tf.aliasing_output = 0 : i32} loc("state"),
    %w: tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>} loc("w"),
    %x: tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>} loc("x"))
    -> (tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, tensor<64x64xf32>) {
  %0 = stablehlo.tanh %x {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : tensor<64x64xf32>
  %1 = sdy.sharding_constraint %0 <@mesh, [{}, {}]> : tensor<64x64xf32>
  // As in a part that is rematerialized.
  %b = stablehlo.optimization_barrier %w : tensor<64x64xf32>
  %2 = stablehlo.convert %b : (tensor<64x64xf32>) -> tensor<64x64xbf16>
  %3 = sdy.sharding_constraint %2 <@mesh, [{}, {}]> : tensor<64x64xbf16>
  %4 = stablehlo.convert %3 : (tensor<64x64xbf16>) -> tensor<64x64xf32>
  %5 = stablehlo.dot_general %1, %4, contracting_dims = [1] x [0] : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %6 = stablehlo.negate %state : tensor<64x64xf32>
  return %6, %5 : tensor<64x64xf32>, tensor<64x64xf32>
}
