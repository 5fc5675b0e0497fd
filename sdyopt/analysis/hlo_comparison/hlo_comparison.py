"""The collectives of a report beside those that XLA compiled: what is the same, and why the rest differs."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction

from sdyopt.analysis.figures.figures import Collective, Report
from sdyopt.analysis.figures.units import bytes_text, times_text
from sdyopt.analysis.figures.user_lines import UserLines
from sdyopt.analysis.hlo_comparison.collectives import CollectiveOperand, of_report
from sdyopt.analysis.hlo_comparison.device_groups import axes_of_groups
from sdyopt.analysis.hlo_comparison.hlo_text import CompiledProgram
from sdyopt.analysis.hlo_comparison.matching import HIT, MEANINGS, REASONS, Match, match_collectives
from sdyopt.analysis.pages.section import Row, Section
from sdyopt.analysis.report.formats import DEFAULT_WIDTH
from sdyopt.analysis.report.markdown_report import markdown_text
from sdyopt.analysis.report.markdown_report import section_lines as markdown_lines
from sdyopt.analysis.report.text_report import section_lines
from sdyopt.base.dataclasses import dataclass, replace
from sdyopt.base.diagnostics.text import counted

SCHEMA, VERSION = "sdy-opt-hlo-comparison", 1
_NO_LINES = "for lines of the model, print the program from JAX with as_text(debug_info=True)"


@dataclass(frozen=True, slots=True)
class HloComparison:
    """Pairs of collectives; those of XLA have the lines that a person would change."""

    report: Report
    compiled: CompiledProgram
    matches: list[Match]

    @property
    def counts(self) -> Counter[str]:
        """The number of matches by reason."""
        return Counter(match.reason for match in self.matches)

    @property
    def ours(self) -> list[CollectiveOperand]:
        """The collectives of the report."""
        return [each for match in self.matches for each in match.ours]

    @property
    def theirs(self) -> list[CollectiveOperand]:
        """The collectives of XLA."""
        return [each for match in self.matches for each in match.theirs]

    def axes(self, each: CollectiveOperand) -> str:
        """The mesh axes along which a collective communicates, as in the report."""
        if not each.groups:
            return ""
        return axes_of_groups(each.groups, self.report.mesh) or f"groups of {each.group_size}"


def compare_hlo(report: Report, compiled: CompiledProgram) -> HloComparison:
    """The comparison of a report with a compiled program."""
    lines = UserLines(lambda: [each.location for each in compiled.operands])
    located = [replace(each, location=lines.chosen(each.location)) for each in compiled.operands]
    compiled = replace(compiled, operands=located)
    return HloComparison(report, compiled, match_collectives(list(of_report(report)), located))


def wire_bytes(operands: Iterable[CollectiveOperand]) -> Fraction:
    """The bytes on the wire per device, of all runs of loops."""
    return sum((each.wire_bytes_of_runs for each in operands), Fraction(0))


def compiled_report(found: HloComparison) -> Report:
    """XLA's collectives as the figures of a report, for the checks of a budget."""
    report = Report(found.compiled.devices, found.report.mesh)
    for number, each in enumerate(found.theirs):
        axes = found.axes(each) or "all devices"
        report.collectives.append(
            Collective(
                number,
                each.kind,
                "hlo",
                axes,
                axes,
                each.group_size,
                (),
                (),
                each.bytes,
                each.bytes,
                each.wire_bytes,
                each.times,
                each.location,
                each.name,
                "XLA compiled it",
            )
        )
    return report


def comparison_data(found: HloComparison) -> dict[str, object]:
    """The data of the JSON."""
    return {
        "schema": SCHEMA,
        "version": VERSION,
        "mesh": found.report.mesh,
        "devices": found.compiled.devices,
        "counts": {reason: found.counts[reason] for reason in REASONS if found.counts[reason]},
        "wire_bytes": {"report": round(wire_bytes(found.ours)), "xla": round(wire_bytes(found.theirs))},
        "matches": [
            {
                "reason": match.reason,
                "report": [_operand_data(found, each) for each in match.ours],
                "xla": [_operand_data(found, each) for each in match.theirs],
            }
            for match in found.matches
        ],
    }


