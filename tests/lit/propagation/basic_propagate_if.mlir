// Since jaxlib 0.12.0.1, the branches of an if and its results have the same shardings.
// RUN: sdy-opt %s -sdy-add-data-flow-edges -sdy-basic-propagate -sdy-sink-data-flow-edges | filecheck %s
// RUN: sdy-opt %s -sdy-add-data-flow-edges -sdy-basic-propagate -sdy-sink-data-flow-edges --sdy-version=jaxlib-0.11.2 2>&1 | filecheck %s --check-prefix=BEFORE

sdy.mesh @mesh = <["x"=2, "y"=2]>

// The sharding of %arg0 reaches the other branch and the users of the result. A token gets no data-flow edge.
// BEFORE: warning: op 'stablehlo.if' is unknown to SDY sharding rule registry
// CHECK-LABEL: func.func @main(
// CHECK:         "stablehlo.if"(%arg2)
// CHECK:           stablehlo.negate %arg1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x", ?}]>]>}
// CHECK:         {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x", ?}]>, <@mesh, []>]>}
// CHECK-NEXT:    stablehlo.abs %0#0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x", ?}]>]>}
// BEFORE-LABEL: func.func @main(
// BEFORE:         stablehlo.negate %arg1 : tensor<8xf32>
// BEFORE:       }) : (tensor<i1>) -> (tensor<8xf32>, !stablehlo.token)
// BEFORE-NEXT:    stablehlo.abs %0#0 : tensor<8xf32>
func.func @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %b: tensor<8xf32>, %p: tensor<i1>, %t: !stablehlo.token) -> tensor<8xf32> {
  %0:2 = "stablehlo.if"(%p) ({
    stablehlo.return %a, %t : tensor<8xf32>, !stablehlo.token
  }, {
    %1 = stablehlo.negate %b : tensor<8xf32>
    stablehlo.return %1, %t : tensor<8xf32>, !stablehlo.token
  }) : (tensor<i1>) -> (tensor<8xf32>, !stablehlo.token)
  %2 = stablehlo.abs %0#0 : tensor<8xf32>
  return %2 : tensor<8xf32>
}
