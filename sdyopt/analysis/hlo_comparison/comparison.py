"""The comparison of a report with a compiled program: matches, totals, and figures for budgets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from fractions import Fraction

from sdyopt.analysis.figures.figures import Collective, Report
from sdyopt.analysis.figures.source_locations import NO_LOCATION
from sdyopt.analysis.figures.user_lines import UserLines
from sdyopt.analysis.hlo_comparison.accelerators import OnAccelerators, on_accelerators
from sdyopt.analysis.hlo_comparison.collectives import CollectiveOperand, of_report
from sdyopt.analysis.hlo_comparison.device_groups import axes_of_groups
from sdyopt.analysis.hlo_comparison.hlo_text import CompiledProgram
from sdyopt.analysis.hlo_comparison.line_shift import moved, shifts_of
from sdyopt.analysis.hlo_comparison.matching import match_collectives
from sdyopt.analysis.hlo_comparison.mismatch import is_one_slice, mismatch_of
from sdyopt.analysis.hlo_comparison.places import place_of
from sdyopt.analysis.hlo_comparison.reasons import CollectiveMatch, top_k
from sdyopt.base.dataclasses import dataclass, field, replace
from sdyopt.base.diagnostics.diagnostic import DiagnosticError
from sdyopt.base.diagnostics.location import FileLoc
from sdyopt.base.diagnostics.text import counted

HOW_TO_COMPILE = (
    "print and compile the same lowered: lowered.as_text(debug_info=True), lowered.compile().as_text()"
)


@dataclass(frozen=True, slots=True)
class HloComparison:
    """Pairs of collectives; those of XLA have the lines that a person would change.

    `accelerated` has the collectives of TPU and GPU in place of those in HLO for another device. `mismatch`
    says why the compiled program is another one than that of the report; "" if nothing shows that it is.
    `shifts` are how much greater the lines of a file were in the HLO; they are compared as if they were not.
    """

    report: Report
    compiled: CompiledProgram
    matches: list[CollectiveMatch]
    accelerated: OnAccelerators | None = None
    mismatch: str = ""
    shifts: dict[str, int] = field(default_factory=dict)

    @property
    def counts(self) -> Counter[str]:
        """The number of matches by reason."""
        return Counter(match.reason for match in self.matches)

    @property
    def ours(self) -> list[CollectiveOperand]:
        """The collectives of the report."""
        return [operand for match in self.matches for operand in match.ours]

    @property
    def theirs(self) -> list[CollectiveOperand]:
        """The collectives of XLA."""
        return [operand for match in self.matches for operand in match.theirs]

    @property
    def of_top_k(self) -> list[CollectiveOperand]:
        """The collectives of XLA whose result is only an operand of top-k."""
        theirs = self.compiled.operands
        by_result = {operand.source.result: number for number, operand in enumerate(theirs)}
        return [
            operand for number, operand in enumerate(theirs) if top_k(theirs, by_result, number) is not None
        ]

    def axes(self, operand: CollectiveOperand) -> str:
        """The mesh axes along which a collective communicates, as in the report."""
        if not operand.groups:
            return ""
        return axes_of_groups(operand.groups, self.report.mesh) or f"groups of {operand.group_size}"


def compare_hlo(report: Report, compiled: CompiledProgram) -> HloComparison:
    """The comparison of a report with a compiled program.

    Raises DiagnosticError if they are for different numbers of devices.
    """
    mismatch = mismatch_of(report, compiled)
    if compiled.devices < report.devices and not mismatch and is_one_slice(report, compiled):
        compiled = compiled.in_slices(report.devices // compiled.devices)
    if compiled.states_devices and compiled.devices != report.devices:
        stated = f"the HLO is for {counted(compiled.devices, 'device')}, the program for {report.devices}"
        raise DiagnosticError.at(FileLoc(compiled.name, 1, 1), stated).help(HOW_TO_COMPILE)
    lines = UserLines(lambda: [operand.location for operand in compiled.operands])
    located = [replace(operand, location=lines.chosen(operand.location)) for operand in compiled.operands]
    ours = list(of_report(report))
    if shifts := shifts_of(ours, located):
        located = [moved(operand, shifts) for operand in located]
    compiled = replace(compiled, operands=located)
    matches = match_collectives(ours, located, compiled)
    accelerated = None if compiled.platform in ("TPU", "GPU") else on_accelerators(compiled)
    if accelerated is not None and not accelerated.changes and not accelerated.undecided:
        accelerated = None
    return HloComparison(report, compiled, matches, accelerated, mismatch, shifts)


def wire_bytes(operands: Iterable[CollectiveOperand]) -> Fraction:
    """The bytes on the wire per device, of all runs of loops."""
    return sum((operand.wire_bytes_of_runs for operand in operands), Fraction(0))


def compiled_report(comparison: HloComparison) -> Report:
    """XLA's collectives as the figures of a report, for the checks of a budget.

    What is not understood has unknown bytes.
    """
    report, compiled = Report(comparison.compiled.devices, comparison.report.mesh), comparison.compiled
    for number, operand in enumerate(comparison.theirs):
        axes = comparison.axes(operand) or "all devices"
        report.collectives.append(
            Collective(
                number,
                operand.kind,
                "hlo",
                axes,
                axes,
                operand.group_size,
                (),
                (),
                operand.bytes,
                operand.bytes,
                operand.wire_bytes,
                operand.times,
                place_of(operand),
                operand.name,
                "XLA compiled it",
            )
        )
    places = compiled.locations({name for name, *_ in compiled.not_read}) if compiled.not_read else {}
    for name, what, size in compiled.not_read:
        number, axes = len(report.collectives), "all devices"
        place = places.get(name, NO_LOCATION)
        report.collectives.append(
            Collective(
                number,
                what,
                "hlo",
                axes,
                axes,
                None,
                (),
                (),
                size,
                size,
                None,
                None,
                place,
                name,
                "not understood",
            )
        )
    return report


def totals_of(comparison: HloComparison) -> dict[tuple[str, str], tuple[Fraction, Fraction, Fraction]]:
    """The bytes of the report, of XLA, and on TPU and GPU by kind and axes, the largest first."""
    accelerated = comparison.theirs if comparison.accelerated is None else comparison.accelerated.operands
    sides = []
    for operands in (comparison.ours, comparison.theirs, accelerated):
        sums: dict[tuple[str, str], Fraction] = {}
        for operand in operands:
            key = operand.kind, comparison.axes(operand)
            sums[key] = sums.get(key, Fraction(0)) + operand.wire_bytes_of_runs
        sides.append(sums)
    totals = {
        key: (sides[0].get(key, zero), sides[1].get(key, zero), sides[2].get(key, zero))
        for key in dict.fromkeys(key for sums in sides for key in sums)
        for zero in [Fraction(0)]
    }
    return dict(sorted(totals.items(), key=lambda entry: (-max(entry[1]), entry[0])))
