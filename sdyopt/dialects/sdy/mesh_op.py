"""sdy.mesh: a mesh with a name, and how shardings find it."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from sdyopt.asm.format.assembly_format import AttrDict, assembly
from sdyopt.asm.symbol_names import symbol_name_directive
from sdyopt.dialects.builtin import ModuleOp
from sdyopt.dialects.sdy.assembly_directives import bare, bare_attr, kind_of
from sdyopt.dialects.sdy.dialect import sdy
from sdyopt.dialects.sdy.mesh import Mesh, mesh_text, parse_mesh
from sdyopt.dialects.sdy.sharding import MeshOrRef, TensorSharding
from sdyopt.ir.constraints import STRING_ATTR, AttrKind
from sdyopt.ir.op_fields import attr
from sdyopt.ir.operation import Op
from sdyopt.ir.region_traits import has_parent
from sdyopt.ir.traits import SYMBOL

# Finds the mesh that a sharding refers to; None if there is none of that name.
MeshLookup = Callable[[MeshOrRef], Mesh | None]

_MESH: AttrKind[Mesh] = kind_of(Mesh, "Mesh of axes and a list of devices")


@sdy.op("mesh", has_parent("builtin.module"), SYMBOL)
class MeshOp(Op):
    """A named mesh, to which shardings refer."""

    __slots__ = ()

    sym_name = attr(STRING_ATTR)
    mesh = attr(_MESH)

    assembly = assembly(
        symbol_name_directive(), "=", bare_attr("mesh", bare(Mesh, parse_mesh), mesh_text), AttrDict()
    )


def enclosing_module(op: Op) -> ModuleOp | None:
    """The innermost module around an operation; a module that nothing is around stands for itself."""
    here = op if op.parent is None else op.parent_op
    while here is not None and not isinstance(here, ModuleOp):
        here = here.parent_op
    return here


def mesh_of(sharding: TensorSharding, op: Op) -> Mesh | None:
    """The mesh that a sharding at an operation speaks of; None if there is none of that name."""
    return find_mesh(sharding.mesh_or_ref, op)


def find_mesh(mesh_or_ref: MeshOrRef, op: Op) -> Mesh | None:
    """A mesh, or the one of this name in the module around an operation."""
    if isinstance(mesh_or_ref, Mesh):
        return mesh_or_ref
    module = enclosing_module(op)
    found = None if module is None else module.symbol(mesh_or_ref.root)
    return found.mesh if isinstance(found, MeshOp) else None


def common_mesh(shardings: Iterable[TensorSharding | None], op: Op) -> Mesh | None:
    """The mesh that all shardings refer to; None if they refer to different ones or there are none.

    An empty mesh is compatible with any other. Missing shardings are ignored.
    """
    common = common_mesh_or_ref(shardings, lambda mesh_or_ref: find_mesh(mesh_or_ref, op))
    return None if common is None else find_mesh(common, op)


def common_mesh_or_ref(shardings: Iterable[TensorSharding | None], mesh_of: MeshLookup) -> MeshOrRef | None:
    """As `common_mesh`, but the mesh or symbol as the first sharding with that mesh has it."""
    common: MeshOrRef | None = None
    mesh: Mesh | None = None
    for sharding in shardings:
        if sharding is None:
            continue
        other = mesh_of(sharding.mesh_or_ref)
        if other is None:
            return None
        if mesh is None or mesh.is_empty:
            common, mesh = sharding.mesh_or_ref, other
        elif not other.is_empty and other is not mesh:
            return None
    return common
