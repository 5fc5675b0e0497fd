// In LLVM 21, shardings that passes make have the kind of a reduction, even without axes that it is for.
// RUN: sdy-opt %s --mesh-version=21 --pass-pipeline='builtin.module(func.func(sharding-propagation,cse))' | filecheck %s
// RUN: sdy-opt %s --mesh-version=21 --pass-pipeline='builtin.module(func.func(sharding-propagation,cse))' --mlir-print-op-generic | filecheck %s --check-prefix=GENERIC

mesh.mesh @grid(shape = 2x4)

// CHECK:      %sharding = mesh.sharding @grid split_axes = {{\[\[}}0], [1]] : !mesh.sharding
// CHECK-NEXT: %sharding_annotated = mesh.shard %arg0 to %sharding annotate_for_users : tensor<8x16xf32>
// CHECK:      %sharding_0 = mesh.sharding @grid split_axes = {{\[\[}}0], [1]] : !mesh.sharding
// CHECK-NEXT: mesh.shard %0 to %sharding_0 : tensor<8x16xf32>
// GENERIC: "mesh.sharding"() <{mesh = @grid, operandSegmentSizes = array<i32: 0, 0>, partial_type = #mesh<partial sum>, split_axes
// GENERIC: "mesh.sharding"() <{mesh = @grid, operandSegmentSizes = array<i32: 0, 0>, split_axes
func.func @made_and_written(%arg0: tensor<8x16xf32>) -> tensor<8x16xf32> {
  %0 = tosa.sigmoid %arg0 : (tensor<8x16xf32>) -> tensor<8x16xf32>
  %s = mesh.sharding @grid split_axes = [[0], [1]] : !mesh.sharding
  %1 = mesh.shard %0 to %s : tensor<8x16xf32>
  return %1 : tensor<8x16xf32>
}
