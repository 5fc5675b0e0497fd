// RUN: sdy-opt %s --lint=sub-axis-boundary --lint-config=- --split-input-file --verify-diagnostics

sdy.mesh @mesh = <["x"=4]>

// A PartitionSpec cannot name half of an axis.
// expected-warning@+1 {{dimension 0 of argument 0 of @main is sharded along the sub-axis "x":(1)2, which callers cannot name}}
func.func @main(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x":(1)2}, {}]>}) {
  return
}
