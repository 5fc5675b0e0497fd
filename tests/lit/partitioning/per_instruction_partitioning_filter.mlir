// `filter` selects candidates by number, by parts of their names, or by both. Quotes around it are ignored.

// RUN: sdy-opt %s -sdy-per-instruction-partitioning="filter=selectLow=1,selectHigh=1" | filecheck %s --check-prefix=ONE
// RUN: sdy-opt %s -sdy-per-instruction-partitioning="filter='selectHigh=1, selectLow=1'" | filecheck %s --check-prefix=ONE
// RUN: sdy-opt %s -sdy-per-instruction-partitioning="filter=selectLow=1" | filecheck %s --check-prefix=FROM
// RUN: sdy-opt %s -sdy-per-instruction-partitioning="filter=negate,cosine" | filecheck %s --check-prefix=NAMES
// RUN: sdy-opt %s -sdy-per-instruction-partitioning="filter=sine,selectHigh=0" | filecheck %s --check-prefix=BOTH
// RUN: sdy-opt %s -sdy-per-instruction-partitioning="filter=selectLow=18446744073709551616" | filecheck %s --check-prefix=ALL

// The first candidate is number 0. The constant is not sharded, so it has no number.
// ONE: stablehlo.constant
// ONE-NEXT: stablehlo.sine
// ONE-NEXT: sdy.manual_computation
// ONE-NEXT: stablehlo.cosine
// ONE: } : (tensor<8xf32>) -> tensor<8xf32>
// ONE-NEXT: stablehlo.negate

// FROM: stablehlo.sine %arg0 {sdy.sharding
// FROM-NEXT: sdy.manual_computation
// FROM: sdy.manual_computation

// NAMES: stablehlo.sine %arg0 {sdy.sharding
// NAMES-NEXT: sdy.manual_computation
// NAMES: sdy.manual_computation

// `sine` is a part of `cosine` too, whose number is above the limit.
// BOTH: sdy.manual_computation
// BOTH-NEXT: stablehlo.sine
// BOTH-NOT: sdy.manual_computation

// A limit that is no 64-bit number is ignored.
// ALL: sdy.manual_computation
// ALL: sdy.manual_computation
// ALL: sdy.manual_computation
sdy.mesh @mesh = <["x"=2]>
func.func @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<8xf32> {
  %c = stablehlo.constant dense<1.0> : tensor<8xf32>
  %0 = stablehlo.sine %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : tensor<8xf32>
  %1 = stablehlo.cosine %0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : tensor<8xf32>
  %2 = stablehlo.negate %1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : tensor<8xf32>
  return %2 : tensor<8xf32>
}
