// A program without functions or shardings says so, instead of figures alone.
// RUN: sdy-opt %s --check | filecheck %s
// RUN: echo "func.func @main() { return }" > %t.mlir
// RUN: sdy-opt %t.mlir --check | filecheck %s --check-prefix=UNSHARDED
// RUN: echo "" | not sdy-opt --check 2>&1 | filecheck %s --check-prefix=EMPTY
// EMPTY: error: there is no program: the input is empty
// EMPTY: help: sdy-opt reads what jax.jit(f).lower(*arguments).as_text(debug_info=True) returns
// CHECK: the program has no function
// UNSHARDED:      nothing is sharded: the program has no mesh; give its arguments shardings, as
// UNSHARDED-NEXT: jax.ShapeDtypeStruct(shape, dtype, sharding=NamedSharding(mesh, P('data')))
module {}
