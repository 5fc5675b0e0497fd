// RUN: split-file %s %t
// RUN: not sdy-opt %t/shard.mlir 2>&1 | filecheck %s --check-prefix=SHARD
// RUN: not sdy-opt %t/mesh.mlir -mesh-version=22 2>&1 | filecheck %s --check-prefix=MESH
// RUN: not sdy-opt %t/sharding.mlir 2>&1 | filecheck %s --check-prefix=SHARDING
// RUN: not sdy-opt %t/type.mlir 2>&1 | filecheck %s --check-prefix=TYPE

// An operation of another release of LLVM: the help says which release has it.

//--- shard.mlir
// SHARD: error: Dialect `shard' not found for custom op 'shard.grid'
// SHARD: help: `shard.grid` is in LLVM 22: --mesh-version=22
shard.grid @g(shape = 2x3)

//--- mesh.mlir
// MESH: error: Dialect `mesh' not found for custom op 'mesh.mesh'
// MESH: help: `mesh.mesh` is in LLVM 19 and 21: --mesh-version=21
mesh.mesh @g(shape = 2x3)

//--- sharding.mlir
mesh.mesh @g(shape = 2x3)
// SHARDING: error: custom op 'mesh.sharding' is unknown
// SHARDING: help: `mesh.sharding` is in LLVM 21: --mesh-version=21
%s = mesh.sharding @g split_axes = [[0]] : !mesh.sharding

//--- type.mlir
// TYPE: error: dialect 'mesh' provides no type parsing hook
// TYPE: help: types of meshes are !mesh.sharding with --mesh-version=21, and !shard.sharding with 22
func.func private @f(!mesh.sharding)
