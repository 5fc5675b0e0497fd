"""The section of a report on its time estimate."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from sdyopt.analysis.figures.figures import (
    Collective,
    Product,
    Report,
    TimedCollective,
    TimedProduct,
    TimeEstimate,
    Total,
    seconds_of_runs,
    time_totals,
)
from sdyopt.analysis.figures.units import seconds_text, share_text, times_text
from sdyopt.analysis.report.tables import Row, Section

# A row and the seconds that it stands for.
_Timed = tuple[Fraction, Row]
# Added to the limit of such a product in the table.
COMMUNICATION_BOUND = "communication-bound"


def time_section(report: Report, estimate: TimeEstimate) -> Section:
    """The time of a run, the operations by time, and the communication-bound products."""
    communication, compute = time_totals(report, estimate)
    total = communication.high + compute.high
    section = Section(f"estimated time: {seconds_text(total)}{_unknown(communication, compute)}")
    section.sentences.append(
        f"communication {seconds_text(communication.high)}, products {seconds_text(compute.high)}; "
        f"{seconds_text(max(communication.high, compute.high))} if they overlap entirely"
    )
    section.sentences.append(
        "an estimate from wire bytes, bandwidths and latencies, and from FLOPs and bytes of products"
    )
    rows = [*_collectives(report, estimate), *_products(report, estimate)]
    section.add_table(
        "operations by time",
        ("time", "share", "times", "where", "kind", "limit"),
        3,
        [
            (row[0], share_text(seconds / total) if total else "", *row[1:])
            for seconds, row in sorted(rows, key=lambda timed: -timed[0])
            if seconds
        ],
    )
    bound = [
        (product, timed)
        for product, timed in zip(report.products, estimate.products, strict=True)
        if timed.is_communication_bound
    ]
    section.add_table(
        "communication-bound products",
        ("communication", "compute", "value", "where"),
        2,
        [
            (
                seconds_text(timed.communication),
                seconds_text(seconds_of_runs(timed.seconds, product.times)),
                product.value,
                product.location.file_text,
            )
            for product, timed in sorted(bound, key=lambda pair: -(pair[1].communication or 0))
        ],
    )
    return section


def _unknown(communication: Total, compute: Total) -> str:
    parts = [
        f"{total.unknown} {what}{'' if total.unknown == 1 else 's'}"
        for total, what in ((communication, "collective"), (compute, "product"))
        if total.unknown
    ]
    return f" + {' and '.join(parts)} of unknown time" if parts else ""


def _collectives(report: Report, estimate: TimeEstimate) -> Iterator[_Timed]:
    for each, timed in zip(report.collectives, estimate.collectives, strict=True):
        yield from _row(each, timed, f"{each.kind} {each.axes}", "communication")


def _products(report: Report, estimate: TimeEstimate) -> Iterator[_Timed]:
    for product, timed in zip(report.products, estimate.products, strict=True):
        limit = f"{timed.limit}, {COMMUNICATION_BOUND}" if timed.is_communication_bound else timed.limit
        yield from _row(product, timed, product.kind, limit)


def _row(
    each: Collective | Product, timed: TimedCollective | TimedProduct, kind: str, limit: str
) -> Iterator[_Timed]:
    seconds = seconds_of_runs(timed.seconds, each.times)
    if seconds is not None:
        yield seconds, (seconds_text(seconds), times_text(each.times), each.location.file_text, kind, limit)
