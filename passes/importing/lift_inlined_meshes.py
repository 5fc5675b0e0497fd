"""sdy-lift-inlined-meshes: lift inlined meshes to mesh symbols and merge equal ones.

    func.func @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<mesh<["x"=2]>, [{"x"}]>}) { … }
becomes
    sdy.mesh @mesh = <["x"=2]> {stablehlo.mesh = {axes = [{name = "x", size = 2 : i64}]}}
    func.func @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) { … }

Propagation compares meshes by name, so shardings with two names for one mesh, or with an inlined mesh, would
count as different. Of equal mesh symbols the first is kept. An inlined mesh that equals none of them gets the
name `maximal_mesh_{device id}` if it is maximal, `empty_mesh` if it is empty, and `mesh` otherwise, with a
number if the name is taken. With `use-single-device-mesh-names`, maximal meshes get the name
`single_device_{device id}`. Meshes in the replica groups of collectives are lifted too; they get symbols of
their own, which no sharding uses.

Every mesh symbol gets the attribute `stablehlo.mesh`, which describes the mesh to tools without sdy.
"""

from __future__ import annotations

from struct import pack

from sdyopt.base.releases import Behavior
from sdyopt.mlir.dialects.builtin import ModuleOp
from sdyopt.mlir.dialects.sdy.mesh import Mesh, MeshAxis
from sdyopt.mlir.dialects.sdy.mesh_op import MeshOp
from sdyopt.mlir.dialects.sdy.sharding import TensorSharding
from sdyopt.mlir.dialects.stablehlo import collectives
from sdyopt.mlir.dialects.stablehlo.replica_groups import Mesh as StablehloMesh
from sdyopt.mlir.dialects.stablehlo.replica_groups import ReplicaGroupMeshAxes
from sdyopt.mlir.ir.attribute import Attribute, DictAttr, SymbolRef, array, dictionary, string
from sdyopt.mlir.ir.builtin_attributes import dense, integer
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.rewrite import InsertionPoint, Rewriter
from sdyopt.mlir.ir.types import I64, RankedTensor
from sdyopt.mlir.ir.value import LazyLocation
from sdyopt.mlir.pipeline import Pass, Since, option
from sdyopt.mlir.registry import register

from ..common.support.call_graph import FreshNames
from ..common.support.function_shardings import transform_shardings

STABLEHLO_MESH = "stablehlo.mesh"
REPLICA_GROUPS = "replica_groups"

# The collectives whose meshes are lifted.
COLLECTIVES = (
    collectives.AllGatherOp,
    collectives.AllReduceOp,
    collectives.ReduceScatterOp,
    collectives.AllToAllOp,
    collectives.CollectiveBroadcastOp,
)


@register("sdy-lift-inlined-meshes")
class LiftInlinedMeshes(Pass):
    use_single_device_mesh_names: bool = option(
        default=False,
        help="name meshes of a single device `single_device_{id}` instead of `maximal_mesh_{id}`",
        since=Since(Behavior.SINGLE_DEVICE_MESH_NAMES),
    )

    def run(self, module: ModuleOp) -> bool:
        rewriter = Rewriter()
        maximal_name = "single_device" if self.use_single_device_mesh_names else "maximal_mesh"
        names = _MeshNames(module, maximal_name, rewriter)

        def lift(sharding: TensorSharding) -> TensorSharding:
            return sharding.with_mesh(names.name_of(sharding.mesh_or_ref, module.lazy_location))

        transform_shardings(module, lift, rewriter)
        for op in _collectives_with_meshes(module):
            groups = op.signature.attributes[REPLICA_GROUPS]
            assert isinstance(groups, ReplicaGroupMeshAxes)
            name = names.name_of(groups.mesh, op.lazy_location)
            rewriter.set_attribute(op, REPLICA_GROUPS, ReplicaGroupMeshAxes(name, groups.axes))
        for op in module.block.ops:
            if isinstance(op, MeshOp) and STABLEHLO_MESH not in op.attributes:
                rewriter.set_attribute(op, STABLEHLO_MESH, _stablehlo_description(op.mesh))
        return rewriter.changed


