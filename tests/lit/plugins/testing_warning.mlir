// RUN: sdy-opt %s --load-plugin=%S/testing.py -sdy-basic-propagate 2>&1 | filecheck %s

// CHECK: op 'testing.opaque' is unknown to SDY sharding rule registry
// CHECK: help: shardings do not propagate through it; declare its rule with `@sdyopt.plugin.sharding_rule`, or add the attribute `sdy.sharding_rule` to the operation
func.func @main(%x: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %0 = testing.opaque %x : tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}
