"""The communication of a report: its section, the groupings of collectives, and what they may run beside."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from pathlib import PurePath

from sdyopt.analysis.figures.figures import (
    Collective,
    Product,
    Report,
    TimeEstimate,
)
from sdyopt.analysis.figures.source_locations import Phase, SourceLocation
from sdyopt.analysis.figures.totals import (
    Total,
    activation_total,
    phase_totals,
    runs_beside,
    seconds_of_runs,
    wire_bytes_of_runs,
    wire_total,
    wire_totals,
)
from sdyopt.analysis.figures.units import (
    HOISTED,
    bytes_text,
    seconds_text,
    share_text,
    times_text,
    total_text,
)
from sdyopt.analysis.interface.pages.section import Row, Section
from sdyopt.base.compilers import COMPILERS
from sdyopt.base.dataclasses import NamedTuple
from sdyopt.base.diagnostics.text import counted
from sdyopt.shardy.notation.partition_spec import specs_of

_PHASES = {
    Phase.FORWARD: "",
    Phase.BACKWARD: "in a gradient, ",
    Phase.REMATERIALIZED: "recomputed, ",
    Phase.UPDATE: "in the update, ",
    Phase.UNKNOWN: "",
}
# The parts of a training step, as people call them.
PHASES = {
    Phase.FORWARD: "forward",
    Phase.BACKWARD: "backward",
    Phase.REMATERIALIZED: "recomputed",
    Phase.UPDATE: "update",
    Phase.UNKNOWN: "unknown",
}
# How figures are computed.
METHODS = (
    "wire bytes by the ring model, times the number of runs",
    "an estimate: arguments, results and what is computed between, with fusion and reuse of buffers",
)
# Compilers are distinguished if one sends, or needs, more than this part more or less.
LEAST_DIFFERENCE = 10
# The title of a table that a short report leaves out.
COLLECTIVES = "collectives"

_NO_PYTHON_LINES = "for lines of the model, print it from JAX with as_text(debug_info=True)"


def communication_section(report: Report, has_details: bool) -> Section:
    total, count = wire_total(report), len(report.collectives)
    wire = f"communication: {total_text(total)} on the wire per device"
    section = Section(f"{wire}, {counted(count, 'collective')}")
    if count:
        section.sentences.append(METHODS[0])
        if differing := _compilers_text(report, total):
            section.sentences.append(differing)
        if report.unknown_loops and any(
            collective.per_iteration is not None for collective in report.collectives
        ):
            section.sentences.append(_unknown_loops_text(report))
        if not any(collective.location.file.endswith(".py") for collective in report.collectives):
            section.sentences.append(_NO_PYTHON_LINES)
    activations = activation_total(report)
    if activations.count:
        section.sentences.append(
            f"activation reshards: {total_text(activations)} in {activations.count} of them; XLA may do them "
            "otherwise, and at more expense"
        )
    if parts := phase_totals(report):
        named = (f"{PHASES[phase]} {total_text(part)}{_of(part, total)}" for phase, part in parts.items())
        section.sentences.append(f"by part of the step: {', '.join(named)}")
    section.add_table(
        "by kind and axes", ("bytes", "share", "count", "kind and axes"), 3, _by_kind(report, total)
    )
    grouping = grouping_of(report.group_by, report.collectives)
    section.add_table(
        f"by {grouping.name}",
        ("bytes", "share", "count", grouping.column, "kind", "why"),
        3,
        _by_group(report, total, grouping),
        True,
    )
    if has_details:
        section.add_table(
            COLLECTIVES,
            ("#", "bytes", "times", "where", "kind", "why"),
            3,
            [_collective_row(collective) for collective in sorted(report.collectives, key=_order)],
            True,
        )
    section.add_table(
        "not decided yet",
        ("times", "value", "where", "type", "what"),
        1,
        [
            (
                times_text(undecided.times),
                undecided.value,
                undecided.location.file_text,
                undecided.type,
                undecided.kind,
            )
            for undecided in report.undecided
        ],
    )
    return section


def _compilers_text(report: Report, total: Total) -> str:
    """What TPU and GPU send, if one of them sends something else than what both have in common."""
    totals = {
        name: wire_total(Report(collectives=collectives))
        for name, collectives in report.by_compiler().items()
    }
    if all(abs(item.high - total.high) * LEAST_DIFFERENCE <= total.high for item in totals.values()):
        return ""
    return by_compiler_text({name: total_text(total) for name, total in totals.items()})


def _unknown_loops_text(report: Report) -> str:
    lines = list(dict.fromkeys(unknown_loop.line for unknown_loop in report.unknown_loops))
    where = ", ".join(list(dict.fromkeys(unknown_loop.file_text for unknown_loop in report.unknown_loops)))
    return (
        f"× n: in each iteration of a loop of unknown trip count ({where}); give it with "
        f"--assume-trips={lines[0]}=N"
    )


def _by_kind(report: Report, total: Total) -> Iterator[Row]:
    for name, part in wire_totals(
        report.collectives, lambda collective: f"{collective.kind} {collective.group}"
    ).items():
        yield total_text(part), _share(part, total), str(part.count), name


def _by_group(report: Report, total: Total, grouping: Grouping) -> Iterator[Row]:
    """A row for the collectives of each group, kind, axes and phase, with the reason for the largest.

    The rows with the most bytes come first; of equal ones, those of the group with the most.
    """

    def key(collective: Collective) -> str:
        return "\n".join(
            (grouping.group_of(collective), collective.kind, collective.group, collective.location.phase)
        )

    together: dict[str, list[Collective]] = {}
    for collective in report.collectives:
        together.setdefault(key(collective), []).append(collective)
    ranks = {group: rank for rank, group in enumerate(wire_totals(report.collectives, grouping.group_of))}
    parts = wire_totals(report.collectives, key).items()
    rank_of = {name: ranks[grouping.group_of(together[name][0])] for name, _ in parts}
    for name, part in sorted(parts, key=lambda item: (-item[1].high, rank_of[item[0]])):
        largest = min(together[name], key=_order)
        group, kind = grouping.text_of(largest) or "elsewhere", f"{largest.kind} {largest.group}"
        # The number is what --explain takes.
        why = f"#{largest.number}: {reason_text(largest)}"
        yield total_text(part), _share(part, total), str(part.count), group, kind, why


def reason_text(collective: Collective) -> str:
    """The cause of a collective, and the change of the sharding by its chain, as JAX writes shardings."""
    parts = (
        collective.cause,
        specs_of(collective.change),
        HOISTED if collective.is_hoisted else "",
        collective.compiled,
    )
    return _PHASES[collective.location.phase] + "; ".join(filter(None, parts))


def _collective_row(collective: Collective) -> Row:
    size, times = bytes_of_runs_text(collective), times_text(collective.times, collective.per_iteration)
    return (
        str(collective.number),
        size,
        times,
        collective.location.file_text,
        f"{collective.kind} {collective.axes}",
        reason_text(collective),
    )


def bytes_of_runs_text(collective: Collective) -> str:
    """The wire bytes of all runs, or those of one iteration, as `12.0 KiB × n`."""
    if (
        collective.times is None
        and collective.per_iteration is not None
        and collective.wire_bytes is not None
    ):
        return f"{bytes_text(collective.wire_bytes * collective.per_iteration.high)} × n"
    return bytes_text(wire_bytes_of_runs(collective))


def _order(collective: Collective) -> tuple[int, Fraction, int]:
    """Sorts unknown sizes first, then larger ones before smaller ones, then by number."""
    size = wire_bytes_of_runs(collective)
    return (0, Fraction(0), collective.number) if size is None else (1, -size, collective.number)


def _of(part: Total, total: Total) -> str:
    return f" ({_share(part, total)})" if total.high else ""


def _share(part: Total, total: Total) -> str:
    return share_text(part.high / total.high) if total.high else ""


def by_compiler_text(texts: Mapping[str, str]) -> str:
    parts = " and ".join(f"{text} on {COMPILERS[name]}" for name, text in texts.items())
    return f"{parts}; figures are of what both compilers do: --topology=tpu-v5e or h100 chooses one"


# --- Groupings ----------------------------------------------------------------------------------------

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
