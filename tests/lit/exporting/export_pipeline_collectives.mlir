// RUN: sdy-opt %s -sdy-export-pipeline='enable-insert-explicit-collectives=true inline-meshes=false' | filecheck %s
// RUN: sdy-opt %s -sdy-export-pipeline='enable-insert-explicit-collectives=true remove-all-gather-reduce-scatter-for-cmv1=true inline-meshes=false' | filecheck %s --check-prefix=CMV1
// RUN: sdy-opt %s -sdy-export-pipeline=enable-insert-explicit-collectives=true --dump-pass-pipeline 2>&1 | filecheck %s --check-prefix=PASSES

// Between the reshards and the last simplification:
// PASSES:      func.func(sdy-insert-explicit-reshards{enable-full-version=true{{.*}}}),sdy-save-module,
// PASSES-SAME: canonicalize{{{[^}]*}} enable-patterns={sdy-reshard} {{[^}]*}}},
// PASSES-SAME: func.func(sdy-reshard-to-collectives{keep-redundant-reshards=false}),
// PASSES-SAME: func.func(sdy-optimize-collectives),
// PASSES-SAME: canonicalize{{{[^}]*}} enable-patterns={sdy-collective} {{[^}]*}}},sdy-save-module

sdy.mesh @mesh = <["x"=2, "y"=2]>

// An all-reduce along "x" followed by an all-slice along "x" becomes a reduce-scatter.
// CHECK-LABEL: func.func @main
// CHECK-NEXT:    %0 = stablehlo.dot %arg0, %arg1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>}
// CHECK-NEXT:    %1 = sdy.reduce_scatter [{"x"}, {}] %0 out_sharding=<@mesh, [{"x"}, {}]>
// CHECK-NEXT:    return %1
// CMV1-LABEL:  func.func @main
// CMV1-NEXT:     %0 = stablehlo.dot %arg0, %arg1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>}
// CMV1-NEXT:     return %0
func.func @main(%a: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>},
                %b: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
    -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  %0 = stablehlo.dot %a, %b {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : (tensor<8x16xf32>, tensor<16x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// Of two consecutive reshards, the first is removed.
// CHECK-LABEL: func.func private @in_a_row
// CHECK-NEXT:    %0 = sdy.all_to_all [{"x"}: 0->1] %arg0 out_sharding=<@mesh, [{}, {"x"}]>
// CHECK-NEXT:    return %0
func.func private @in_a_row(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
    -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}) {
  %0 = sdy.reshard %a <@mesh, [{"y"}, {}]> : tensor<8x8xf32>
  %1 = sdy.reshard %0 <@mesh, [{}, {"x"}]> : tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}

// "y" must become the first axis, so that "x" can move: sdy-optimize-collectives reshapes the tensor for that.
// CHECK-LABEL: func.func private @reordered
// CHECK-NEXT:    %0 = stablehlo.reshape %arg0 {{.*}} -> tensor<2x2x2x8xf32>
// CHECK-NEXT:    %1 = sdy.all_to_all [{"x"}: 0->3] %0
// CHECK-NEXT:    %2 = sdy.all_to_all [{"y"}: 1->0] %1
// CHECK-NEXT:    %3 = stablehlo.reshape %2
// CHECK-NEXT:    return %3
func.func private @reordered(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}, {}]>})
    -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {"x"}]>}) {
  return %a : tensor<8x8xf32>
}
