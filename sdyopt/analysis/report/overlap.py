"""What the longest collectives may run beside, in words."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from sdyopt.analysis.figures.figures import Report, TimeEstimate
from sdyopt.analysis.figures.totals import runs_beside, seconds_of_runs
from sdyopt.analysis.figures.units import seconds_text
from sdyopt.base.compilers import COMPILERS

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
