// Functions may end in an unregistered operation, which may have more operands than the function has results.
// RUN: sdy-opt %s --allow-unregistered-dialect -xla-sdy-round-trip-export-shardy-attrs='enable-hlo-sharding-v3=false' | filecheck %s --check-prefix=EXPORT
// RUN: sdy-opt %s --allow-unregistered-dialect -stablehlo-refine-shapes | filecheck %s --check-prefix=REFINE
// RUN: not sdy-opt %s --allow-unregistered-dialect -sdy-import-func-calls 2>&1 | filecheck %s --check-prefix=IMPORT
// RUN: not sdy-opt %s --allow-unregistered-dialect -stablehlo-ext-canonicalize-from-hlo-import 2>&1 | filecheck %s --check-prefix=TUPLE

// EXPORT: %[[RESULT:.*]] = stablehlo.custom_call @xla.sdy.FuncResultSharding
// EXPORT: "test.end"(%[[RESULT]], %arg0)
// REFINE: "test.end"
// IMPORT: error: 'sdy.named_computation' op inferred type(s)
// TUPLE: unregistered_terminators.mlir:{{[0-9]+}}:1: error: 'func.func' op expects 'func.return' at its end, to flatten tuples
sdy.mesh @mesh = <["x"=2]>
func.func @main(%a: tensor<4xf32>, %b: tuple<tensor<4xf32>>) -> (tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  %0 = func.call @g(%a) : (tensor<4xf32>) -> tensor<4xf32>
  "test.end"(%0, %a) : (tensor<4xf32>, tensor<4xf32>) -> ()
}
func.func private @g(%a: tensor<4xf32>) -> tensor<4xf32> {
  "test.end"(%a, %a) : (tensor<4xf32>, tensor<4xf32>) -> ()
}
