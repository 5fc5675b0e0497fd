"""sdy-lift-inlined-meshes: give every mesh one name.

    func.func @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<mesh<["x"=2]>, [{"x"}]>}) { … }
becomes
    sdy.mesh @mesh = <["x"=2]> {stablehlo.mesh = {axes = [{name = "x", size = 2 : i64}]}}
    func.func @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) { … }

Propagation compares meshes by name, so two names for one mesh, or a mesh without a name, would keep
shardings apart that belong together. Of several equal named meshes the first stays. A mesh that
stands in a sharding is called `maximal_mesh_{device id}` if it is one device, `empty_mesh` if it is
empty, else `mesh`; if that name is taken, a number follows. The same is done for meshes in the replica
groups of collectives; those are never taken for one that a sharding uses.

Every named mesh also says what it is in words that tools without sdy can read: the attribute
`stablehlo.mesh`.
"""

from __future__ import annotations

from struct import pack

from sdyopt.diagnostics.location import Location
from sdyopt.dialects.builtin import ModuleOp
from sdyopt.dialects.sdy.mesh import Mesh, MeshAxis
from sdyopt.dialects.sdy.mesh_op import MeshOp
from sdyopt.dialects.sdy.sharding import TensorSharding
from sdyopt.dialects.stablehlo import collectives
from sdyopt.dialects.stablehlo.mesh_axes import Mesh as StablehloMesh
from sdyopt.dialects.stablehlo.mesh_axes import ReplicaGroupMeshAxes
from sdyopt.ir.attribute import Attribute, DictAttr, SymbolRef, array, dictionary, string
from sdyopt.ir.elements_attributes import dense
from sdyopt.ir.numeric_attributes import integer
from sdyopt.ir.operation import Op
from sdyopt.ir.rewrite import Rewriter
from sdyopt.ir.types import I64, RankedTensor
from sdyopt.pipeline import Pass
from sdyopt.registry import register

from ..common.support.fresh_names import FreshNames
from ..common.support.shardings import transform_shardings

STABLEHLO_MESH = "stablehlo.mesh"
REPLICA_GROUPS = "replica_groups"

# The collectives whose meshes get names, kind by kind in this order, which decides who gets which number.
COLLECTIVES = (
    collectives.AllGatherOp,
    collectives.AllReduceOp,
    collectives.ReduceScatterOp,
    collectives.AllToAllOp,
    collectives.CollectiveBroadcastOp,
)


@register("sdy-lift-inlined-meshes")
class LiftInlinedMeshes(Pass):
    def run(self, module: ModuleOp) -> bool:
        rewriter = Rewriter()
        names = _MeshNames(module, rewriter)

        def lift(sharding: TensorSharding) -> TensorSharding:
            return sharding.with_mesh(names.name_of(sharding.mesh_or_ref, module.location))

        transform_shardings(module, lift, rewriter)
        for op in _with_meshes(module):
            groups = op.signature.attributes[REPLICA_GROUPS]
            assert isinstance(groups, ReplicaGroupMeshAxes)
            name = names.name_of(groups.mesh, op.location)
            rewriter.set_attribute(op, REPLICA_GROUPS, ReplicaGroupMeshAxes(name, groups.axes))
        for op in module.block.ops:
            if isinstance(op, MeshOp) and STABLEHLO_MESH not in op.attributes:
                rewriter.set_attribute(op, STABLEHLO_MESH, _in_words(op.mesh))
        return rewriter.changed


class _MeshNames:
    """The names of meshes. Removes named ones that have an equal before them, and adds new ones."""

    def __init__(self, module: ModuleOp, rewriter: Rewriter) -> None:
        self._module = module
        self._rewriter = rewriter
        self._last: MeshOp | None = None
        # The name to use for a mesh, or for the name of one that was removed.
        self._names: dict[Attribute, SymbolRef] = {}
        for op in module.block.ops:
            if isinstance(op, MeshOp):
                self._add_or_remove(op)
        self._fresh = FreshNames(module)

    def name_of(self, mesh_or_ref: Mesh | StablehloMesh | SymbolRef, location: Location) -> SymbolRef:
        """The name to use for a mesh, which is made at `location` if it is new, or for another name."""
        name = self._names.get(mesh_or_ref)
        if name is not None:
            return name
        if isinstance(mesh_or_ref, SymbolRef):
            return mesh_or_ref
        mesh = _from_stablehlo(mesh_or_ref) if isinstance(mesh_or_ref, StablehloMesh) else mesh_or_ref
        name = self._names[mesh_or_ref] = SymbolRef(self._fresh.take(_wanted_name(mesh)))
        self._make(name, mesh, location)
        return name

    def _add_or_remove(self, op: MeshOp) -> None:
        first = self._names.setdefault(op.mesh, SymbolRef(op.sym_name))
        if first.root == op.sym_name:
            self._last = op
        else:
            self._names[SymbolRef(op.sym_name)] = first
            self._rewriter.erase(op)

    def _make(self, name: SymbolRef, mesh: Mesh, location: Location) -> None:
        insertion_point = {"at_start_of": self._module.block} if self._last is None else {"after": self._last}
        attributes = {"sym_name": string(name.root), "mesh": mesh}
        made = self._rewriter.create(MeshOp, (), (), attributes, location=location, **insertion_point)
        assert isinstance(made, MeshOp)
        self._last = made


def _wanted_name(mesh: Mesh) -> str:
    if mesh.is_maximal:
        return f"maximal_mesh_{mesh.device_ids[0]}"
    return "empty_mesh" if mesh.is_empty else "mesh"


def _with_meshes(module: ModuleOp) -> list[Op]:
    """The collectives whose replica groups are those of a mesh, in the order of `COLLECTIVES`."""
    found: dict[type[Op], list[Op]] = {kind: [] for kind in COLLECTIVES}
    for op in module.walk_post_order():
        of_kind = found.get(type(op))
        if of_kind is not None and isinstance(op.attribute(REPLICA_GROUPS), ReplicaGroupMeshAxes):
            of_kind.append(op)
    return [op for of_kind in found.values() for op in of_kind]


def _from_stablehlo(mesh: StablehloMesh) -> Mesh:
    """The mesh with these axes, its devices in order even if stablehlo has them in another one."""
    return Mesh(tuple([MeshAxis(axis.name, axis.size) for axis in mesh.axes]))


def _in_words(mesh: Mesh) -> DictAttr:
    """The mesh as a dictionary: `{axes = [{name = "x", size = 2 : i64}], device_ids = dense<…>}`."""
    axes = [{"name": string(axis.name), "size": integer(axis.size, I64)} for axis in mesh.axes]
    words: dict[str, Attribute] = {"axes": array([dictionary(axis) for axis in axes])}
    if mesh.device_ids:
        count = len(mesh.device_ids)
        words["device_ids"] = dense(RankedTensor((count,), I64), pack(f"<{count}q", *mesh.device_ids))
    return dictionary(words)
