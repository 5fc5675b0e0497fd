// RUN: sdy-opt %s --lint=size-one-axis --lint-config=- --split-input-file --verify-diagnostics

// Two shardings name "model", which has one device.
// expected-remark@+1 {{axis "model" of @mesh has size 1: 2 shardings name it, and nothing is sharded along it}}
sdy.mesh @mesh = <["data"=8, "model"=1]>

func.func @main(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {"model"}]>},
                %b: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}]>}) {
  return
}