def _operand_data(found: HloComparison, each: CollectiveOperand) -> dict[str, object]:
    times, location = each.times, each.location
    return {
        "name": each.name,
        "kind": each.kind,
        "axes": found.axes(each),
        "group_size": each.group_size,
        "bytes": each.bytes,
        "wire_bytes": round(each.wire_bytes_of_runs),
        "times": None if times is None else [times.low, times.high],
        "location": {
            "file": location.file,
            "line": location.line,
            "column": location.column,
            "name_stack": location.name_stack,
        },
    }


def _markdown(found: HloComparison) -> str:
    lines = (f"{markdown_text(line)}  " for line in _header(found))
    return "\n".join([*lines, "", *markdown_lines(sections_of(found))]) + "\n"


def _header(found: HloComparison) -> list[str]:
    return [
        f"{name} {counted(len(each), 'collective')}, {bytes_text(wire_bytes(each))} on the wire per device"
        for name, each in (("report:", found.ours), ("XLA:   ", found.theirs))
    ]


FORMATS: dict[str, Callable[[HloComparison], str]] = {
    ".json": lambda found: json.dumps(comparison_data(found), indent=1, ensure_ascii=False) + "\n",
    ".md": _markdown,
    ".txt": lambda found: comparison_text(found, DEFAULT_WIDTH, None),
}


def comparison_text(found: HloComparison, width: int, rows: int | None) -> str:
    """The comparison for a terminal; `rows` limits each table."""
    summary, *details = sections_of(found)
    lines = [*section_lines(_header(found), [summary], width, None), *section_lines([], details, width, rows)]
    return "".join(f"{line.rstrip()}\n" for line in lines)


def sections_of(found: HloComparison) -> list[Section]:
    """The reasons with their bytes, and the collectives that differ."""
    same = found.counts[HIT]
    summary = Section(f"{same} of {len(found.ours)} collectives are the same in XLA's program")
    summary.sentences.append("operands of combined collectives count each; bytes of all runs of loops")
    summary.add_table(
        "by reason", ("report", "XLA", "bytes", "bytes in XLA", "reason", "why"), 4, _by_reason(found), True
    )
    differing = [match for match in found.matches if match.reason != HIT]
    details = Section(counted(len(differing), "difference"))
    if not any(each.location.line for each in found.ours):
        details.sentences.append(_NO_LINES)
    columns = ("bytes", "bytes in XLA", "report", "XLA", "where and why")
    rows = [_row(found, match) for match in _by_size(differing)]
    details.add_table("differences", columns, 2, rows, has_notes=True)
    return [summary, details] if differing else [summary]


def _by_size(matches: Sequence[Match]) -> list[Match]:
    return sorted(matches, key=lambda match: -max(wire_bytes(match.ours), wire_bytes(match.theirs)))


def _by_reason(found: HloComparison) -> Iterator[Row]:
    for reason in REASONS:
        matches = [match for match in found.matches if match.reason == reason]
        if matches:
            ours = [each for match in matches for each in match.ours]
            theirs = [each for match in matches for each in match.theirs]
            yield (
                str(len(ours)),
                str(len(theirs)),
                bytes_text(wire_bytes(ours)),
                bytes_text(wire_bytes(theirs)),
                reason,
                MEANINGS[reason],
            )


def _row(found: HloComparison, match: Match) -> Row:
    both = (*match.ours, *match.theirs)
    where = next((each.location.file_text for each in both if each.location.line), "")
    return (
        bytes_text(wire_bytes(match.ours)) if match.ours else "",
        bytes_text(wire_bytes(match.theirs)) if match.theirs else "",
        " + ".join(_text(found, each) for each in match.ours),
        " + ".join(_text(found, each) for each in match.theirs),
        f"{where}: {match.reason}" if where else match.reason,
    )


def _text(found: HloComparison, each: CollectiveOperand) -> str:
    times = times_text(each.times)
    runs = "" if times == "1" else f" × {times}"
    number = f"{each.name} " if each.name.startswith("#") else ""
    return number + f"{each.kind} {found.axes(each)}".rstrip() + runs
