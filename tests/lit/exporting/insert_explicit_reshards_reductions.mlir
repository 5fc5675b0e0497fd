// RUN: sdy-opt %s -sdy-insert-explicit-reshards=enable-full-version -sdy-reshard-to-collectives "-canonicalize=enable-patterns=sdy-collective" | filecheck %s

// The kind of a reduction stays with the unreduced axes, and inserted collectives have it.

sdy.mesh @mesh = <["x"=2, "y"=2]>

// An unreduced maximum is all-reduced by a maximum before its use.
// CHECK-LABEL: func.func @use
// CHECK-NEXT: sdy.all_reduce max {"x"} %arg0 out_sharding=<@mesh, [{}], unreduced=max{"y"}>
func.func @use(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced=max{"x", "y"}>}) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced=max{"y"}>}) {
  %0 = stablehlo.negate %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}], unreduced=max{"y"}>]>} : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// The result of a reduction is unreduced along "x", which shards the reduced dimension. The reshard, which
// shards the remaining dimension along "x" instead, is lowered to a reduce-scatter of the same kind.
// CHECK-LABEL: func.func @reduce
// CHECK: %0 = stablehlo.reduce
// CHECK-NEXT: %1 = sdy.reduce_scatter min [{"x"}] %0 out_sharding=<@mesh, [{"x"}]>
// CHECK-NEXT: return %1
func.func @reduce(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  %init = stablehlo.constant dense<0x7F800000> : tensor<f32>
  %0 = stablehlo.reduce(%a init: %init) applies stablehlo.minimum across dimensions = [1] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}], unreduced=min{"x"}>]>} : (tensor<8x8xf32>, tensor<f32>) -> tensor<8xf32>
  %1 = sdy.reshard %0 <@mesh, [{"x"}]> : tensor<8xf32>
  return %1 : tensor<8xf32>
}

// A change of dimensions keeps the kind.
// CHECK-LABEL: func.func @move
// CHECK-NEXT: sdy.all_to_all [{"x"}: 0->1] %arg0 out_sharding=<@mesh, [{}, {"x"}], unreduced=max{"y"}>
func.func @move(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}], unreduced=max{"y"}>}) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}], unreduced=max{"y"}>}) {
  return %a : tensor<8x8xf32>
}
