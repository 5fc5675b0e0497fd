"""The page of the calibration: tables that compare the collectives and the peak memory with XLA's."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from textwrap import fill

from benchmarks.calibration.program import Comparison, wire_bytes
from sdyopt.analysis.figures.units import bytes_text
from sdyopt.analysis.hlo_comparison.matching import AXIS_BY_AXIS, HIT, MEANINGS, REASONS

_TITLE = "# Calibration of reports against XLA\n"
_INTRODUCTION = """
Collectives and peak memory in reports, compared with what XLA compiles. `python -m
benchmarks.calibration` writes this page; see [benchmarks](../benchmarks/README.md). The programs are
sharded JAX programs: training steps, inference, manual computations, and small cases of single
operations.
"""
_METHOD = """
The report is that after `sdy-propagation-pipeline{enable-insert-explicit-collectives=true}` and `inline`.
XLA is that of jaxlib 0.10.2, which runs Shardy's propagation and its own SPMD partitioner, and optimizes
for the CPU. A loop body counts once on both sides. XLA combines small collectives into one with several
operands; each operand counts as a collective here. The parts of a decomposed all-to-all count as one.
"""
_ON_WEIGHTS = """
`mlp_fsdp_unconstrained` shards the batch and the weights along "fsdp", and no constraint decides which of
them keeps it. `sdy-insert-explicit-reshards` decides for each product which dimension keeps an axis, by
the larger tensors: the weights stay sharded, and the activations, which are smaller, are resharded.
XLA's partitioner keeps the sharding of the result: it gathers the weights along "fsdp", 154 MiB on
the wire, and reduces whole gradients before it slices them, 168 MiB.
"""
_ON_MEMORY = """
The table compares the peak in the report, with arguments live to the end, with the arguments, results and
temporaries of XLA's buffer assignment, less aliases. XLA fuses operations and reuses buffers; the report
assumes neither, so its peak is higher for most programs. It is lower where a partitioned operation has
temporaries that the program does not name, or where XLA communicates more. The report is not tuned to these
figures.
"""


def page(compared: Sequence[Comparison], rejected: Sequence[tuple[str, str]]) -> str:
    """The page in Markdown."""
    return "\n".join(_lines(compared, rejected)) + "\n"


def _lines(compared: Sequence[Comparison], rejected: Sequence[tuple[str, str]]) -> Iterator[str]:
    yield _TITLE
    yield _wrapped(_INTRODUCTION)
    yield _wrapped(_METHOD)
    yield from _summary(compared)
    yield from _collectives(compared)
    yield from _memory(compared)
    yield "## Programs that are not compared\n"
    for name, reason in rejected:
        yield f"- `{name}`: {reason.replace('`', '')}"


def _summary(compared: Sequence[Comparison]) -> Iterator[str]:
    reasons = sum((each.reasons for each in compared), Counter())
    ours = sum(len(each.report_operands) for each in compared)
    theirs = sum(len(each.xla_operands) for each in compared)
    combined = sum(each.combined for each in compared)
    our_bytes = sum((wire_bytes(each.report_operands) for each in compared), Fraction(0))
    their_bytes = sum((wire_bytes(each.xla_operands) for each in compared), Fraction(0))
    yield "## Collectives\n"
    alike = reasons[HIT] + reasons["other element type"] + reasons[AXIS_BY_AXIS]
    yield _wrapped(
        f"{len(compared)} programs: {ours} collectives in reports, {theirs} in XLA's results, of which "
        f"{combined} are operands of combined ones. {reasons[HIT]} are the same: "
        f"{_percent(reasons[HIT], ours)} of those in reports and {_percent(reasons[HIT], theirs)} of those "
        f"in XLA. With those that differ only in the element type on CPUs, or that XLA reduces axis by "
        f"axis, it is {_percent(alike, ours)} of those in reports. Bytes on the wire per device, summed over "
        f"the programs: {bytes_text(our_bytes)} in reports, {bytes_text(their_bytes)} in XLA."
    )
    yield "| reason | collectives | meaning |"
    yield "|---|---:|---|"
    for reason in REASONS:
        yield f"| {reason} | {reasons[reason]} | {MEANINGS[reason]} |"
    yield ""


def _collectives(compared: Sequence[Comparison]) -> Iterator[str]:
    yield "| program | devices | report | XLA | same | bytes in report | in XLA | differences |"
    yield "|---|---:|---:|---:|---:|---:|---:|---|"
    for each in compared:
        differences = [
            f"{count} {reason}" for reason in REASONS if reason != HIT and (count := each.reasons[reason])
        ]
        yield (
            f"| {each.name} | {each.devices} | {len(each.report_operands)} | {len(each.xla_operands)} | "
            f"{each.reasons[HIT]} | {bytes_text(wire_bytes(each.report_operands))} | "
            f"{bytes_text(wire_bytes(each.xla_operands))} | {', '.join(differences)} |"
        )
    yield ""
    yield _wrapped(_ON_WEIGHTS)


def _memory(compared: Sequence[Comparison]) -> Iterator[str]:
    ratios = sorted(Fraction(each.peak, each.xla_peak) for each in compared if each.xla_peak)
    yield "## Peak memory\n"
    yield _wrapped(_ON_MEMORY)
    if ratios:
        median = ratios[len(ratios) // 2]
        yield f"Median ratio {_ratio(median)}, from {_ratio(ratios[0])} to {_ratio(ratios[-1])}.\n"
    yield "| program | arguments in report | in XLA | peak in report | in XLA | ratio |"
    yield "|---|---:|---:|---:|---:|---:|"
    for each in compared:
        ratio = _ratio(Fraction(each.peak, each.xla_peak)) if each.xla_peak else ""
        yield (
            f"| {each.name} | {bytes_text(each.arguments)} | {bytes_text(each.xla_arguments)} | "
            f"{bytes_text(each.peak)} | {bytes_text(each.xla_peak)} | {ratio} |"
        )
    yield ""


def _ratio(value: Fraction) -> str:
    return f"{float(value):.2f}"


def _wrapped(text: str) -> str:
    return fill(" ".join(text.split()), 110, break_long_words=False, break_on_hyphens=False) + "\n"


def _percent(part: int, whole: int) -> str:
    return f"{100 * part // max(whole, 1)}%"
