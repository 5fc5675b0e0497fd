"""Reshards between different meshes, and to and from a single device.

Between meshes with different axes, a tensor is gathered on the first mesh and sliced on the second. Before
and after it is on a single device, a tensor is replicated.
"""

from __future__ import annotations

from sdyopt.mlir.dialects.sdy.ops import ReshardOp
from sdyopt.mlir.dialects.sdy.sharding import TensorSharding, fully_replicated
from sdyopt.mlir.dialects.sdy.value_shardings import rank_of
from sdyopt.mlir.dialects.stablehlo.control_flow import OptimizationBarrierOp
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.value import Value
from sdyopt.shardy.partition.local_context import LocalTypes


def resolve_mesh_change(op: ReshardOp, types: LocalTypes, rewriter: Rewriter) -> None:
    """Splits a reshard between meshes with different axes at a replicated tensor.

    Of a reshard to or from a single device, the part between the replicated tensor and the device is left to
    `sdy-resolve-single-device-sharding`.
    """
    before, after = types.sharding(op.input), op.sharding
    mesh_after = types.mesh(after)
    if before is None or mesh_after is None:
        return
    mesh_before = types.mesh(before)
    if mesh_before is None or before.mesh_or_ref is after.mesh_or_ref:
        return
    if mesh_before.is_maximal or mesh_after.is_maximal:
        between = before if mesh_after.is_maximal else after
        if not between.is_fully_replicated:
            rewriter.set_operand(op.operand_uses[0], _replicated(op, between, rewriter))
        return
    if mesh_before.axes == mesh_after.axes:
        return
    value = op.input
    if not before.is_fully_replicated:
        value = _replicated(op, before, rewriter)
    rewriter.set_operand(op.operand_uses[0], without_sharding(value, op, rewriter))


def without_sharding(value: Value, op: ReshardOp, rewriter: Rewriter) -> Value:
    """A value that is whole on every device, behind a barrier without a sharding before `op`.

    So it is replicated on any mesh.
    """
    return rewriter.create(
        OptimizationBarrierOp, [value], [value.type], before=op, location=op.lazy_location
    ).result


def _replicated(op: ReshardOp, like: TensorSharding, rewriter: Rewriter) -> Value:
    """The input of a reshard, replicated on the mesh of a sharding."""
    replicated = fully_replicated(rank_of(op.input.type), like.mesh_or_ref, is_closed=True)
    return rewriter.create(
        ReshardOp, [op.input], [op.input.type], {"sharding": replicated}, before=op, location=op.lazy_location
    ).result
