"""Compares the figures of a report with those recomputed from the printed text of its program."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction

from sdyopt.analysis.figures.figures import Report, RunTimes
from sdyopt.analysis.figures.memory_figures import MAX_LIVE_VALUES
from sdyopt.analysis.figures.program_report import report_on
from sdyopt.analysis.figures.totals import flop_totals, wire_totals
from sdyopt.mlir.asm.printer.asm_printer import PrintOptions, print_op
from sdyopt.mlir.ir.operation import Op
from tests.recomputation import compute, memory, replica_groups
from tests.recomputation.communication import RecomputedCollective, recompute
from tests.recomputation.dead_results import without_dead_results
from tests.recomputation.executions import Executions, collectives
from tests.recomputation.partitioned import without_stale_shardings
from tests.recomputation.text_program import Program

Figures = Sequence[object]


def disagreements(root: Op, text: str = "") -> Iterator[str]:
    """A sentence for each figure of the report on a module that differs from the recomputed one.

    `text` is the printed module; by default it is printed here.
    """
    report, text = report_on(root), text or print_op(root, PrintOptions())
    program = without_stale_shardings(Program(text), "sdyopt.partitioned" in text.partition("\n")[0])
    yield from _differences("collective", *_collectives(report, text, program))
    yield from _differences("executions", *_executions(report, program))
    yield from _differences("product", *_products(report, program))
    yield from _differences("total", *_totals(report, text, program))
    program = without_dead_results(program)
    yield from _differences("memory", *_memory(report, program))
    yield from _differences("live at the peak", *_live(report, program))


def _differences(what: str, found: Figures, expected: Figures) -> Iterator[str]:
    if len(found) != len(expected):
        yield f"{what}: {len(found)} in the report, {len(expected)} recomputed"
    for one, other in zip(found, expected, strict=False):
        if one != other:
            yield f"{what}: {one} in the report, {other} recomputed"


def _collectives(report: Report, text: str, program: Program) -> tuple[Figures, Figures]:
    """Bytes, axes and group of each collective: the sdy ones first, then those of StableHLO."""
    ordered = sorted(report.collectives, key=lambda each: (each.dialect != "sdy", each.number))
    found = [
        RecomputedCollective(
            each.kind,
            each.bytes_in or 0,
            each.bytes_out or 0,
            each.wire_bytes or Fraction(0),
            each.value,
            tuple(sorted(set(each.axis_names))) if each.axes.startswith("{") else None,
            each.group_size,
        )
        for each in ordered
    ]
    return found, [*recompute(text), *replica_groups.recompute(program)]


def _executions(report: Report, program: Program) -> tuple[Figures, Figures]:
    runs = Executions(program)
    found = [(each.value, _low_and_high(each.times)) for each in report.collectives]
    found += [(each.value, _low_and_high(each.times)) for each in report.products]
    ops = [*collectives(program), *compute.products(program)]
    return found, [(op.results[0].name, runs.of(op)) for op in ops]


def _products(report: Report, program: Program) -> tuple[Figures, Figures]:
    found = [
        compute.RecomputedProduct(each.kind, each.flops, each.global_flops, each.value)
        for each in report.products
    ]
    return found, list(compute.recompute(program))


def _memory(report: Report, program: Program) -> tuple[Figures, Figures]:
    found = report.memory
    peaks = memory.RecomputedMemory(found.arguments, found.results, found.constants, found.peak)
    return [peaks], [memory.recompute(program)]


def _live(report: Report, program: Program) -> tuple[Figures, Figures]:
    """Bytes and number of copies of the values that are live at the peak, sorted."""
    found = Counter((each.bytes, each.replicas or report.devices) for each in report.memory.live_at_peak)
    expected = sorted(memory.live_at_peak(program), reverse=True)
    smallest = min((each.bytes for each in report.memory.live_at_peak), default=0)
    if len(expected) <= MAX_LIVE_VALUES:
        return sorted(found.elements()), sorted(expected)
    # The report keeps any of the values with the smallest bytes that it has, so these are not compared.
    return (
        sorted(each for each in found.elements() if each[0] > smallest),
        sorted(each for each in expected[:MAX_LIVE_VALUES] if each[0] > smallest),
    )


def _totals(report: Report, text: str, program: Program) -> tuple[Figures, Figures]:
    """Wire bytes by kind, and local and global FLOPs, summed over all executions."""
    found = {
        kind: (total.low, total.high)
        for kind, total in wire_totals(report.collectives, lambda each: each.kind).items()
    }
    runs = Executions(program)
    ops = sorted(collectives(program), key=lambda op: not op.name.startswith("sdy."))
    expected: dict[str, tuple[Fraction, Fraction]] = {}
    for op, each in zip(ops, (*recompute(text), *replica_groups.recompute(program)), strict=False):
        low, high = runs.of(op) or (0, 0)
        before = expected.get(each.kind, (Fraction(0), Fraction(0)))
        expected[each.kind] = before[0] + low * each.wire_bytes, before[1] + high * each.wire_bytes
    local, whole = flop_totals(report)
    flops = [0, 0]
    for op, product in zip(compute.products(program), compute.recompute(program), strict=True):
        _, high = runs.of(op) or (0, 0)
        flops[0] += high * (product.flops or 0)
        flops[1] += high * (product.global_flops or 0)
    return [*sorted(found.items()), local.high, whole.high], [*sorted(expected.items()), *flops]


def _low_and_high(times: RunTimes | None) -> tuple[int, int] | None:
    return (times.low, times.high) if times is not None else None
