"""The page with a table of the communication of programs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from textwrap import fill

from benchmarks.communication.program import KINDS, Communication, ReceivedBytes
from sdyopt.analysis.figures.units import bytes_text

_TITLE = "# Communication of partitioned programs\n"
_INTRODUCTION = """
The bytes that a device receives in programs that `sdy-partition-pipeline` partitions, and in those that XLA
partitions. `python -m benchmarks.communication` writes this page; see [benchmarks](../benchmarks/README.md).
`benchmarks/communication/jax_programs.py` writes the programs with calls, loops, uneven sizes and halos.
"""
_METHOD = """
XLA is that of jaxlib 0.12.0.1, with Shardy's propagation and XLA's own partitioner. It compiles both programs
for the CPU: the program as it is for as many partitions as the mesh has devices, and the partitioned program
for as many replicas. The bytes are those of the collectives in the optimized HLO. An all-reduce receives its
operand twice, except for the device's own share. A loop body counts once, which favors XLA: in some loops it
gathers in each iteration what sdy-opt gathers once before the loop.
"""
_HEADER = ("program", "devices", "sdy-opt", "XLA", "ratio", "all-reduce", "all-gather", "others")


def page(compared: Sequence[Communication], rejected: Sequence[tuple[str, str]]) -> str:
    """The page in Markdown."""
    return "\n".join(_lines(compared, rejected)) + "\n"


def _lines(compared: Sequence[Communication], rejected: Sequence[tuple[str, str]]) -> Iterator[str]:
    yield _TITLE
    yield _paragraph(_INTRODUCTION)
    yield _paragraph(_METHOD)
    at_most = sum(each.total <= each.total_of_xla for each in compared)
    ours, xla = sum(each.total for each in compared), sum(each.total_of_xla for each in compared)
    yield _paragraph(
        f"{len(compared)} programs: {at_most} receive at most what they receive if XLA partitions them. "
        f"Summed over the programs, it is {bytes_text(round(ours))} in place of {bytes_text(round(xla))}. "
        f"Each figure of the last three columns is that of sdy-opt, and in parentheses that of XLA."
    )
    yield "| " + " | ".join(_HEADER) + " |"
    yield "|---|" + "---:|" * (len(_HEADER) - 1)
    for each in compared:
        yield "| " + " | ".join(_row(each)) + " |"
    if rejected:
        yield "\n## Programs that are not compared\n"
        yield "| program | reason |\n|---|---|"
        for name, reason in rejected:
            yield f"| {name} | {reason} |"


def _row(each: Communication) -> list[str]:
    ratio = f"{float(each.total / each.total_of_xla):.2f}" if each.total_of_xla else ""
    columns = [
        f"{_sum(each.received, kinds)} ({_sum(each.received_by_xla, kinds)})"
        for kinds in (KINDS[:1], KINDS[1:2], KINDS[2:])
    ]
    totals = [bytes_text(round(total)) for total in (each.total, each.total_of_xla)]
    return [each.name, str(each.devices), *totals, ratio, *columns]


def _sum(received: ReceivedBytes, kinds: Sequence[str]) -> str:
    return bytes_text(round(sum([received[kind] for kind in kinds], Fraction(0))))


def _paragraph(text: str) -> str:
    return fill(" ".join(text.split()), 110) + "\n"
