"""Edits of sharding rules, barriers and manual axes."""

from __future__ import annotations

from collections.abc import Sequence
from math import gcd

from sdyopt.analysis.sharding_record.absences import Absence
from sdyopt.mlir.dialects.sdy.axes import ManualAxes
from sdyopt.mlir.dialects.sdy.mesh import SHARDING_RULE
from sdyopt.mlir.dialects.sdy.ops import ManualComputationOp, PropagationBarrierOp, PropagationDirection
from sdyopt.mlir.dialects.sdy.rule import DimMapping, OpShardingRule, TensorMapping
from sdyopt.mlir.dialects.sdy.value_shardings import DataFlowEdgeOp, owning_op
from sdyopt.mlir.ir.builtin_attributes import IntegerAttr
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.types import I32, RankedShapedType
from sdyopt.mlir.ir.value import BlockArgument
from tests.explanations.programs import Edit, Imported, Recorded
from tests.explanations.undoing import Undoing


def unblocked(undoing: Undoing) -> list[Edit]:
    rule = undoing.site.rule
    kept = tuple([factor for factor in rule.blocked_propagation if factor != undoing.refusal.factor])
    new = OpShardingRule(
        *(rule.factor_sizes, rule.operands, rule.results),
        *(rule.reduction, rule.need_replication, rule.permutation, kept),
        is_custom=True,
    )
    return _with_rule(undoing.program, undoing.absence, new)


def in_all_directions(undoing: Undoing) -> list[Edit]:
    return with_barrier_open(undoing.program, undoing.absence)


def without_manual_axis(program: Recorded, absence: Absence) -> list[Edit]:
    """Makes the axis a free axis of the manual computation."""
    op_number = program.op_numbers.get(absence.site.op)
    if op_number is None:
        return []
    name = absence.axis.name

    def edit(imported: Imported) -> None:
        edge = imported.ops[op_number]
        assert isinstance(edge, DataFlowEdgeOp) and isinstance(edge.input, BlockArgument)
        op = owning_op(edge.input)
        if isinstance(op, ManualComputationOp):
            kept = ManualAxes(tuple([each for each in op.manual_axes if each != name]))
            Rewriter().set_attribute(op, "manual_axes", kept)

    return [edit]


def with_rule_of_neighbor(program: Recorded, absence: Absence) -> list[Edit]:
    """Adds a rule by which a dimension of the value corresponds to the sharded one of the neighbor."""
    op = absence.site.op
    rule = _rule([value.type for value in (*op.operands, *op.results)], absence)
    return [] if rule is None else _with_rule(program, absence, rule)


def with_barrier_open(program: Recorded, absence: Absence) -> list[Edit]:
    """Lets the barrier propagate from the neighbor to the value."""
    op_number = program.op_numbers.get(absence.site.op)
    if op_number is None:
        return []
    is_forward = absence.neighbor_position < absence.position
    direction = PropagationDirection.FORWARD if is_forward else PropagationDirection.BACKWARD

    def edit(imported: Imported) -> None:
        op = imported.ops[op_number]
        if isinstance(op, PropagationBarrierOp):
            Rewriter().set_attribute(op, "allowed_direction", IntegerAttr(direction, I32))

    return [edit]


def _with_rule(program: Recorded, absence: Absence, rule: OpShardingRule) -> list[Edit]:
    op_number = program.op_numbers.get(absence.site.op)
    if op_number is None:
        return []

    def edit(imported: Imported) -> None:
        Rewriter().set_attribute(imported.ops[op_number], SHARDING_RULE, rule)

    return [edit]


def _rule(types: Sequence[object], absence: Absence) -> OpShardingRule | None:
    """The rule with one factor of two dimensions: the sharded one of the neighbor, and one of the value.

    That is the dimension of the value that has the largest divisor in common with it, if any. It is the major
    factor of both.
    """
    shapes = [type.shape if isinstance(type, RankedShapedType) else () for type in types]
    size = shapes[absence.neighbor_position][absence.neighbor_dim]
    common = [gcd(size, each) for each in shapes[absence.position]]
    if max(common, default=1) <= 1:
        return None
    shared = max(common)
    shared_dims = {
        (absence.neighbor_position, absence.neighbor_dim),
        (absence.position, common.index(shared)),
    }
    sizes = [shared]
    mappings = []
    for position, shape in enumerate(shapes):
        dims = []
        for dim, each in enumerate(shape):
            is_shared = (position, dim) in shared_dims
            factors = [0] if is_shared else []
            if not is_shared or each != shared:
                factors.append(len(sizes))
                sizes.append(each // shared if is_shared else each)
            dims.append(DimMapping(tuple(factors)))
        mappings.append(TensorMapping(tuple(dims)))
    count = len(absence.site.op.operands)
    return OpShardingRule(tuple(sizes), tuple(mappings[:count]), tuple(mappings[count:]), is_custom=True)
