"""sdy.mesh, and lookup of the meshes that shardings refer to."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from sdyopt.base.diagnostics.diagnostic import DiagnosticError
from sdyopt.base.diagnostics.ids import ErrorKind, Message
from sdyopt.mlir.asm.format.assembly_format import assembly
from sdyopt.mlir.asm.lexical import symbol_text
from sdyopt.mlir.dialects.builtin import ModuleOp
from sdyopt.mlir.dialects.sdy.mesh import Mesh, sdy
from sdyopt.mlir.dialects.sdy.sharding import MeshOrRef, TensorSharding
from sdyopt.mlir.ir.interfaces import has_parent
from sdyopt.mlir.ir.op_fields import attr
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.traits import STRING_ATTR, SYMBOL, of_class

# Finds the mesh that a sharding refers to; None if its name is undefined.
MeshLookup = Callable[[MeshOrRef], Mesh | None]

_MESH = of_class(Mesh, "Mesh of axes and a list of devices")


@sdy.op("mesh", has_parent("builtin.module"), SYMBOL)
class MeshOp(Op):
    """A named mesh, to which shardings refer."""

    sym_name = attr(STRING_ATTR)
    mesh = attr(_MESH)

    assembly = assembly("custom<SymbolName>($sym_name) `=` $mesh attr-dict")


def meshes_at(op: Op) -> tuple[tuple[str, Mesh], ...]:
    """The meshes that references at an operation name: where they are equal, shardings mean the same."""
    module = enclosing_module(op)
    ops = () if module is None else module.block.ops
    return tuple([(op.sym_name, op.mesh) for op in ops if isinstance(op, MeshOp)])


def largest_mesh_op(module: Op) -> MeshOp | None:
    """The named mesh with the most devices: the machine that the program runs on."""
    meshes = (op for op in module.walk() if isinstance(op, MeshOp))
    return max(meshes, key=lambda op: op.mesh.total_size, default=None)


def enclosing_module(op: Op) -> ModuleOp | None:
    """The innermost module that encloses an operation; a top-level module encloses itself."""
    ancestor = op if op.parent is None else op.parent_op
    while ancestor is not None and not isinstance(ancestor, ModuleOp):
        ancestor = ancestor.parent_op
    return ancestor


def mesh_of(sharding: TensorSharding, op: Op) -> Mesh | None:
    """The mesh of a sharding at an operation; None if its name is undefined."""
    return find_mesh(sharding.mesh_or_ref, op)


def find_mesh(mesh_or_ref: MeshOrRef, op: Op) -> Mesh | None:
    """An inlined mesh itself, or the mesh that a reference at an operation names; None if it names none."""
    if isinstance(mesh_or_ref, Mesh):
        return mesh_or_ref
    module = enclosing_module(op)
    symbol = None if module is None else module.symbol(mesh_or_ref.root)
    return symbol.mesh if isinstance(symbol, MeshOp) else None


_UNKNOWN_MESH = ErrorKind(
    "unknown mesh: {symbol}",
    at="value > text {symbol}",
    help='define the mesh at the start of the module: `sdy.mesh {symbol} = <["x"=2, "y"=4]>`',
    explain="symbol",
)


def unknown_mesh(name: str) -> Message:
    """The message that a mesh is undefined."""
    return _UNKNOWN_MESH(symbol=symbol_text(name), name=name, by="sdy.mesh")


def unknown_mesh_error(sharding: TensorSharding, op: Op) -> DiagnosticError:
    """The error that the mesh of a sharding is undefined, for passes on functions outside of a module.

    The verifier looks up meshes in a module only.
    """
    assert sharding.mesh_name is not None
    error = op.error(unknown_mesh(sharding.mesh_name))
    return error.help("put the function into a module that declares the mesh")


def common_mesh(shardings: Iterable[TensorSharding | None], op: Op) -> Mesh | None:
    """The mesh that all shardings refer to; None if meshes differ, one is undefined, or none is given.

    An empty mesh is compatible with any other. Missing shardings are ignored.
    """
    common = common_mesh_or_ref(shardings, lambda mesh_or_ref: find_mesh(mesh_or_ref, op))
    return None if common is None else find_mesh(common, op)


def common_mesh_or_ref(shardings: Iterable[TensorSharding | None], look_up: MeshLookup) -> MeshOrRef | None:
    """Like `common_mesh`, but returns the mesh or reference of the first sharding with that mesh.

    If all meshes are empty, returns the mesh or reference of the last sharding.
    """
    common: MeshOrRef | None = None
    mesh: Mesh | None = None
    for sharding in shardings:
        if sharding is None:
            continue
        other = look_up(sharding.mesh_or_ref)
        if other is None:
            return None
        if mesh is None or mesh.is_empty:
            common, mesh = sharding.mesh_or_ref, other
        elif not other.is_empty and other is not mesh:
            return None
    return common
