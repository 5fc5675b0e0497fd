"""The groupings of collectives in a report, and what the longest ones may run beside."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from pathlib import PurePath

from sdyopt.analysis.figures.figures import Collective, Product, Report, TimeEstimate
from sdyopt.analysis.figures.source_locations import SourceLocation
from sdyopt.analysis.figures.totals import runs_beside, seconds_of_runs, wire_bytes_of_runs
from sdyopt.analysis.figures.units import seconds_text
from sdyopt.base.compilers import COMPILERS
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


# The collectives that are looked at, and the least share of all communication of one.
_MOST = 3
_LEAST = Fraction(1, 20)


def overlap_texts(report: Report, estimate: TimeEstimate) -> Iterator[str]:
    """A sentence for each of the longest collectives: behind which products it may hide."""
    timed = [
        (seconds, collective)
        for collective, time in zip(report.collectives, estimate.collectives, strict=True)
        if (seconds := seconds_of_runs(time.seconds, collective.times))
    ]
    products = [
        seconds_of_runs(time.seconds, product.times) or Fraction(0)
        for product, time in zip(report.products, estimate.products, strict=True)
    ]
    total = sum((seconds for seconds, _ in timed), Fraction(0))
    for seconds, collective in sorted(timed, key=lambda entry: (-entry[0], entry[1].number))[:_MOST]:
        if seconds < total * _LEAST:
            return
        where = f" at {collective.location.file_text}" if collective.location.file_text else ""
        name = f"{collective.kind} {collective.axes}{where}, {seconds_text(seconds)}"
        if not runs_beside(report, collective):
            yield f"{name}: nothing hides it, the compiler for {COMPILERS[report.compiler]} runs it alone"
            continue
        beside = sorted(report.independent(collective.number), key=lambda number: -products[number])
        if not beside:
            yield f"{name}: nothing hides it, all products need it or come before it"
            continue
        longest = report.products[beside[0]]
        place = f" at {longest.location.file_text}" if longest.location.file_text else ""
        behind = sum((products[number] for number in beside), Fraction(0))
        count = f"{len(beside)} products, such as {longest.kind}" if len(beside) > 1 else longest.kind
        yield f"{name}: may hide behind {seconds_text(behind)} of {count}{place}"
