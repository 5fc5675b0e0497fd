"""The comparison of a report with a compiled program: totals, moved lines, and whether it is another one."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from fractions import Fraction
from math import prod

from sdyopt.analysis.figures.figures import Collective, Report
from sdyopt.analysis.figures.source_locations import NO_LOCATION, SourceLocation, UserLines
from sdyopt.analysis.hlo_comparison.accelerators import OnAccelerators, on_accelerators
from sdyopt.analysis.hlo_comparison.collectives import (
    CollectiveOperand,
    HloSource,
    axes_of_groups,
    bits_of,
    of_report,
)
from sdyopt.analysis.hlo_comparison.hlo_text import CompiledProgram
from sdyopt.analysis.hlo_comparison.matching import match_collectives
from sdyopt.analysis.hlo_comparison.reasons import CollectiveMatch, place_of, top_k, used_at
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


def sent_by_number(comparison: HloComparison) -> dict[int, Fraction]:
    """What XLA sends for each collective of the report, by number; nothing for what XLA does not have.

    Several that correspond together share it as they send by the report. What only XLA has is counted for the
    first one of the same line, if there is one.
    """
    sent: dict[int, Fraction] = {}
    at_line: dict[tuple[str, int], int] = {}
    for match in comparison.matches:
        ours, theirs = wire_bytes(match.ours), wire_bytes(match.theirs)
        for operand in match.ours:
            share = operand.wire_bytes_of_runs / ours if ours else Fraction(0)
            number = int(operand.name.removeprefix("#"))
            sent[number] = sent.get(number, Fraction(0)) + share * theirs
            at_line.setdefault((operand.location.file, operand.location.line), number)
    for match in comparison.matches:
        for operand in () if match.ours else match.theirs:
            place = place_of(operand)
            if place.line and (place.file, place.line) in at_line:
                sent[at_line[place.file, place.line]] += operand.wire_bytes_of_runs
    return sent


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


# A shift that so many lines have, and at least this share of those that could have it.
_LEAST, _SHARE = 2, 0.6
# The lines of one operation, such as dot_general, that are compared with one another.
_MAX_LINES = 64


def shifts_of(ours: Iterable[CollectiveOperand], xla: Iterable[CollectiveOperand]) -> dict[str, int]:
    """How much greater the lines of XLA's collectives are than those of the report's, by file."""
    here, there = _lines(ours), _lines(xla)
    by_file = {}
    for file in sorted(here.keys() & there.keys()):
        counts: Counter[int] = Counter()
        for name in here[file].keys() & there[file].keys():
            mine, other = here[file][name], there[file][name]
            if max(len(mine), len(other)) <= _MAX_LINES:
                counts.update([after - before for before in mine for after in other])
        if not counts:
            continue
        # Of equally many, the least.
        shift = min(counts, key=lambda lines: (-counts[lines], abs(lines), lines))
        possible = min(sum(map(len, here[file].values())), sum(map(len, there[file].values())))
        if shift and counts[shift] >= max(_LEAST, _SHARE * possible) and counts[shift] > 2 * counts[0]:
            by_file[file] = shift
    return by_file


def moved(collective: CollectiveOperand, shifts: dict[str, int]) -> CollectiveOperand:
    """A collective of XLA at the lines of the program."""
    return replace(
        collective, location=_at(collective.location, shifts), hlo=_source(collective.source, shifts)
    )


def _source(source: HloSource, shifts: dict[str, int]) -> HloSource:
    used = tuple(_at(place, shifts) for place in source.used_at)
    return replace(source, produced_at=_at(source.produced_at, shifts), used_at=used)


def _at(location: SourceLocation, shifts: dict[str, int]) -> SourceLocation:
    frames = tuple(
        frame._replace(line=frame.line - shifts.get(frame.file, 0)) if frame.line else frame
        for frame in location.frames
    )
    line = max(location.line - shifts.get(location.file, 0), 0) if location.line else 0
    return location._replace(line=line, frames=frames)


def _lines(operands: Iterable[CollectiveOperand]) -> dict[str, dict[str, Sequence[int]]]:
    """The lines of collectives by file, and by the last part of the name stack."""
    by_file: dict[str, dict[str, dict[int, None]]] = {}
    for collective in operands:
        places = [collective.location, *used_at(collective)]
        for place in places:
            if place.line:
                name = place.name_stack.rpartition("/")[2]
                by_file.setdefault(place.file, {}).setdefault(name, {})[place.line] = None
    return {file: {name: list(lines) for name, lines in names.items()} for file, names in by_file.items()}


_TENSOR = re.compile(r"tensor<((?:[\d?]++x)*+)([^,]+)(?:, .*)?>")
_FLOATS = ("f", "b")


def mismatch_of(report: Report, compiled: CompiledProgram) -> str:
    """The first argument of the program that the compiled one does not have; "" if it has all of them."""
    arguments = [argument for argument in report.boundary().arguments if argument.type.startswith("tensor<")]
    parameters = compiled.parameters
    if parameters is None or not arguments:
        return ""
    if len(parameters) != len(arguments):
        has = f"its entry has {counted(len(parameters), 'parameter')}"
        return f"{has}, and the program {counted(len(arguments), 'argument')}"
    for number, (parameter, argument) in enumerate(zip(parameters, arguments, strict=True)):
        if not _is_part(parameter, argument.type):
            return f"its parameter {number} is {parameter}, and the argument {argument.name} {argument.type}"
    sizes = [_bytes_of(parameter) for parameter in parameters]
    wholes = [_bytes_of_tensor(argument.type) for argument in arguments]
    sharded = [
        boundary_value
        for boundary_value, whole in zip(arguments, wholes, strict=True)
        if boundary_value.bytes is not None and boundary_value.bytes < whole
    ]
    if sharded and sizes == wholes:
        return f"its parameters are whole tensors, also {sharded[0].name}, as before XLA partitions a program"
    return ""


def is_one_slice(report: Report, compiled: CompiledProgram) -> bool:
    """Whether HLO for fewer devices is that of one of several slices of TPUs that send each other nothing.

    Then its parameters are the shards of the whole program.
    """
    arguments = report.boundary().arguments
    if compiled.platform != "TPU" or compiled.slices > 1 or report.devices % compiled.devices:
        return False
    sizes = [_bytes_of(parameter) for parameter in compiled.parameters or ()]
    return bool(sizes) and sizes == [argument.bytes for argument in arguments]


def _bytes_of(parameter: str) -> int:
    """The bytes of a type of HLO."""
    element, _, shape = parameter.rstrip("]").partition("[")
    return prod(map(int, filter(None, shape.split(",")))) * bits_of(element) // 8


def _bytes_of_tensor(type: str) -> int:
    """The bytes of a tensor; 0 if its sizes are unknown."""
    result = _TENSOR.fullmatch(type)
    assert result is not None, type
    sizes = result[1].split("x")[:-1]
    if "?" in sizes:
        return 0
    return prod(map(int, sizes)) * bits_of(result[2]) // 8


def _is_part(parameter: str, type: str) -> bool:
    """Whether a type of HLO, such as `f32[4,8]`, is that of a tensor or of a shard of it."""
    element, _, shape = parameter.rstrip("]").partition("[")
    whole = _TENSOR.fullmatch(type)
    assert whole is not None, type
    sizes, of_parts = whole[1].split("x")[:-1], shape.split(",") if shape else []
    if len(sizes) != len(of_parts) or bits_of(element) != bits_of(whole[2]):
        return False
    fits = (size == "?" or int(part) <= int(size) for part, size in zip(of_parts, sizes, strict=True))
    return element.startswith(_FLOATS) == whole[2].startswith(_FLOATS) and all(fits)
