// RUN: sdy-opt %s --split-input-file --verify-diagnostics

// Shardings that the verifier must reject.

sdy.mesh @mesh = <["data"=4]>

// expected-error @+1 {{unknown axis name: "model"}}
func.func @unknown_axis(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}]>}) {
  return
}

// -----

// expected-error @+1 {{unknown mesh: @mesh}}
func.func @no_mesh(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}]>}) {
  return
}
