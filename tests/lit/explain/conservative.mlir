// RUN: sdy-opt %s -sdy-basic-propagate=conservative-propagation=true --explain='%%0' | filecheck %s

// Conservative propagation does not propagate sub-axes.

sdy.mesh @mesh = <["x"=4]>

// CHECK: %0: f32[8] is not sharded  conservative.mlir:12
// CHECK-NEXT: └─ "x":(1)2 does not shard dimension 0, though it shards dimension 0 of %a  conservative.mlir:12
// CHECK-NEXT:    ├─ stablehlo.negate: conservative propagation does not propagate sub-axes
// CHECK-NEXT:    └─ help: run -sdy-propagation-pipeline without options: tried, "x":(1)2 shards it
func.func @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x":(1)2}]>}) -> tensor<8xf32> {
  %0 = stablehlo.negate %a : tensor<8xf32>
  return %0 : tensor<8xf32>
}
