// RUN: sdy-opt %s -split-input-file -sdy-remove-sub-axes-in-input-output-shardings | filecheck %s

sdy.mesh @mesh = <["x"=8, "y"=8, "z"=8]>

// An open dimension keeps the axes before its first sub-axis and stays open.
// CHECK-LABEL: func.func @open
// CHECK-SAME: (%arg0: tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", ?}, {?}p1]>}
// CHECK-SAME: -> (tensor<64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y", "x", ?}p2]>})
func.func @open(
    %a: tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y":(1)2, "z", ?}, {"y":(2)4, ?}p1]>},
    %b: tensor<64xf32>)
    -> (tensor<64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y", "x", ?}p2]>}) {
  return %b : tensor<64xf32>
}

// -----

sdy.mesh @mesh = <["x"=8, "y"=8, "z"=8]>

// A closed dimension is kept. So are replicated and unreduced axes.
// CHECK-LABEL: func.func @closed
// CHECK-SAME: (%arg0: tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x":(1)2, "y"}, {?}], replicated={"z":(1)2}, unreduced={"x":(4)2}>})
func.func @closed(
    %a: tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x":(1)2, "y"}, {"x":(2)2, ?}], replicated={"z":(1)2}, unreduced={"x":(4)2}>}) {
  return
}

// -----

sdy.mesh @mesh = <["x"=8]>

// Values in the body and the signatures of other functions are kept.
// CHECK-LABEL: func.func @main
// CHECK-SAME: (%arg0: tensor<64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}]>})
// CHECK-NEXT: call @inner(%arg0) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x":(1)4, ?}]>]>}
func.func @main(%a: tensor<64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x":(1)4, ?}]>}) -> tensor<64xf32> {
  %0 = call @inner(%a) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x":(1)4, ?}]>]>} : (tensor<64xf32>) -> tensor<64xf32>
  return %0 : tensor<64xf32>
}

// CHECK-LABEL: func.func private @inner
// CHECK-SAME: (%arg0: tensor<64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x":(1)4, ?}]>})
func.func private @inner(%a: tensor<64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x":(1)4, ?}]>}) -> tensor<64xf32> {
  return %a : tensor<64xf32>
}
