"""The page of the calibration: tables that compare the collectives and the peak memory with XLA's."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from textwrap import fill

from benchmarks.calibration.program import Comparison, wire_bytes
from sdyopt.analysis.figures.units import bytes_text
from sdyopt.analysis.hlo_comparison.accelerators import FOLDED, MERGED, SCATTERED, SUMMED
from sdyopt.analysis.hlo_comparison.collectives import CollectiveOperand
from sdyopt.analysis.hlo_comparison.reasons import (
    HIT,
    MEANINGS,
    REASONS,
)

_TITLE = "# Calibration of reports against XLA\n"
_INTRODUCTION = """
Collectives and peak memory in reports, compared with what XLA compiles. `python -m
benchmarks.calibration` writes this page; see [benchmarks](../benchmarks/README.md). The programs are
sharded JAX programs: training steps, inference, manual computations, and small cases of single
operations.
"""
_METHOD = """
The report is that of `sdy-opt PROGRAM --report`, which assumes `sdy-jax-pipeline`, here with
`compiler=cpu`. XLA is that of jaxlib
0.12.0.1, which runs Shardy's propagation and its own SPMD partitioner. A loop body counts once on both sides.
Each operand of a combined collective counts as a collective. The parts of a decomposed all-to-all count as
one.
"""
_ON_CPU = """
XLA compiles for the CPU, because no other device is needed for it. Users run programs on TPU and GPU. What
only the CPU does is switched off by flags of XLA (`benchmarks/calibration/common_passes.py`): all-reduces of
16-bit floats in 32 bits, products by libraries that take in the slices and sums around them, one all-reduce
in place of several, which keeps all operands in memory at once, and an order of operations that keeps many
buffers. Top-k operations are lowered before XLA partitions the program, as for TPU and GPU
(`benchmarks/calibration/compile_with_xla.py`): the compiler for the CPU does so after, and gathers the whole
operand. The HLO is read before operations are fused, and as the compilers for TPU and GPU go on with it
(`sdyopt/analysis/hlo_comparison/accelerators.py`). The columns *CPU* are of what XLA compiles for the CPU,
with none of this.
"""
_CHANGES = {
    SCATTERED: "the only use of an all-reduce is a slice. It is read as a reduce-scatter if the slices that "
    "the devices of each group take are distinct and cover it, computed from the HLO for each device. "
    "GPU has the pass `reduce-scatter-creator`, TPU the fusion `all-reduce-scatter`",
    FOLDED: "an all-reduce of an all-reduce along another axis is one along both, as by `all-reduce-folder`",
    SUMMED: "the sum of two all-reduces or reduce-scatters is one of the sum, as by "
    "`all-reduce-reassociate` and `reduce-scatter-reassociate`",
    MERGED: "equal collectives of the same value are one. They differ only in the number of their channel, "
    "which the CPU does not ignore",
}
_ON_DIFFERENCES = """
Where conflicts are resolved, how values are resharded and which dimensions are gathered, the report follows
XLA's partitioner, which may send more than `sdy-partition-pipeline`. For cumulative operations it is that for
GPU; that for TPU splits long ones first, and gathers less. Of what remains, XLA sends
more mostly where it gathers what sdy-opt exchanges: halos of convolutions and of windows with strides.
"""
_ON_MEMORY = """
The table compares the peak in the report with all buffers that XLA assigns but constants, and in the column
*CPU* with the arguments, results and temporaries, less aliases, of what it compiles for the CPU. The report
is lower where XLA communicates more, and where XLA copies what it has gathered into another layout, as in
`muon_newton_schulz`.
"""


def page(
    compared: Sequence[Comparison], models: Sequence[Comparison], rejected: Sequence[tuple[str, str]]
) -> str:
    """The page in Markdown. `models` are the programs that nothing was tuned to."""
    return "\n".join(_lines(compared, models, rejected)) + "\n"


def _lines(
    compared: Sequence[Comparison], models: Sequence[Comparison], rejected: Sequence[tuple[str, str]]
) -> Iterator[str]:
    yield _TITLE
    yield _wrapped(_INTRODUCTION)
    yield _wrapped(_METHOD)
    yield _wrapped(_ON_CPU)
    yield "| read as | collectives changed | why |"
    yield "|---|---:|---|"
    changes = sum((each.changes for each in (*compared, *models)), Counter())
    for change, reason in _CHANGES.items():
        yield f"| {change} | {changes[change]} | {reason} |"
    yield ""
    yield from _summary(compared)
    yield from _collectives(compared)
    yield _wrapped(_ON_DIFFERENCES)
    yield from _memory(compared)
    yield from _models(models)
    yield "## Programs that are not compared\n"
    for name, reason in rejected:
        yield f"- `{name}`: {reason.replace('`', '')}"


def _summary(compared: Sequence[Comparison]) -> Iterator[str]:
    reasons = sum((each.reasons for each in compared), Counter())
    ours = sum(len(each.report_operands) for each in compared)
    theirs = sum(len(each.xla_operands) for each in compared)
    our_bytes = sum((wire_bytes(each.report_operands) for each in compared), Fraction(0))
    their_bytes = sum((wire_bytes(each.xla_operands) for each in compared), Fraction(0))
    cpu_bytes = sum((wire_bytes(each.cpu_operands) for each in compared), Fraction(0))
    yield "## Collectives\n"
    equal = sum(each.equal for each in compared)
    yield _wrapped(
        f"{len(compared)} programs: {ours} collectives in reports, {theirs} in XLA's results. {equal} have "
        f"an equal one (kind, devices, bytes): {_percent(equal, ours)} of those in reports and "
        f"{_percent(equal, theirs)} of those in XLA. Bytes on the wire per device, summed over the "
        f"programs: {bytes_text(our_bytes)} in reports, {bytes_text(their_bytes)} in XLA, "
        f"{bytes_text(cpu_bytes)} on the CPU. In {sum(map(_is_near, compared))} programs, they differ by at "
        f"most 10%; from those on the CPU, in {sum(map(_is_near_cpu, compared))}."
    )
    yield "| reason | collectives | meaning |"
    yield "|---|---:|---|"
    for reason in REASONS:
        yield f"| {reason} | {reasons[reason]} | {MEANINGS[reason]} |"
    yield ""


def _is_near(each: Comparison) -> bool:
    """Whether the bytes on the wire differ by at most 10%."""
    return _differ_little(each.report_operands, each.xla_operands)


def _is_near_cpu(each: Comparison) -> bool:
    return _differ_little(each.report_operands, each.cpu_operands)


def _differ_little(report: list[CollectiveOperand], xla: list[CollectiveOperand]) -> bool:
    ours, theirs = wire_bytes(report), wire_bytes(xla)
    return abs(ours - theirs) * 10 <= theirs


def _has_near_peak(each: Comparison) -> bool:
    return not each.xla_peak or Fraction(7, 10) <= Fraction(each.peak, each.xla_peak) <= Fraction(3, 2)


def _models(models: Sequence[Comparison]) -> Iterator[str]:
    yield "## Models that nothing was tuned to\n"
    near, in_band = sum(map(_is_near, models)), sum(map(_has_near_peak, models))
    yield _wrapped(
        f"These {len(models)} models were written after the pipeline and the estimate of memory, by "
        "`benchmarks/calibration/jax_programs.py`. Since then, the pipeline was changed where programs of "
        "the first table showed a class of differences that two models have: an argmax along a sharded "
        "dimension (`token_sampler`), and a lookup of sharded rows (`llama7b_fully_sharded`). Bytes on the "
        f"wire differ by at most 10% in {near}; the ratio of the peaks is from 0.7 to 1.5 in {in_band}."
    )
    yield from _collectives(models)
    yield from _peaks(models)


def _collectives(compared: Sequence[Comparison]) -> Iterator[str]:
    yield "| program | devices | report | XLA | same | bytes in report | in XLA | CPU | differences |"
    yield "|---|---:|---:|---:|---:|---:|---:|---:|---|"
    for each in compared:
        differences = [
            f"{count} {reason}" for reason in REASONS if reason != HIT and (count := each.reasons[reason])
        ]
        yield (
            f"| {each.name} | {each.devices} | {len(each.report_operands)} | {len(each.xla_operands)} | "
            f"{each.reasons[HIT]} | {bytes_text(wire_bytes(each.report_operands))} | "
            f"{bytes_text(wire_bytes(each.xla_operands))} | {bytes_text(wire_bytes(each.cpu_operands))} | "
            f"{', '.join(differences)} |"
        )
    yield ""


def _memory(compared: Sequence[Comparison]) -> Iterator[str]:
    ratios = sorted(Fraction(each.peak, each.xla_peak) for each in compared if each.xla_peak)
    yield "## Peak memory\n"
    yield _wrapped(_ON_MEMORY)
    if ratios:
        near = sum(map(_has_near_peak, compared))
        yield f"{near} of {len(compared)} programs have a ratio from 0.7 to 1.5.\n"
        median = ratios[len(ratios) // 2]
        yield f"Median ratio {_ratio(median)}, from {_ratio(ratios[0])} to {_ratio(ratios[-1])}.\n"
    yield from _peaks(compared)


def _peaks(compared: Sequence[Comparison]) -> Iterator[str]:
    yield "| program | arguments in report | in XLA | peak in report | in XLA | CPU | ratio |"
    yield "|---|---:|---:|---:|---:|---:|---:|"
    for each in compared:
        ratio = _ratio(Fraction(each.peak, each.xla_peak)) if each.xla_peak else ""
        yield (
            f"| {each.name} | {bytes_text(each.arguments)} | {bytes_text(each.xla_arguments)} | "
            f"{bytes_text(each.peak)} | {bytes_text(each.xla_peak)} | {bytes_text(each.cpu_peak)} | {ratio} |"
        )
    yield ""


def _ratio(value: Fraction) -> str:
    return f"{float(value):.2f}"


def _wrapped(text: str) -> str:
    return fill(" ".join(text.split()), 110, break_long_words=False, break_on_hyphens=False) + "\n"


def _percent(part: int, whole: int) -> str:
    return f"{100 * part // max(whole, 1)}%"
