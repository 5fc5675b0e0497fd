// Since jaxlib 0.12.0.1, the shardings of the entry point that are stored at the module are dropped too.
// RUN: sdy-opt %s -sdy-drop-sharding-and-mesh | filecheck %s --check-prefix=DROPPED
// RUN: sdy-opt %s -sdy-drop-sharding-and-mesh=keep-module-sharding-metadata=true | filecheck %s --check-prefix=KEPT
// RUN: sdy-opt %s -sdy-drop-sharding-and-mesh --sdy-version=jaxlib-0.11.2 | filecheck %s --check-prefix=KEPT
// RUN: not sdy-opt %s -sdy-drop-sharding-and-mesh=keep-module-sharding-metadata=true --sdy-version=jaxlib-0.11.2 2>&1 | filecheck %s --check-prefix=UNKNOWN

// UNKNOWN: no such option keep-module-sharding-metadata

// DROPPED: module attributes {sdy.other = "other"} {
// KEPT:    module attributes {sdy.other = "other", sdy.output_shardings = #sdy.sharding<mesh<["x"=2]>, [{"x"}]>, sdy.parameters_shardings = [#sdy.sharding<mesh<["x"=2]>, [{"x"}]>]} {
module attributes {
  sdy.parameters_shardings = [#sdy.sharding<mesh<["x"=2]>, [{"x"}]>],
  sdy.output_shardings = #sdy.sharding<mesh<["x"=2]>, [{"x"}]>,
  sdy.other = "other"
} {
  // Those of a function are kept.
  // DROPPED: func.func @main(%arg0: tensor<4xf32>) -> tensor<4xf32> attributes {sdy.output_shardings = "kept"}
  // KEPT:    func.func @main(%arg0: tensor<4xf32>) -> tensor<4xf32> attributes {sdy.output_shardings = "kept"}
  func.func @main(%a: tensor<4xf32> {sdy.sharding = #sdy.sharding<mesh<["x"=2]>, [{"x"}]>}) -> tensor<4xf32>
      attributes {sdy.output_shardings = "kept"} {
    return %a : tensor<4xf32>
  }
}
