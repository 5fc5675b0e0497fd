"""Proposals for large values that lack an axis of a neighbour: a constraint with the axis."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from sdyopt.analysis.changes.axes import axes_of_sharding
from sdyopt.analysis.changes.edits import AnnotationEdit, Change, is_input, place_of
from sdyopt.analysis.changes.proposals import ProposedOn, proposal
from sdyopt.analysis.figures.local_shapes import bytes_of
from sdyopt.analysis.sharding_record.absences import absences
from sdyopt.mlir.dialects.sdy.mesh_op import find_mesh
from sdyopt.mlir.dialects.sdy.sharding import TensorSharding
from sdyopt.mlir.dialects.sdy.value_shardings import rank_of
from sdyopt.mlir.ir.value import OpResult

# Of so many of the largest values, so many that lack an axis get constraints; of those with one type and
# sharding, so many are looked at.
_LOOKED_AT, _VALUES, _ALIKE = 200, 6, 2


@proposal("missing axes", share=2)
def missing_axes(program: ProposedOn) -> Iterator[Change]:
    """The shardings of large values with the axes that an operation needs at them."""
    run = program.run
    if run is None:
        return
    seen: Counter[object] = Counter()
    count = 0
    sized = [(bytes_of(value.type) or 0, value) for value in run.final if isinstance(value, OpResult)]
    # Of equal sizes, the first in the program: the sort is stable.
    for size, subject in sorted(sized, key=lambda pair: -pair[0])[:_LOOKED_AT]:
        written, own = program.originals.value(subject), run.final[subject]
        key = subject.type, own
        if not size or seen[key] >= _ALIKE or written is None or is_input(written) or count == _VALUES:
            continue
        seen[key] += 1
        changes: dict[object, Change] = {}
        for absence in absences(run, subject):
            neighbour = run.final.get(absence.neighbor)
            if absence.dim < 0 or neighbour is None or absence.axis.sub_axis is not None:
                continue
            rank = rank_of(subject.type)
            current = axes_of_sharding(own, rank)
            like = [axis.name for axis in neighbour.dims[absence.neighbor_dim].axes if axis.sub_axis is None]
            mesh = find_mesh(neighbour.mesh_or_ref, program.module)
            is_there = current is not None and absence.dim < len(current)
            if current is None or mesh is None or not is_there or not all(map(mesh.has_axis, like)):
                continue
            kept = [tuple(name for name in names if name not in like) for names in current]
            kept[absence.dim] = tuple(like)
            if program.mesh.mesh is mesh and program.mesh.fits(tuple(kept), written.type.shape):  # type: ignore[attr-defined]
                sharding = TensorSharding(neighbour.mesh_or_ref, program.mesh.sharding(tuple(kept)).dims)
                change = program.alike(AnnotationEdit(place_of(written), sharding, mesh))
                changes.setdefault(change.key, change)
        if changes:
            seen[key] = _ALIKE
            count += 1
            yield from changes.values()
