"""sdy-manual-axes-cleanup: add missing manual axes to shardings and sort them.

    sdy.manual_computation(%a) in_shardings=[<@mesh, [{"y"}]>] out_shardings=[<@mesh, [{"x"}]>]
        manual_axes={"y", "x"} …
becomes
    sdy.manual_computation(%a) in_shardings=[<@mesh, [{"y"}], replicated={"x"}>]
        out_shardings=[<@mesh, [{"x"}], replicated={"y"}>] manual_axes={"x", "y"} …

The body of a manual computation is per-device code along its manual axes, so propagation must not shard its
inputs and outputs along them. A manual axis that a sharding does not mention becomes one of its replicated
axes; a sharding over the empty mesh then gets the mesh of the other shardings. The manual axes are sorted in
mesh order.

A manual computation without inputs and outputs has no mesh. It is an error if it has manual axes and a
non-empty body.
"""

from __future__ import annotations

from collections.abc import Sequence

from sdyopt.base.diagnostics import emit
from sdyopt.mlir.dialects.builtin import ModuleOp
from sdyopt.mlir.dialects.sdy.axes import AxisRef, ManualAxes, difference, sorted_and_merged
from sdyopt.mlir.dialects.sdy.mesh import Mesh
from sdyopt.mlir.dialects.sdy.mesh_op import common_mesh_or_ref, find_mesh
from sdyopt.mlir.dialects.sdy.ops import ManualComputationOp, ReturnOp
from sdyopt.mlir.dialects.sdy.sharding import MeshOrRef, ShardingPerValue, TensorSharding
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.types import ShapedType, Type
from sdyopt.mlir.pipeline import Pass
from sdyopt.mlir.registry import register


@register("sdy-manual-axes-cleanup")
class ManualAxesCleanup(Pass):
    def run(self, module: ModuleOp) -> bool:
        rewriter = Rewriter()
        for op in module.nested(ManualComputationOp):
            _clean_up(op, rewriter)
        return rewriter.changed


def _clean_up(op: ManualComputationOp, rewriter: Rewriter) -> None:
    mesh_or_ref = common_mesh_or_ref(
        (*op.in_shardings, *op.out_shardings), lambda mesh_or_ref: find_mesh(mesh_or_ref, op)
    )
    mesh = None if mesh_or_ref is None else find_mesh(mesh_or_ref, op)
    if mesh_or_ref is None or mesh is None:
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
        """The shardings; those of values with a shaped type get the missing manual axes."""
        new = list(shardings)
        for index, (sharding, type) in enumerate(zip(shardings, types, strict=False)):
            if isinstance(type, ShapedType):
                new[index] = _with_missing_axes(sharding, manual, mesh_or_ref, mesh)
        return ShardingPerValue(tuple(new))

    rewriter.set_attribute(op, "in_shardings", complete(op.in_shardings, op.signature.operand_types))
    rewriter.set_attribute(op, "out_shardings", complete(op.out_shardings, op.signature.result_types))


def _with_missing_axes(
    sharding: TensorSharding, manual: Sequence[AxisRef], mesh_or_ref: MeshOrRef, mesh: Mesh
) -> TensorSharding:
    missing = difference(manual, list(sharding.axis_refs), mesh)
    if not missing:
        return sharding
    replicated = sorted_and_merged((*sharding.replicated_axes, *missing), mesh)
    return sharding.with_mesh(mesh_or_ref).with_replicated_axes(replicated)
