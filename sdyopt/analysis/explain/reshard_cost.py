"""The bytes that a device sends if an operation's factors get other axes, by the ring model of reports."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from types import SimpleNamespace
from typing import NamedTuple

from sdyopt.analysis.figures.local_shapes import LocalShapes, bytes_of
from sdyopt.analysis.figures.sdy_collectives import TRAFFIC
from sdyopt.mlir.dialects.sdy.mesh import Mesh
from sdyopt.mlir.dialects.sdy.sharding import TensorSharding, fully_replicated
from sdyopt.mlir.ir.types import RankedShapedType, Type
from sdyopt.shardy.record import Planned
from sdyopt.shardy.sharding.axis_lists import Axes, sharded_size
from sdyopt.shardy.sharding.reshard_to_collectives.plan import plan_collectives
from sdyopt.shardy.sharding.sharding_projection import TensorProjection, project, unproject


class Cost(NamedTuple):
    """What an alternative costs: the positions of the operands and results that it reshards, and the bytes.

    `reduced` are the axes along which results are all-reduced. The bytes are None if a size is unknown.
    """

    resharded: tuple[int, ...]
    reduced: Axes
    wire_bytes: Fraction | None


def projections(plan: Planned, mesh: Mesh) -> list[TensorProjection]:
    """The factor shardings of operands and results before the plan."""
    return project(plan.rule, plan.shardings, mesh, closed_if_missing=True)


def cost_of(plan: Planned, axes: Sequence[Axes], mesh: Mesh, shapes: LocalShapes) -> Cost:
    """What it costs to give each factor these axes."""
    types = (*plan.signature.operand_types, *plan.signature.result_types)
    like = next(sharding for sharding in plan.shardings if sharding is not None)
    total: Fraction | None = Fraction(0)
    resharded = []
    reduced = tuple([axis for factor in plan.rule.reduction for axis in axes[factor]])
    for position, (projection, mapping) in enumerate(
        zip(projections(plan, mesh), plan.rule.tensors, strict=True)
    ):
        old = plan.shardings[position] or fully_replicated(mapping.rank, like.mesh_or_ref, True)
        for factor, current in projection.factors.items():
            projection.factors[factor] = current._replace(axes=axes[factor], overflow_axes=())
        new = unproject(projection, mapping, plan.rule.factor_sizes, like.mesh_or_ref, mesh)
        is_result = position >= len(plan.rule.operands)
        if [dim.axes for dim in new.dims] != [dim.axes for dim in old.dims]:
            resharded.append(position)
            source, target = (new, old) if is_result else (old, new)
            total = _sum(total, reshard_bytes(types[position], source, target, mesh, shapes))
        if is_result and reduced:
            local = bytes_of(types[position], shapes.shape_of(types[position], new))
            size = sharded_size(reduced, mesh)
            total = _sum(total, None if local is None else Fraction(2 * (size - 1), size) * local)
    return Cost(tuple(resharded), reduced, total)


def reshard_bytes(
    type: Type, source: TensorSharding, target: TensorSharding, mesh: Mesh, shapes: LocalShapes
) -> Fraction | None:
    """The bytes that a device sends for a reshard; None if a size is unknown."""
    if not isinstance(type, RankedShapedType) or not type.has_static_shape:
        return None
    total, before = Fraction(0), bytes_of(type, shapes.shape_of(type, source))
    for step in plan_collectives(type.shape, source, target, mesh):
        after = bytes_of(type, shapes.shape_of(type, step.sharding))
        # A formula reads only the attributes of the collective, which does not exist yet.
        traffic = TRAFFIC[step.op_class](SimpleNamespace(**step.attributes), source, mesh, mesh)
        if before is None or after is None or traffic.share_in is None:
            return None
        total += traffic.share_in * before + traffic.share_out * after
        source, before = step.sharding, after
    return total


def _sum(total: Fraction | None, more: Fraction | None) -> Fraction | None:
    return None if total is None or more is None else total + more
