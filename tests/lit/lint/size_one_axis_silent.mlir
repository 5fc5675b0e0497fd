// RUN: sdy-opt %s --lint=size-one-axis --lint-config=- --split-input-file --verify-diagnostics

// No sharding names the axis of size 1, so that it does no harm.
sdy.mesh @mesh = <["data"=8, "model"=1]>

func.func @main(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>}) {
  return
}
