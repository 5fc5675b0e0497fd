// The pipeline shows why a value has its sharding: the origin of each axis, and the steps that propagated it.
// RUN: sdy-opt %s -sdy-propagation-pipeline="debug-sharding-origins=true debug-propagation-edge-sharding=true" \
// RUN:   --verify-roundtrip | filecheck %s
// RUN: sdy-opt %s -sdy-propagation-pipeline | filecheck %s --check-prefix=PLAIN
// PLAIN-NOT: sharding_origins
// PLAIN-NOT: propagation_edges

// With a dump directory, the files show it, and the output does not.
// RUN: sdy-opt %s -sdy-propagation-pipeline="debug-sharding-origins=true dump-directory=%t/stages" \
// RUN:   | filecheck %s --check-prefix=PLAIN
// RUN: filecheck %s --check-prefix=STAGE --input-file=%t/stages/02.after_propagation.mlir
// STAGE: sdy.sharding_origins = {a = "self"}

sdy.mesh @mesh = <["a"=2, "b"=2]>

// A loop-carried value has two sources, its initial value and the value that the body returns: operand-0 and
// operand-1 of the edge. Its axis "a" propagated from the initial value.
// CHECK-LABEL: func.func @main
// CHECK-SAME:    %arg0: {{.*}} sdy.sharding_origins = {a = "self"}
// CHECK:         stablehlo.while
// CHECK-SAME:      sdy.result_propagation_edges = [#sdy.propagation_edges<[]>, #sdy.propagation_edges<[{step-0 = [{"a" = operand-0 -> [operand-1, result-0]}]}]>]
// CHECK-SAME:      sdy.result_sharding_origins = [{}, {a = "input: 0"}]
// CHECK:         stablehlo.add %iterArg_0, %iterArg_0 {{.*}} sdy.sharding_origins = [{a = "input: 0"}]
func.func @main(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {?}]>}) -> tensor<8x8xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %ten = stablehlo.constant dense<10> : tensor<i32>
  %0:2 = stablehlo.while(%i = %zero, %v = %x) : tensor<i32>, tensor<8x8xf32>
  cond {
    %1 = stablehlo.compare LT, %i, %ten : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %next = stablehlo.add %i, %one : tensor<i32>
    %sum = stablehlo.add %v, %v : tensor<8x8xf32>
    stablehlo.return %next, %sum : tensor<i32>, tensor<8x8xf32>
  }
  return %0#1 : tensor<8x8xf32>
}
