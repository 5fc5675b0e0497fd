// RUN: sdy-opt %s --load-plugin=%S/testing.py -sdy-partition-pipeline | filecheck %s

sdy.mesh @mesh = <["x"=2, "y"=2]>

// An edge from the inputs to both blocks, one to the third block, and one to the results.
// CHECK-LABEL: func.func @main(%arg0: tensor<4x8xf32>
// CHECK:         testing.region_if(%arg0) : (tensor<4x8xf32>) -> tensor<4x8xf32> then {
// CHECK-NEXT:    ^bb0(%arg1: tensor<4x8xf32>):
// CHECK-NEXT:      testing.yield %arg1 : tensor<4x8xf32>
// CHECK:           stablehlo.negate %arg1 : tensor<4x8xf32>
// CHECK:         } join {
// CHECK-NEXT:    ^bb0(%arg1: tensor<4x8xf32>):
// CHECK-NOT:     in_shardings
func.func @main(%x: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}) -> tensor<8x16xf32> {
  %0 = testing.region_if(%x) : (tensor<8x16xf32>) -> tensor<8x16xf32> then {
  ^bb0(%a: tensor<8x16xf32>):
    testing.yield %a : tensor<8x16xf32>
  } else {
  ^bb0(%a: tensor<8x16xf32>):
    %1 = stablehlo.negate %a : tensor<8x16xf32>
    testing.yield %1 : tensor<8x16xf32>
  } join {
  ^bb0(%a: tensor<8x16xf32>):
    testing.yield %a : tensor<8x16xf32>
  }
  return %0 : tensor<8x16xf32>
}
