"""Checks that a dimension loses an axis that is removed from all annotations that `sources` names."""

from __future__ import annotations

from sdyopt.analysis.sharding_record.arrivals import dimension_of
from sdyopt.analysis.sharding_record.sources import AnnotationSource, sources
from sdyopt.mlir.dialects.sdy.axes import AxisRef
from sdyopt.mlir.dialects.sdy.ops import ManualComputationOp, ShardingConstraintOp
from sdyopt.mlir.dialects.sdy.sharding import DimensionSharding, TensorSharding
from sdyopt.mlir.ir.value import BlockArgument, OpResult
from sdyopt.shardy.record import Subject
from tests.explanations.annotations import change_annotation
from tests.explanations.programs import Edit, Recorded, edited


def remains(program: Recorded, subject: Subject, axis: AxisRef, only_first: bool = False) -> bool | None:
    """Whether a dimension keeps an axis without its sources, or the first one; None if no edit removes it."""
    found = sources(program.record, program.run, subject, axis)
    edits: list[Edit] = []
    for source in found[:1] if only_first else found:
        # The types in a manual computation depend on its manual axes, so that no edit removes them.
        op = source.annotation.op
        if isinstance(op, ManualComputationOp) and axis.name in op.manual_axes:
            return None
        if (edit := _removal(program, source, axis)) is None:
            return None
        edits += edit
    after = edited(program.name, program.text, edits)
    number = program.number(subject)
    if not isinstance(after, Recorded) or number is None:
        return None
    dim = dimension_of(program.run.final[subject], axis)
    return dimension_of(after.run.final.get(after.imported.subject(number)), axis) == dim


def _removal(program: Recorded, source: AnnotationSource, axis: AxisRef) -> list[Edit] | None:
    def without(sharding: TensorSharding) -> TensorSharding:
        dims = []
        for dim in sharding.dims:
            kept = next((i for i, each in enumerate(dim.axes) if each.overlaps(axis)), len(dim.axes))
            is_changed = kept < len(dim.axes)
            dims.append(DimensionSharding(dim.axes[:kept], dim.is_closed and not is_changed, dim.priority))
        return sharding.with_dims(tuple(dims))

    # Import has copied the sharding of a constraint to its input.
    op = source.annotation.op
    values = [op.operand_at(0), op.results[0]] if isinstance(op, ShardingConstraintOp) else []
    subjects = [source.subject, *(each for each in values if isinstance(each, OpResult | BlockArgument))]
    edits = [change_annotation(program, each, without) for each in dict.fromkeys(subjects)]
    return [edit for each in edits for edit in each] or None
