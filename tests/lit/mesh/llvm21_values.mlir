// RUN: sdy-opt %s --mesh-version=21 --pass-pipeline='builtin.module(func.func(mesh-spmdization))' | filecheck %s

mesh.mesh @m(shape = 4x4)

// The shards of a splat constant are equal.
// CHECK-LABEL: func.func @constant() -> tensor<256x1024xf32>
// CHECK-NEXT: %cst = arith.constant dense<0.000000e+00> : tensor<256x1024xf32>
// CHECK-NEXT: return %cst : tensor<256x1024xf32>
func.func @constant() -> tensor<1024x1024xf32> {
  %cst = arith.constant dense<0.0> : tensor<1024x1024xf32>
  %s = mesh.sharding @m split_axes = [[0]] : !mesh.sharding
  %0 = mesh.shard %cst to %s : tensor<1024x1024xf32>
  return %0 : tensor<1024x1024xf32>
}

// Zero points are operands, which are not sharded.
// CHECK-LABEL: func.func @negate(%arg0: tensor<2x8xi8>, %arg1: tensor<1xi8>)
// CHECK-NEXT: %0 = tosa.negate %arg0, %arg1, %arg1 : (tensor<2x8xi8>, tensor<1xi8>, tensor<1xi8>) -> tensor<2x8xi8>
func.func @negate(%x: tensor<8x8xi8>, %zero: tensor<1xi8>) -> tensor<8x8xi8> {
  %s = mesh.sharding @m split_axes = [[0]] : !mesh.sharding
  %r = mesh.sharding @m split_axes = [[]] : !mesh.sharding
  %0 = mesh.shard %x to %s : tensor<8x8xi8>
  %1 = mesh.shard %0 to %s annotate_for_users : tensor<8x8xi8>
  %2 = mesh.shard %zero to %r : tensor<1xi8>
  %3 = mesh.shard %2 to %r annotate_for_users : tensor<1xi8>
  %4 = tosa.negate %1, %3, %3 : (tensor<8x8xi8>, tensor<1xi8>, tensor<1xi8>) -> tensor<8x8xi8>
  %5 = mesh.shard %4 to %s : tensor<8x8xi8>
  %6 = mesh.shard %5 to %s annotate_for_users : tensor<8x8xi8>
  return %6 : tensor<8x8xi8>
}