class _MeshNames:
    """The names of meshes. Erases mesh symbols that are equal to an earlier one, and creates new ones."""

    def __init__(self, module: ModuleOp, maximal_name: str, rewriter: Rewriter) -> None:
        self._module = module
        self._maximal_name = maximal_name
        self._rewriter = rewriter
        self._last: MeshOp | None = None
        # The names of meshes, by the mesh and by the names of erased symbols.
        self._names: dict[Attribute, SymbolRef] = {}
        for op in module.block.ops:
            if isinstance(op, MeshOp):
                self._add_or_erase(op)
        self._fresh = FreshNames(module)

    def name_of(self, mesh_or_ref: Mesh | StablehloMesh | SymbolRef, location: LazyLocation) -> SymbolRef:
        """The name of a mesh, or of the symbol that is kept instead of the one with this name.

        Creates a symbol at `location` for a mesh without one.
        """
        name = self._names.get(mesh_or_ref)
        if name is not None:
            return name
        if isinstance(mesh_or_ref, SymbolRef):
            return mesh_or_ref
        mesh = _from_stablehlo(mesh_or_ref) if isinstance(mesh_or_ref, StablehloMesh) else mesh_or_ref
        name = self._names[mesh_or_ref] = SymbolRef(self._fresh.take(self._base_name(mesh)))
        self._create(name, mesh, location)
        return name

    def _base_name(self, mesh: Mesh) -> str:
        if mesh.is_maximal:
            return f"{self._maximal_name}_{mesh.device_ids[0]}"
        return "empty_mesh" if mesh.is_empty else "mesh"

    def _add_or_erase(self, op: MeshOp) -> None:
        first = self._names.setdefault(op.mesh, SymbolRef(op.sym_name))
        if first.root == op.sym_name:
            self._last = op
        else:
            self._names[SymbolRef(op.sym_name)] = first
            self._rewriter.erase(op)

    def _create(self, name: SymbolRef, mesh: Mesh, location: LazyLocation) -> None:
        attributes = {"sym_name": string(name.root), "mesh": mesh}
        insertion_point: InsertionPoint = (
            {"at_start_of": self._module.block} if self._last is None else {"after": self._last}
        )
        op = self._rewriter.create(MeshOp, (), (), attributes, location=location, **insertion_point)
        assert isinstance(op, MeshOp)
        self._last = op


def _collectives_with_meshes(module: ModuleOp) -> list[Op]:
    """The collectives whose replica groups are mesh axes, in the order in which their meshes get names.

    Before version jaxlib-0.12.0.1, that is the order of `COLLECTIVES`.
    """
    collectives: list[Op] = [
        op
        for op in module.nested(*COLLECTIVES)
        if isinstance(op.attribute(REPLICA_GROUPS), ReplicaGroupMeshAxes)
    ]
    if Behavior.MESH_NAMES_IN_PROGRAM_ORDER.active:
        return collectives
    return sorted(collectives, key=lambda op: COLLECTIVES.index(type(op)))


def _from_stablehlo(mesh: StablehloMesh) -> Mesh:
    """The sdy mesh with the axes of a stablehlo mesh, whose device order is ignored, as in Shardy."""
    return Mesh(tuple([MeshAxis(axis.name, axis.size) for axis in mesh.axes]))


def _stablehlo_description(mesh: Mesh) -> DictAttr:
    """A mesh as a dictionary: `{axes = [{name = "x", size = 2 : i64}], device_ids = dense<…>}`."""
    axes = [{"name": string(axis.name), "size": integer(axis.size, I64)} for axis in mesh.axes]
    entries: dict[str, Attribute] = {"axes": array([dictionary(axis) for axis in axes])}
    if mesh.device_ids:
        count = len(mesh.device_ids)
        entries["device_ids"] = dense(RankedTensor((count,), I64), pack(f"<{count}q", *mesh.device_ids))
    return dictionary(entries)
