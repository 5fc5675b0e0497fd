// RUN: sdy-opt %s -sdy-update-non-divisible-input-output-shardings -sdy-remove-sub-axes-in-input-output-shardings -sdy-close-shardings | filecheck %s

// As in the export pipeline: first shards are made even, which may leave sub-axes; then sub-axes are removed
// from open dimensions of the entry point; at last all dimensions are closed.

sdy.mesh @mesh = <["x"=4, "y"=2]>

// Four shards of six elements become two. A closed dimension keeps the sub-axis, an open one does not.
// CHECK-LABEL: func.func @main
// CHECK-SAME: (%arg0: tensor<6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x":(1)2}]>},
// CHECK-SAME: %arg1: tensor<6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>},
// CHECK-SAME: %arg2: tensor<6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>})
// CHECK-SAME: -> (tensor<6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>})
func.func @main(
    %closed: tensor<6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>},
    %open: tensor<6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", ?}]>},
    %whole: tensor<6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y", "x", ?}]>})
    -> (tensor<6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", ?}]>}) {
  return %open : tensor<6xf32>
}

// Functions other than the entry point keep sub-axes.
// CHECK-LABEL: func.func private @inner
// CHECK-SAME: (%arg0: tensor<6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x":(1)2}]>})
// CHECK-NEXT: stablehlo.abs %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>}
func.func private @inner(%a: tensor<6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", ?}]>}) -> tensor<6xf32> {
  %0 = stablehlo.abs %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x", ?}]>]>} : tensor<6xf32>
  return %0 : tensor<6xf32>
}
