"""Edits that open dimensions and drop competing axes."""

from __future__ import annotations

from functools import partial

from sdyopt.analysis.sharding_record.arrivals import arrivals
from sdyopt.mlir.dialects.sdy.axes import AxisRef, difference
from sdyopt.mlir.dialects.sdy.sharding import DimensionSharding, TensorSharding
from sdyopt.shardy.record import Subject
from sdyopt.shardy.sharding.axis_lists import Axes, overlap, prefix_without
from sdyopt.shardy.sharding.propagation.step_input import Reason
from sdyopt.shardy.sharding.sharding_projection import FactorSharding, TensorProjection, unproject
from tests.explanations.annotations import change_annotation, with_dim
from tests.explanations.programs import Edit
from tests.explanations.undoing import (
    Target,
    Undoing,
    axes_before,
    dimension_with,
    only_in_dim,
    replicated_along,
)


def opened(undoing: Undoing) -> list[Edit]:
    """Opens the dimension that is closed."""
    dim = undoing.dim_of(undoing.refusal.factor)
    assert dim is not None
    return change_annotation(
        undoing.program, undoing.subject, lambda old: with_dim(old, dim, old.dims[dim].opened())
    )


def not_replicated(undoing: Undoing) -> list[Edit]:
    """Removes the explicitly replicated axes that are in the way."""

    def changed(sharding: TensorSharding) -> TensorSharding:
        kept = _not_in_the_way(sharding.replicated_axes, undoing.refusal.axes)
        return sharding.with_replicated_axes(kept)

    return change_annotation(undoing.program, undoing.subject, changed)


def not_unreduced(undoing: Undoing) -> list[Edit]:
    """Removes the unreduced axes that are in the way."""

    def changed(sharding: TensorSharding) -> TensorSharding:
        kept = _not_in_the_way(sharding.unreduced_axes, undoing.refusal.axes)
        return sharding.with_unreduced_axes(kept)

    return change_annotation(undoing.program, undoing.subject, changed)


def _not_in_the_way(axes: Axes, others: Axes) -> Axes:
    """The axes that a tensor can have together with others, of which sub-axes may not fit to each other."""
    return tuple([axis for axis in axes if all(prefix_without(other, (axis,)) is other for other in others)])


# --- Competitors --------------------------------------------------------------------------------------


def without_competitor(undoing: Undoing) -> list[Edit]:
    """Drops the conflicting axes from the annotations that they come from, or from the tensor."""
    refusal, subject = undoing.refusal, undoing.subject
    if subject is None or refusal.culprit is None:
        return []
    is_there = overlap(undoing.all_axes(undoing.position), refusal.conflicting)
    if undoing.target is Target.TENSOR and is_there:
        is_other_factor = refusal.reason is Reason.OTHER_FACTOR
        return _without_other_factor(undoing) if is_other_factor else _with_equal_axes(undoing)
    if is_there:
        return _without_origin(undoing, subject, refusal.conflicting)
    # The same step gives them to a factor that they cannot shard, because a more major one is not sharded.
    edits: list[Edit] = []
    for position, source in enumerate(undoing.site.subjects):
        if source is not None and overlap(
            undoing.axes_of(refusal.other_factor, position), refusal.conflicting
        ):
            edits += _without_origin(undoing, source, refusal.conflicting)
    return edits


def _without_origin(undoing: Undoing, subject: Subject, axes: Axes) -> list[Edit]:
    """Drops axes of a subject from the annotations that they come from."""
    program = undoing.program
    overlapping = [axis for axis in axes if overlap((axis,), undoing.refusal.axes)]
    edits: list[Edit] = []
    for axis in overlapping or axes[:1]:
        for arrival in arrivals(program.record, program.run, subject, axis):
            *_, last = arrival.chain()
            edits += change_annotation(program, last.subject, partial(_without, last.dim, last.axis))
    return edits


def _without(dim: int, axis: AxisRef, sharding: TensorSharding) -> TensorSharding:
    old = sharding.dims[dim]
    return with_dim(sharding, dim, dimension_with(axes_before(old.axes, (axis,)), old))


def _without_other_factor(undoing: Undoing) -> list[Edit]:
    """Closes the competing dimension of the tensor before the conflicting axes."""
    refusal = undoing.refusal
    sharding = undoing.site.shardings[undoing.position]
    assert refusal.other_factor is not None and sharding is not None
    dim = undoing.dim_of(refusal.other_factor)
    assert dim is not None
    new = DimensionSharding(undoing.local(axes_before(sharding.dims[dim].axes, refusal.axes)))
    return undoing.annotate(lambda old: with_dim(old, dim, new))


def _with_equal_axes(undoing: Undoing) -> list[Edit]:
    """Annotates each tensor with other axes like the neighbor; the value itself up to the absent axis.

    What else shards the value in this factor is kept off it by explicit replication.
    """
    absence, refusal = undoing.absence, undoing.refusal
    axes = undoing.axes_of(refusal.factor, absence.neighbor_position)
    if undoing.position != absence.position:
        return _with_factor(undoing, FactorSharding(axes))
    own = undoing.axes_of(refusal.factor, absence.position)
    before = axes_before(axes, (absence.axis,))
    others = difference(own, axes[: len(before) + 1], undoing.result.mesh)
    return [
        *_with_factor(undoing, FactorSharding(before)),
        *undoing.annotate(lambda old: replicated_along(old, others, undoing.result.mesh)),
    ]


def _with_factor(undoing: Undoing, new: FactorSharding) -> list[Edit]:
    """Annotates the dimension of a tensor that has the factor with other axes of the factor."""
    position, factor = undoing.position, undoing.refusal.factor
    rule, mesh = undoing.site.rule, undoing.result.mesh
    mapping = list(rule.tensors)[position]
    factors = dict(undoing.result.before[position].factors)
    factors[factor] = new
    for each in range(len(rule.factor_sizes)):
        factors.setdefault(each, FactorSharding())
    projection = TensorProjection(factors)
    sharding = unproject(projection, mapping, rule.factor_sizes, undoing.mesh_or_ref, mesh)
    dim = undoing.dim_of(factor)
    if dim is None:
        return []
    axes = undoing.local(sharding.dims[dim].axes)
    return undoing.annotate(
        lambda old: only_in_dim(with_dim(old, dim, DimensionSharding(axes, new.is_closed)), axes, dim)
    )
