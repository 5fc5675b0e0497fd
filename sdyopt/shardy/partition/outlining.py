"""Functions at which a program starts, and outlining: one operation, with its shardings, in a module.

module {
  sdy.mesh @mesh = <["x"=2]>
  func.func private @outlined(%a: tensor<8xf32> {sdy.sharding = …}) -> (… {sdy.sharding = …}) {
    %0 = stablehlo.sine %a {sdy.sharding = …} : tensor<8xf32>
    return %0 : tensor<8xf32>
  }
}
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sdyopt.base.dataclasses import dataclass
from sdyopt.mlir.dialects.builtin import ModuleOp
from sdyopt.mlir.dialects.func import CallOp, FuncOp, ReturnOp
from sdyopt.mlir.dialects.sdy.mesh import SHARDING, Mesh
from sdyopt.mlir.dialects.sdy.mesh_op import MeshOp, enclosing_module, find_mesh
from sdyopt.mlir.dialects.sdy.sharding import ShardingPerValue, TensorSharding, fully_replicated
from sdyopt.mlir.dialects.sdy.value_shardings import rank_of, sharding_of
from sdyopt.mlir.ir.attribute import EMPTY_DICT, Attribute, TypeAttr, string
from sdyopt.mlir.ir.block import Region
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.operation import Op, build
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.symbols import lookup_symbol
from sdyopt.mlir.ir.types import FunctionType
from sdyopt.mlir.ir.value import Value


@dataclass(frozen=True)
class Outlined:
    """A copy of an operation, alone in a function of a module of its own."""

    module: ModuleOp
    function: FuncOp
    copy: Op


def outline(
    op: Op,
    inputs: Sequence[Value],
    in_shardings: Sequence[TensorSharding | None],
    out_shardings: Sequence[TensorSharding | None],
) -> Outlined:
    """Copies an operation, all meshes, and the functions that the operation calls to a new module.

    `inputs` are `inputs_of(op)`. The program of the operation is not changed. Raises DiagnosticError for an
    operation that calls a recursive function.
    """
    source = enclosing_module(op)
    assert source is not None
    rewriter, module = Rewriter(), empty_module(op)
    for mesh in source.block.ops:
        if isinstance(mesh, MeshOp):
            rewriter.insert(rewriter.clone(mesh), at_end_of=module.block)
    type = FunctionType(tuple([value.type for value in inputs]), op.result_types)
    body = Region()
    block = body.add_block()
    arguments = [block.add_argument(value.type, op.lazy_location) for value in inputs]
    copy = rewriter.clone(op, dict(zip(inputs, arguments, strict=True)))
    rewriter.insert(copy, at_end_of=block)
    for use, argument in zip(copy.operand_uses, arguments, strict=False):
        rewriter.set_operand(use, argument)  # each operand is an argument of its own
    rewriter.create(ReturnOp, copy.results, at_end_of=block, location=op.lazy_location)
    attributes: dict[str, Attribute] = {
        "sym_name": string("outlined"),
        "sym_visibility": string("private"),
        "function_type": TypeAttr(type),
    }
    function = rewriter.create(
        FuncOp, attributes=attributes, at_end_of=module.block, location=op.lazy_location, regions=[body]
    )
    assert isinstance(function, FuncOp)
    for index, sharding in enumerate(in_shardings):
        rewriter.set_argument_attribute(function, index, SHARDING, sharding)
    for index, sharding in enumerate(out_shardings):
        rewriter.set_result_attribute(function, index, SHARDING, sharding)
    for callee in called_functions(op):
        rewriter.insert(rewriter.clone(callee), at_end_of=module.block)
    return Outlined(module, function, copy)


def inputs_of(op: Op) -> list[Value]:
    """The operands of an operation, then the other values from outside that its regions use."""
    inside: set[Value] = set()
    captured: dict[Value, None] = {}
    for inner in op.walk():
        if inner is not op:
            captured |= dict.fromkeys(value for value in inner.operands if value not in inside)
            inside.update(inner.results)
        for region in inner.regions:
            for block in region.blocks:
                inside.update(block.arguments)
    return [*op.operands, *(value for value in captured if value not in op.operands)]


def called_functions(op: Op) -> Iterator[FuncOp]:
    """The functions that an operation calls, directly or not, each once. Rejects recursive functions."""
    done: set[FuncOp] = set()
    # The functions on the path of calls, each with the calls that are not followed yet.
    path: list[tuple[FuncOp | None, list[CallOp]]] = [(None, _calls(op))]
    while path:
        function, calls = path[-1]
        if not calls:
            path.pop()
            if function is not None:
                done.add(function)
                yield function
            continue
        call = calls.pop()
        callee = lookup_symbol(call, call.callee)
        if any(callee is caller for caller, _ in path):
            raise op.op_error(f"calls '{call.callee}', which is recursive")
        if isinstance(callee, FuncOp) and callee not in done:
            path.append((callee, _calls(callee)))


def _calls(op: Op) -> list[CallOp]:
    return [inner for inner in op.walk() if isinstance(inner, CallOp)]


def empty_module(like: Op) -> ModuleOp:
    """A module without operations, at the location of another operation."""
    body = Region()
    body.add_block()
    module = build(
        OpSignature(ModuleOp, ModuleOp.name, EMPTY_DICT, (), ()), (), EMPTY_DICT, like.lazy_location, (body,)
    )
    assert isinstance(module, ModuleOp)
    return module


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
