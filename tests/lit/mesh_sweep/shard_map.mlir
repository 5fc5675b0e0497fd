// RUN: sdy-opt %s --mesh-sweep='x=2,4 x y=2,4' | filecheck %s
// RUN: sdy-opt %s --mesh-sweep='x=2 x y=2 x z=1,2' | filecheck %s --check-prefix=UNUSED

// RUN: sdy-opt %s --mesh-sweep='x=2,4 x y=2 x z=1' | filecheck %s --check-prefix=DIVIDED
// RUN: sdy-opt %s --mesh-sweep='x=2 x y=2,4' | filecheck %s --check-prefix=ONE

// A shard_map has the shapes of the shards of a device: several meshes with other sizes of its axis are said once, below
// those that have figures.
// CHECK:      2 2 4
// CHECK-NEXT: 4 2 8
// CHECK-NOT:  model.py
// CHECK:      best: {{.*}}; 2 meshes are
// CHECK-NEXT: out, as the shapes in the shard_map at model.py:4 are those of y=2: lower the program
// DIVIDED-NOT: shard_map
// ONE:        2 4 the shapes in the shard_map at model.py:4 are those of y=2

// Devices along an axis that nothing is sharded along, and no shard_map is along, do the same work: such a mesh is no best one.
// UNUSED:      2 2 1 4 {{.*}} best
// UNUSED-NEXT: 2 2 2 8 {{.*█}} nothing is sharded along "z"

#map = loc("jit(f)/shard_map"("f"("model.py":4:1)))
sdy.mesh @mesh = <["x"=2, "y"=2, "z"=1]>
func.func public @main(%a: tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}) -> tensor<64x64xf32> {
  %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"x"}, {"y"}]>] out_shardings=[<@mesh, [{"x"}, {"y"}]>] manual_axes={"y"} (%b: tensor<64x32xf32>) {
    %1 = stablehlo.tanh %b : tensor<64x32xf32>
    sdy.return %1 : tensor<64x32xf32>
  } : (tensor<64x64xf32>) -> tensor<64x64xf32> loc(#map)
  return %0 : tensor<64x64xf32>
}
