"""Changes that lower the peak: what is replicated and large there is sharded. They need not save time.

These are no kind of the proposals in turns: a search asks for them if memory is what it is about.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, islice

from sdyopt.analysis.changes.axes import axes_of_sharding, with_axis
from sdyopt.analysis.changes.edits import AnnotationEdit, Change, annotation_of
from sdyopt.analysis.changes.proposals import ProposedOn
from sdyopt.analysis.changes.proposals.boundary import state
from sdyopt.mlir.asm.printer.ssa_names import SsaNames
from sdyopt.mlir.ir.types import RankedTensor
from sdyopt.mlir.value_names import pattern_of

# So many of the values that are live at the peak are looked at, each with this many dimensions.
_VALUES, _DIMS = 3, 2


def at_peak(program: ProposedOn) -> Iterator[Change]:
    """What belongs to a parameter as the parameter; then an axis more for what most memory is wasted on."""
    return chain(state(program), _with_spare_axis(program))


def _with_spare_axis(program: ProposedOn) -> Iterator[Change]:
    """An axis more for the values that are live at the peak and that several devices have all of."""
    wasted: dict[object, int] = {}
    values: dict[object, Sequence[str]] = {}
    for live in program.outcome.report.memory.live_at_peak:
        if live.spare_axis and live.spare_bytes is not None:
            # The weights of all layers are changed together, and the values of a line.
            key: object = pattern_of(live.name) if live.name else (live.location, live.type)
            wasted[key] = wasted.get(key, 0) + live.bytes - live.spare_bytes
            values.setdefault(key, (live.value, live.spare_axis))
    if not wasted:
        return
    of_name = {name: value for value, name in SsaNames(program.outcome.module).names.items()}
    for key in sorted(wasted, key=lambda key: -wasted[key])[:_VALUES]:
        name, axis = values[key]
        written = program.originals.place(of_name[name]) if name in of_name else None
        if written is None or not isinstance(written.type, RankedTensor):
            continue
        shape = tuple(written.type.shape)
        current = axes_of_sharding(annotation_of(written), len(shape))
        if current is None or any(axis in names for names in current):
            continue
        # The largest dimensions first, those that are not sharded yet before the others.
        dims = sorted(range(len(shape)), key=lambda dim: (bool(current[dim]), -shape[dim]))
        fitting = (with_axis(current, dim, axis) for dim in dims)
        for axes in islice((axes for axes in fitting if program.mesh.fits(axes, shape)), _DIMS):
            yield program.alike(AnnotationEdit(written, program.mesh.sharding(axes), program.mesh.mesh))
