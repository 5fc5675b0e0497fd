// Names of attributes that resemble those of sdy are reported, because MLIR accepts them and they have no effect.
// RUN: sdy-opt %s -sdy-basic-propagate -o %t 2>&1 | filecheck %s
// RUN: sdy-opt %s 2>&1 | filecheck %s --check-prefix=PARSED

// Each name is reported once, at its first use; other discardable attributes are not.
// CHECK:      mistyped_attributes.mlir:18:1: warning: attribute `sdy.shardng` is unknown and has no effect
// CHECK:      help: did you mean `sdy.sharding`?
// CHECK-NEXT: mistyped_attributes.mlir:19:8: warning: attribute `sdy.sharding_rul` is unknown and has no effect
// CHECK:      help: did you mean `sdy.sharding_rule`?
// CHECK-NOT:  warning:

// Without propagation there is no warning.
// PARSED-NOT: warning:
// PARSED: func.func @main

sdy.mesh @mesh = <["x"=2]>

func.func @main(%a: tensor<4xf32> {sdy.shardng = #sdy.sharding<@mesh, [{"x"}]>}, %b: tensor<4xf32> {sdy.shardng = 1 : i32, sdy.mine = 1 : i32}) -> tensor<4xf32> {
  %0 = stablehlo.add %a, %b {sdy.sharding_rul = 1 : i32} : tensor<4xf32>
  return %0 : tensor<4xf32>
}
