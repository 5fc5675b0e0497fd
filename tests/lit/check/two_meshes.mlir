// RUN: sdy-opt %s --check | filecheck %s
// RUN: sdy-opt %s --advise -o /dev/null | filecheck %s --check-prefix=ADVICE

// Values may be on another mesh than the largest one. No axis of theirs gets into a sharding on it.

// CHECK:      1. shard the input %arg0 as P(('x', 'y')), and result 0 of @main likewise (now P('x')): -192 B sent
// CHECK:      why: {{.*}} 192 B (50%) sent, all_to_all along x
// ADVICE: {{[0-9]+}} tried

sdy.mesh @large = <["x"=4, "y"=2]>
sdy.mesh @small = <["a"=4]>
func.func @main(
    %0: tensor<16x16xf32> {sdy.sharding = #sdy.sharding<@large, [{"x"}, {}]>},
    %1: tensor<16x16xf32> {sdy.sharding = #sdy.sharding<@small, [{"a"}, {}]>})
    -> (tensor<16x16xf32> {sdy.sharding = #sdy.sharding<@large, [{}, {"x"}]>},
        tensor<16x16xf32> {sdy.sharding = #sdy.sharding<@small, [{}, {"a"}]>}) {
  %2 = stablehlo.negate %0 : tensor<16x16xf32>
  %3 = stablehlo.negate %1 : tensor<16x16xf32>
  return %2, %3 : tensor<16x16xf32>, tensor<16x16xf32>
}
