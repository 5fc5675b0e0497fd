"""Reshards between different meshes, and to and from a single device.

Between meshes with different axes, a tensor is gathered on the first mesh and sliced on the second. A tensor
on a single device is replicated instead: every device computes it.
"""

from __future__ import annotations

from sdyopt.dialects.sdy.ops import ReshardOp
from sdyopt.dialects.sdy.sharding import TensorSharding, fully_replicated
from sdyopt.dialects.sdy.value_shardings import rank_of
from sdyopt.dialects.stablehlo.control_flow import OptimizationBarrierOp
from sdyopt.ir.rewrite import Rewriter
from sdyopt.ir.value import Value
from sdyopt.partition.local_types import LocalTypes


def resolve_mesh_change(op: ReshardOp, types: LocalTypes, rewriter: Rewriter) -> None:
    """Splits a reshard between meshes with different axes at a replicated tensor.

    A reshard to a single device is removed after that.
    """
    before, after = types.sharding(op.input), op.sharding
    mesh_after = types.mesh(after)
    if before is None or mesh_after is None:
        if mesh_after is not None and mesh_after.is_maximal:
            rewriter.replace(op, [op.input])
        return
    mesh_before = types.mesh(before)
    if mesh_before is None or (before.mesh_or_ref is after.mesh_or_ref and not mesh_before.is_maximal):
        return
    if mesh_before.axes == mesh_after.axes and not mesh_before.is_maximal:
        return
    value = op.input
    if not before.is_fully_replicated:
        value = _reshard(op, before, rewriter)
    # The barrier has no sharding: the tensor is replicated on any mesh.
    barrier = rewriter.create(OptimizationBarrierOp, [value], [value.type], before=op, location=op._location)
    rewriter.set_operand(op.operand_uses[0], barrier.result)
    if mesh_after.is_maximal:
        rewriter.replace(op, [barrier.result])


def _reshard(op: ReshardOp, before: TensorSharding, rewriter: Rewriter) -> Value:
    replicated = fully_replicated(rank_of(op.input.type), before.mesh_or_ref, is_closed=True)
    return rewriter.create(
        ReshardOp, [op.input], [op.input.type], {"sharding": replicated}, before=op, location=op._location
    ).result
