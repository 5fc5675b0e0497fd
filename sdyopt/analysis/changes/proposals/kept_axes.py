"""Proposals for an axis that a dimension has almost everywhere: it is kept where constraints lose it.

A dimension such as the batch is that of many values. A reshard that loses its axis has others after it that
follow, and the edges of products: changed one by one, each sends more, because the others stay.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from sdyopt.analysis.changes.axes import with_axis
from sdyopt.analysis.changes.dimensions import DimensionGroup, Dimensions
from sdyopt.analysis.changes.edits import AnnotationEdit, Change
from sdyopt.analysis.changes.proposals import ProposedOn, proposal
from sdyopt.analysis.changes.roles import Place, statement_of
from sdyopt.analysis.figures.user_lines import UserLines
from sdyopt.mlir.dialects.sdy.ops import ShardingConstraintOp
from sdyopt.mlir.ir.value import OpResult

# So many dimensions and axes are looked at, those of the largest values.
_MAX_GROUPS = 6


@proposal("kept axes", share=2)
def kept_axes(program: ProposedOn) -> Iterator[Change]:
    """One axis at a dimension of all constraints that lack it, if other annotations have it there."""
    if not any(isinstance(op, ShardingConstraintOp) for op in program.module.walk()):
        return
    lines = UserLines.of_module(program.module)
    dimensions = Dimensions(program.module, program.roles)
    have: set[tuple[DimensionGroup, str]] = set()
    lack: dict[tuple[DimensionGroup, str], list[tuple[Place, int]]] = {}
    for role in program.roles:
        groups = dimensions.of(role)
        for place in (place for place in role.places if place.sharding is not None):
            axes = place.axes
            if axes is None:
                continue
            for dim, group in enumerate(groups):
                have.update((group, name) for name in axes[dim])
                if not _is_constraint(place) or group in groups[:dim]:
                    continue
                for name in program.mesh.sizes:
                    if not any(name in names for names in axes):
                        lack.setdefault((group, name), []).append((place, dim))
    lost = [key for key in lack if key in have]
    lost.sort(key=lambda key: -sum(prod(place.shape) for place, _ in lack[key]))
    for key in lost[:_MAX_GROUPS]:
        edits, statements = [], set[object]()
        for place, dim in lack[key]:
            axes = with_axis(place.axes or (), dim, key[1])
            if program.mesh.fits(axes, place.shape):
                edits.append(AnnotationEdit(place.subject, program.mesh.sharding(axes), program.mesh.mesh))
                op = edits[-1].replaced
                statements.add(place.subject if op is None else statement_of(op, lines) or op)
        # The constraints of one statement are other proposals.
        if len(statements) > 1:
            yield program.change(edits, f'keep "{key[1]}"')


def _is_constraint(place: Place) -> bool:
    return isinstance(place.subject, OpResult) and isinstance(place.subject.op, ShardingConstraintOp)
