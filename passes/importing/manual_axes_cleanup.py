"""sdy-manual-axes-cleanup: mention every manual axis in every sharding of a manual computation.

    sdy.manual_computation(%a) in_shardings=[<@mesh, [{"y"}]>] out_shardings=[<@mesh, [{"x"}]>]
        manual_axes={"y", "x"} …
becomes
    sdy.manual_computation(%a) in_shardings=[<@mesh, [{"y"}], replicated={"x"}>]
        out_shardings=[<@mesh, [{"x"}], replicated={"y"}>] manual_axes={"x", "y"} …

The body works along its manual axes by itself, and what it takes and gives has a fixed place on them: a
value is split along a manual axis, or it is copied, and nobody may split it later. So a manual axis that
a sharding does not mention becomes one of its replicated axes, and if the sharding's mesh is empty, it
gets that of the others. Manual axes are put into the order of the mesh.

A manual computation with neither inputs nor outputs says nothing about its mesh. If it has manual axes
and a body all the same, that is an error.
"""

from __future__ import annotations

from collections.abc import Sequence

from sdyopt.diagnostics import emit
from sdyopt.dialects.builtin import ModuleOp
from sdyopt.dialects.sdy.axes import AxisRef, difference, sorted_and_merged
from sdyopt.dialects.sdy.axis_lists import ManualAxes
from sdyopt.dialects.sdy.computation_ops import ManualComputationOp
from sdyopt.dialects.sdy.mesh import Mesh
from sdyopt.dialects.sdy.mesh_op import find_mesh
from sdyopt.dialects.sdy.ops import ReturnOp
from sdyopt.dialects.sdy.sharding import MeshOrRef, ShardingPerValue, TensorSharding
from sdyopt.ir.rewrite import Rewriter
from sdyopt.ir.types import ShapedType, Type
from sdyopt.pipeline import Pass
from sdyopt.registry import register


@register("sdy-manual-axes-cleanup")
class ManualAxesCleanup(Pass):
    def run(self, module: ModuleOp) -> bool:
        rewriter = Rewriter()
        for op in module.walk_post_order():
            if isinstance(op, ManualComputationOp):
                _clean_up(op, rewriter)
        return rewriter.changed


def _clean_up(op: ManualComputationOp, rewriter: Rewriter) -> None:
    mesh_or_ref, mesh = _common_mesh(op)
    if mesh_or_ref is None:
        if op.manual_axes and not isinstance(op.block.first, ReturnOp):
            emit(
                op.error(
                    "op has manual_axes when there are no in/out shardings and the body is not empty. This "
                    "isn't allowed at this stage, please contact the Shardy team or file a bug."
                ).diagnostic
            )
        return
    names = sorted(op.manual_axes, key=mesh.axis_position)
    rewriter.set_attribute(op, "manual_axes", ManualAxes(tuple(names)))
    manual = [AxisRef(name) for name in names]

    def complete(shardings: ShardingPerValue, types: Sequence[Type]) -> ShardingPerValue:
        """The shardings, all manual axes mentioned wherever the value has a shape."""
        new = list(shardings)
        for index, (sharding, type) in enumerate(zip(shardings, types, strict=False)):
            if isinstance(type, ShapedType):
                new[index] = _mention(sharding, manual, mesh_or_ref, mesh)
        return ShardingPerValue(tuple(new))

    rewriter.set_attribute(op, "in_shardings", complete(op.in_shardings, op.signature.operand_types))
    rewriter.set_attribute(op, "out_shardings", complete(op.out_shardings, op.signature.result_types))


def _common_mesh(op: ManualComputationOp) -> tuple[MeshOrRef | None, Mesh]:
    """The mesh of the shardings, as the first one that is not empty speaks of it; None without shardings."""
    found: MeshOrRef | None = None
    mesh = Mesh()
    for sharding in (*op.in_shardings, *op.out_shardings):
        if mesh.is_empty:
            found, mesh = sharding.mesh_or_ref, find_mesh(sharding.mesh_or_ref, op) or mesh
    return found, mesh


def _mention(
    sharding: TensorSharding, manual: Sequence[AxisRef], mesh_or_ref: MeshOrRef, mesh: Mesh
) -> TensorSharding:
    missing = difference(manual, list(sharding.axis_refs), mesh)
    if not missing:
        return sharding
    replicated = sorted_and_merged((*sharding.replicated_axes, *missing), mesh)
    return TensorSharding(mesh_or_ref, sharding.dims, replicated, sharding.unreduced_axes)
