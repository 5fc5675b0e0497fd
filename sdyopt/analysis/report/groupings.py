"""The groupings of collectives in a report: by line, call site, named scope, weight or function."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from pathlib import PurePath

from sdyopt.analysis.figures.figures import Collective, Product
from sdyopt.analysis.figures.source_locations import SourceLocation
from sdyopt.analysis.figures.totals import wire_bytes_of_runs
from sdyopt.base.dataclasses import NamedTuple

AUTO = "auto"
# A grouping is replaced if one group has more than this share of the bytes …
_TOO_MUCH = Fraction(1, 2)
# … and the largest group of the other one has at most this part of it.
_BETTER = Fraction(2, 3)


class Grouping(NamedTuple):
    """A way to group collectives. `column` is the name of the column that shows the group.

    `group_of` is equal for collectives of a group, `text_of` what the report shows of it.
    """

    name: str
    column: str
    group_of: Callable[[Collective | Product], str]
    text_of: Callable[[Collective | Product], str]


def _line(collective: Collective | Product) -> SourceLocation:
    """The innermost line, which may be in a helper."""
    location = collective.location
    return location.at(location.frames[0]) if location.frames else location


def _scope(collective: Collective | Product) -> str:
    return collective.location.scope


def _weight(collective: Collective | Product) -> str:
    """The argument that moves or that a gradient updates, or those over which partial results are summed."""
    if not isinstance(collective, Collective):
        return ""
    return (
        collective.moved
        or collective.updated
        or (f"sums over {', '.join(collective.summed_over)}" if collective.summed_over else "")
    )


def _weight_text(collective: Collective | Product) -> str:
    if not isinstance(collective, Collective) or len(collective.summed_over) < 2:
        return _weight(collective)
    products = f"sums over {collective.summed_over[0]} and {len(collective.summed_over) - 1} more"
    return collective.moved or collective.updated or products


def _function(collective: Collective | Product) -> str:
    location = collective.location
    here = (location.file, location.line, location.column)
    name = next((frame.function for frame in location.frames if frame[1:] == here), "")
    return " in ".join(filter(None, (name, PurePath(location.file).name)))


_CALL_SITE = Grouping(
    "call-site",
    "where",
    lambda collective: collective.location.path_text,
    lambda item: item.location.file_text,
)
ALL_GROUPINGS = {
    grouping.name: grouping
    for grouping in (
        _CALL_SITE,
        Grouping(
            "line",
            "where",
            lambda collective: _line(collective).path_text,
            lambda item: _line(item).file_text,
        ),
        Grouping("scope", "scope", _scope, _scope),
        Grouping("weight", "weight", _weight, _weight_text),
        Grouping("function", "function", _function, _function),
    )
}


def grouping_of(name: str, collectives: Sequence[Collective]) -> Grouping:
    """The grouping of a name. For `auto`, it is by call site unless another one tells much more apart."""
    if name != AUTO:
        return ALL_GROUPINGS[name]
    sent = [(collective, wire_bytes_of_runs(collective) or 0) for collective in collectives]
    largest = {name: _largest(grouping, sent) for name, grouping in ALL_GROUPINGS.items()}
    first, best = largest[_CALL_SITE.name], min(largest, key=lambda item: largest[item])
    is_better = first > _TOO_MUCH and largest[best] <= first * _BETTER
    return ALL_GROUPINGS[best] if is_better else _CALL_SITE


def _largest(grouping: Grouping, sent: Iterable[tuple[Collective, Fraction | int]]) -> Fraction:
    """The share of the bytes that the collectives of the largest group send."""
    sums: dict[str, Fraction | int] = {}
    for collective, size in sent:
        key = grouping.group_of(collective)
        sums[key] = sums.get(key, 0) + size
    return Fraction(max(sums.values(), default=0)) / (sum(sums.values()) or 1)
