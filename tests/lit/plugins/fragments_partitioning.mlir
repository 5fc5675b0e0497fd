// RUN: sdy-opt %s --load-plugin=%S/fragments.py -sdy-partition-pipeline -split-input-file | filecheck %s

sdy.mesh @mesh = <["x"=2, "y"=2]>

// An operand is resharded for the block argument that it becomes, not for the result of the same number.
// CHECK-LABEL: func.func @main(%arg0: tensor<4x16xf32>
// CHECK-SAME:      %arg1: tensor<4x16xf32>
// CHECK-NEXT:    fragments.fragment <"f">(%arg0, %arg1) {
// CHECK-NEXT:    ^bb0(%arg2: tensor<4x16xf32>, %arg3: tensor<4x16xf32>):
// CHECK:         } : (tensor<4x16xf32>, tensor<4x16xf32>) -> tensor<4x16xf32>
func.func @main(%x: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %w: tensor<8x16xf32>)
    -> tensor<8x16xf32> {
  %0 = fragments.fragment <"f"> (%x, %w) {
  ^bb0(%a: tensor<8x16xf32>, %b: tensor<8x16xf32>):
    %1 = stablehlo.add %a, %b : tensor<8x16xf32>
    fragments.return %1 : tensor<8x16xf32>
  } : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
  return %0 : tensor<8x16xf32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=2]>

// CHECK-LABEL: func.func @main(%arg0: tensor<4x16xf32>
// CHECK-SAME:      %arg1: tensor<16x4xf32>
// CHECK-NEXT:    fragments.fragment <"f">(%arg0, %arg1) {
// CHECK-NEXT:    ^bb0(%arg2: tensor<4x16xf32>, %arg3: tensor<16x4xf32>):
// CHECK-NEXT:      fragments.return %arg3, %arg2 : tensor<16x4xf32>, tensor<4x16xf32>
// CHECK-NEXT:    } : (tensor<4x16xf32>, tensor<16x4xf32>) -> (tensor<16x4xf32>, tensor<4x16xf32>)
func.func @main(%x: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
                   %w: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}]>})
    -> (tensor<16x8xf32>, tensor<8x16xf32>) {
  %0:2 = fragments.fragment <"f"> (%x, %w) {
  ^bb0(%a: tensor<8x16xf32>, %b: tensor<16x8xf32>):
    fragments.return %b, %a : tensor<16x8xf32>, tensor<8x16xf32>
  } : (tensor<8x16xf32>, tensor<16x8xf32>) -> (tensor<16x8xf32>, tensor<8x16xf32>)
  return %0#0, %0#1 : tensor<16x8xf32>, tensor<8x16xf32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=2]>

// The argument and the result of the block have different shardings.
// CHECK-LABEL: func.func @main(%arg0: tensor<4x16xf32>
// CHECK-NOT:     all_gather
// CHECK:         fragments.fragment <"f">(%arg0) {
// CHECK-NEXT:    ^bb0(%arg1: tensor<4x16xf32>):
// CHECK:         } : (tensor<4x16xf32>) -> tensor<8x8xf32>
func.func @main(%x: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
    -> (tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}]>}) {
  %0 = fragments.fragment <"f"> (%x) attributes {in_shardings = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>,
                                                 sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"y"}]>]>} {
  ^bb0(%a: tensor<8x16xf32>):
    %1 = stablehlo.negate %a : tensor<8x16xf32>
    fragments.return %1 : tensor<8x16xf32>
  } : (tensor<8x16xf32>) -> tensor<8x16xf32>
  return %0 : tensor<8x16xf32>
}
