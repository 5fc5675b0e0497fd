// RUN: sdy-opt %s -sdy-export-pipeline --sdy-version=jaxlib-0.10.2 | filecheck %s
// RUN: sdy-opt %s -sdy-export-pipeline=inline-meshes=true --sdy-version=jaxlib-0.10.2 | filecheck %s --check-prefix=INLINED
// RUN: sdy-opt %s -sdy-export-pipeline | filecheck %s --check-prefix=INLINED
// RUN: sdy-opt %s -sdy-export-pipeline=inline-meshes=false | filecheck %s
// RUN: sdy-opt %s -sdy-export-pipeline --sdy-version=jaxlib-0.11.2 --dump-pass-pipeline 2>&1 | filecheck %s --check-prefix=PASSES

// jaxlib 0.11.2 verifies unreduced axes before it inserts reshards, and inlines meshes in the end.
// PASSES: func.func(sdy-verify-unreduced-axes),func.func(sdy-insert-explicit-reshards{{.*}}sdy-inline-meshes)

sdy.mesh @mesh = <["x"=2]>

// CHECK-LABEL: func.func @main(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>})
// INLINED-LABEL: func.func @main(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<mesh<["x"=2]>, [{"x"}]>})
func.func @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<8xf32> {
  return %a : tensor<8xf32>
}
