// RUN: sdy-opt %s --load-plugin=%S/fragments.py -sdy-add-data-flow-edges -sdy-basic-propagate -sdy-sink-data-flow-edges -sdy-close-shardings | filecheck %s
// RUN: sdy-opt %s --load-plugin=%S/fragments.py -sdy-partition-pipeline | filecheck %s --check-prefix=LOCAL

sdy.mesh @mesh = <["x"=2, "y"=2]>

// The sharding of the block argument has its own place.
// CHECK-LABEL: func.func @main
// CHECK:         fragments.fragment <"f"(2)>(%arg0) attributes
// CHECK-SAME:      in_shardings = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>
// CHECK-SAME:      sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>
// CHECK:           stablehlo.add %arg1, %arg1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>}
// CHECK:         fragments.for(%0) iterations = 4 attributes
// CHECK-SAME:      sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>
// LOCAL-LABEL: func.func @main(%arg0: tensor<4x16xf32>
// LOCAL:         fragments.fragment <"f"(2)>(%arg0) {
// LOCAL-NEXT:    ^bb0(%arg1: tensor<4x16xf32>):
// LOCAL:         fragments.for(%0) iterations = 4 {
// LOCAL-NEXT:    ^bb0(%arg1: tensor<4x16xf32>):
// LOCAL:           fragments.fragment <"g">(%arg1) {
func.func @main(%x: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<8x16xf32> {
  %0 = fragments.fragment <"f"(2)> (%x) {
  ^bb0(%a: tensor<8x16xf32>):
    %2 = stablehlo.add %a, %a : tensor<8x16xf32>
    fragments.return %2 : tensor<8x16xf32>
  } : (tensor<8x16xf32>) -> tensor<8x16xf32>
  %1 = fragments.for(%0) iterations = 4 {
  ^bb0(%a: tensor<8x16xf32>):
    %2 = fragments.fragment <"g"> (%a) {
    ^bb0(%b: tensor<8x16xf32>):
      %3 = stablehlo.negate %b : tensor<8x16xf32>
      fragments.return %3 : tensor<8x16xf32>
    } : (tensor<8x16xf32>) -> tensor<8x16xf32>
    fragments.return %2 : tensor<8x16xf32>
  } : (tensor<8x16xf32>) -> tensor<8x16xf32>
  return %1 : tensor<8x16xf32>
}
