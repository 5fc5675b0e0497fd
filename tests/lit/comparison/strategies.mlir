// Two strategies on one program: without --compare-with, the other passes run on the input. The basic strategy
// leaves the sum as it is, because its operands conflict; the aggressive one resolves the conflict.
// RUN: sdy-opt %s -sdy-aggressive-propagate --compare-pipeline=-sdy-basic-propagate | filecheck %s
// A textual pipeline, or names of passes, are accepted too.
// RUN: sdy-opt %s -sdy-aggressive-propagate --compare-pipeline='builtin.module(sdy-basic-propagate)' | filecheck %s --check-prefix=TEXTUAL
// RUN: sdy-opt %s -sdy-aggressive-propagate --compare-pipeline=sdy-aggressive-propagate | filecheck %s --check-prefix=EQUAL
// Without passes, the other program is the input as it is.
// RUN: sdy-opt %s -sdy-close-shardings --compare-pipeline= | filecheck %s --check-prefix=NONE

// CHECK:      before  {{.*}}strategies.mlir with -sdy-basic-propagate
// CHECK-NEXT: after   {{.*}}strategies.mlir with -sdy-aggressive-propagate
// CHECK:      shardings: 2 of 4 values changed
// CHECK-NEXT:   change  count  where               what    value
// CHECK-NEXT:   -128 B      1                      result  result 0
// CHECK-NEXT:         f32[8,8]: none → [{"x", ?}, {?}]
// CHECK-NEXT:   -128 B      1  strategies.mlir:{{[0-9]+}}  add     %0
// CHECK-NEXT:         f32[8,8]: none → [{"x", ?}, {?}]
// TEXTUAL:    before  {{.*}}strategies.mlir with builtin.module(sdy-basic-propagate)
// TEXTUAL:    shardings: 2 of 4 values changed
// EQUAL:      no difference: 4 values
// NONE:       shardings: 0 of 4 values changed
// NONE-EMPTY:
// NONE-NEXT:  2 values with the same slices changed in open dimensions, priorities or replicated axes
// NONE-NEXT:    change  count  where
// NONE-NEXT:         0      1  strategies.mlir:{{[0-9]+}}  argument  %arg0
// NONE-NEXT:          f32[8,8]: P('x', P.UNCONSTRAINED) → P('x')
sdy.mesh @mesh = <["x"=2]>

func.func @main(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {?}]>},
                %b: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {"x"}]>}) -> tensor<8x8xf32> {
  %0 = stablehlo.add %a, %b : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}
