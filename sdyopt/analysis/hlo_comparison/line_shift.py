"""Lines of a file that moved between the program and the HLO, as where a comment was added above them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from sdyopt.analysis.figures.source_locations import SourceLocation
from sdyopt.analysis.hlo_comparison.collectives import CollectiveOperand, HloSource
from sdyopt.analysis.hlo_comparison.places import used_at
from sdyopt.base.dataclasses import replace

# A shift that so many lines have, and at least this share of those that could have it.
_LEAST, _SHARE = 2, 0.6
# The lines of one operation, such as dot_general, that are compared with one another.
_MAX_LINES = 64


def shifts_of(ours: Iterable[CollectiveOperand], xla: Iterable[CollectiveOperand]) -> dict[str, int]:
    """How much greater the lines of XLA's collectives are than those of the report's, by file."""
    here, there = _lines(ours), _lines(xla)
    by_file = {}
    for file in sorted(here.keys() & there.keys()):
        counts: Counter[int] = Counter()
        for name in here[file].keys() & there[file].keys():
            mine, other = here[file][name], there[file][name]
            if max(len(mine), len(other)) <= _MAX_LINES:
                counts.update([after - before for before in mine for after in other])
        if not counts:
            continue
        # Of equally many, the least.
        shift = min(counts, key=lambda lines: (-counts[lines], abs(lines), lines))
        possible = min(sum(map(len, here[file].values())), sum(map(len, there[file].values())))
        if shift and counts[shift] >= max(_LEAST, _SHARE * possible) and counts[shift] > 2 * counts[0]:
            by_file[file] = shift
    return by_file


def moved(collective: CollectiveOperand, shifts: dict[str, int]) -> CollectiveOperand:
    """A collective of XLA at the lines of the program."""
    return replace(
        collective, location=_at(collective.location, shifts), hlo=_source(collective.source, shifts)
    )


def _source(source: HloSource, shifts: dict[str, int]) -> HloSource:
    used = tuple(_at(place, shifts) for place in source.used_at)
    return replace(source, produced_at=_at(source.produced_at, shifts), used_at=used)


def _at(location: SourceLocation, shifts: dict[str, int]) -> SourceLocation:
    frames = tuple(
        frame._replace(line=frame.line - shifts.get(frame.file, 0)) if frame.line else frame
        for frame in location.frames
    )
    line = max(location.line - shifts.get(location.file, 0), 0) if location.line else 0
    return location._replace(line=line, frames=frames)


def _lines(operands: Iterable[CollectiveOperand]) -> dict[str, dict[str, Sequence[int]]]:
    """The lines of collectives by file, and by the last part of the name stack."""
    by_file: dict[str, dict[str, dict[int, None]]] = {}
    for collective in operands:
        places = [collective.location, *used_at(collective)]
        for place in places:
            if place.line:
                name = place.name_stack.rpartition("/")[2]
                by_file.setdefault(place.file, {}).setdefault(name, {})[place.line] = None
    return {file: {name: list(lines) for name, lines in names.items()} for file, names in by_file.items()}
