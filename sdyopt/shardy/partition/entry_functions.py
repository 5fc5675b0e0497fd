"""The functions of a module at which a program starts."""

from __future__ import annotations

from collections.abc import Sequence

from sdyopt.mlir.dialects.builtin import ModuleOp
from sdyopt.mlir.dialects.func import CallOp, FuncOp
from sdyopt.mlir.dialects.sdy.dialect import SHARDING
from sdyopt.mlir.dialects.sdy.mesh import Mesh
from sdyopt.mlir.dialects.sdy.mesh_op import MeshOp, find_mesh
from sdyopt.mlir.dialects.sdy.sharding import ShardingPerValue, TensorSharding, fully_replicated
from sdyopt.mlir.dialects.sdy.value_shardings import rank_of, sharding_of
from sdyopt.mlir.ir.value import Value

MAIN = "main"
# The attributes of a module with the shardings of the arguments and results of `@main`.
SHARDINGS_OF_MAIN = ("sdy.parameters_shardings", "sdy.output_shardings")


def entry_functions(module: ModuleOp) -> list[FuncOp]:
    """`@main`, or else every function that has a body, is not private and is never called."""
    functions = [op for op in module.block.ops if isinstance(op, FuncOp)]
    for function in functions:
        if function.sym_name == MAIN:
            return [function]
    called = {op.callee for op in module.walk() if isinstance(op, CallOp)}
    return [
        function
        for function in functions
        if not function.is_declaration
        and function.sym_visibility in (None, "public")
        and function.sym_name not in called
    ]


def shardings_of_main(module: ModuleOp) -> dict[str, ShardingPerValue] | None:
    """The shardings of the arguments and results of `@main`, by the name of an attribute of the module.

    Meshes are inlined. A value without a sharding is replicated on the first mesh with axes. None if there is
    no `@main`.
    """
    main = next((op for op in module.block.ops if isinstance(op, FuncOp) and op.sym_name == MAIN), None)
    if main is None:
        return None
    meshes = (op.mesh for op in module.block.ops if isinstance(op, MeshOp) and op.mesh.axes)
    default = next(meshes, Mesh())
    arguments: Sequence[Value] = ()
    results: Sequence[Value] = ()
    if not main.is_declaration:
        arguments, terminator = main.body.blocks[0].arguments, main.body.blocks[-1].last
        results = () if terminator is None else terminator.operands

    def inlined(sharding: TensorSharding | None, value: Value) -> TensorSharding:
        mesh = None if sharding is None else find_mesh(sharding.mesh_or_ref, main)
        if sharding is None or mesh is None:
            return fully_replicated(rank_of(value.type), default, is_closed=True)
        return sharding.with_mesh(mesh)

    results_of_main = [
        inlined(declared if isinstance(declared, TensorSharding) else sharding_of(value), value)
        for declared, value in zip([a.get(SHARDING) for a in main.result_attributes], results, strict=False)
    ]
    of_arguments = [inlined(sharding_of(argument), argument) for argument in arguments]
    lists = (ShardingPerValue(tuple(of_arguments)), ShardingPerValue(tuple(results_of_main)))
    return dict(zip(SHARDINGS_OF_MAIN, lists, strict=True))
