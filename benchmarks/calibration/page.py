"""The page of the calibration: tables that compare the collectives and the peak memory with XLA's."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from textwrap import fill

from benchmarks.calibration.program import Comparison, in_types_of, wire_bytes
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
The report is that of `sdy-opt PROGRAM --report`, which assumes `sdy-jax-pipeline`. XLA is that of jaxlib
0.12.0.1, which runs Shardy's propagation and its own SPMD partitioner, and optimizes
for the CPU. A loop body counts once on both sides. XLA combines small collectives into one with several
operands; each operand counts as a collective here. The parts of a decomposed all-to-all count as one.
"""
_ON_WEIGHTS = """
Reports count what `sdy-partition-pipeline` sends. Where that is less than what XLA sends, XLA's partitioner
gathers what sdy-opt exchanges: halos of windows, the largest elements of shards for a top-k, sorted
dimensions. In `mlp_fsdp` and `mlp_fsdp_unconstrained`, the batch and the weights are sharded along the same
axis, and no constraint decides which of them keeps it. sdy-opt decides for each product which dimension keeps
an axis, by the larger tensors: the weights stay sharded, and the activations, which are smaller, are
resharded. XLA's partitioner keeps the sharding of the result: it gathers the weights, and reduces whole
gradients before it slices them.
"""
_ON_MEMORY = """
The table compares the peak in the report with the arguments, results and temporaries of XLA's buffer
assignment, less aliases. The report is lower where XLA communicates more, and where XLA for the CPU does what
it does not do for other devices: it computes 16-bit floats in 32 bits, and by default orders operations for
parallel execution, so that it gathers the weights of all layers before it uses the first one. With
`--xla_cpu_enable_concurrency_optimized_scheduler=false`, XLA needs 330 MiB for `llama_fwd` in place of
455 MiB.
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
        f"the programs: {bytes_text(our_bytes)} in reports, {bytes_text(their_bytes)} in XLA. In "
        f"{sum(map(_is_near, compared))} programs, they differ by at most 10%."
    )
    yield "| reason | collectives | meaning |"
    yield "|---|---:|---|"
    for reason in REASONS:
        yield f"| {reason} | {reasons[reason]} | {MEANINGS[reason]} |"
    yield ""


def _is_near(each: Comparison) -> bool:
    """Whether the bytes on the wire differ by at most 10%, with 16-bit floats in 16 bits."""
    ours = wire_bytes(each.report_operands)
    theirs = wire_bytes(in_types_of(each.report_operands, each.xla_operands))
    return abs(ours - theirs) * 10 <= theirs


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
        near = sum(Fraction(7, 10) <= ratio <= Fraction(3, 2) for ratio in ratios)
        yield f"{near} of {len(ratios)} programs have a ratio from 0.7 to 1.5.\n"
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
