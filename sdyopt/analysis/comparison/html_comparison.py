"""A comparison as a page: the figures before and after, and what changed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction

import htpy as h

from sdyopt.analysis.comparison.comparison import CostChanges, ProgramComparison, TimeRange
from sdyopt.analysis.comparison.comparison_sections import ARROW, header_of, sections_of, signed
from sdyopt.analysis.figures.figures import Report
from sdyopt.analysis.figures.totals import Total, wire_total, wire_totals
from sdyopt.analysis.figures.units import bytes_text, flops_text, share_text, total_text
from sdyopt.analysis.interface.pages.page import Page, card, fits_badge
from sdyopt.analysis.report.sections import range_text
from sdyopt.base.diagnostics.text import replace_unprintable

_ANCHORS = {
    "communication": "communication",
    "memory per device": "memory",
    "compute per device": "compute",
    "estimated time": "time",
}


def html_comparison(comparison: ProgramComparison) -> str:
    """The page of a comparison."""
    axes = [
        axis.name
        for values in (comparison.after, comparison.before)
        for mesh in values.meshes.values()
        for axis in mesh.axes
    ]
    before, after = comparison.titles
    page = Page(f"{before} {ARROW} {after}", list(dict.fromkeys(axes)))
    sections = [
        (_ANCHORS.get(section.heading.partition(":")[0], f"changes-{number}"), section)
        for number, section in enumerate(sections_of(comparison))
    ]
    shown = [page.section(anchor, section, section.tables) for anchor, section in sections]
    body = [
        h.header[
            h.h1["comparison"],
            (h.p[page.coloured(line)] for line in header_of(comparison)),
            h.nav(aria_label="sections")[
                h.a(href="#summary")["summary"],
                (
                    h.a(href=f"#{anchor}")[replace_unprintable(section.heading.partition(":")[0])]
                    for anchor, section in sections
                ),
            ],
        ],
        h.main("#main", tabindex="-1")[
            h.section("#summary")[
                h.h2(".hidden")["summary"],
                _summary(page, comparison, comparison.costs) if comparison.costs is not None else None,
            ],
            shown,
        ],
        h.noscript[h.p["Tables need JavaScript."]],
    ]
    return page.html(body, [])


def _summary(page: Page, comparison: ProgramComparison, costs: CostChanges) -> h.Node:
    old, new = comparison.reports
    collectives = _numbers(*costs.collectives)
    parts = costs.wire_bytes.parts
    causes = [part for part in parts if part.growth][:3]
    return [
        h.div(".cards")[
            card(
                "communication",
                _pair(total_text(wire_total(old)), total_text(wire_total(new))),
                f"sent by each device, {collectives} collectives",
                _change(costs.wire_bytes.before, costs.wire_bytes.after, bytes_text),
            ),
            card(
                "memory",
                _pair(bytes_text(costs.peak_memory.before), bytes_text(costs.peak_memory.after)),
                "at the peak",
                _change(costs.peak_memory.before, costs.peak_memory.after, bytes_text),
                _fits(old, new),
            ),
            card(
                "compute",
                _pair(flops_text(costs.flops.before), flops_text(costs.flops.after)),
                "per device",
                _change(costs.flops.before, costs.flops.after, flops_text),
            ),
            card("time", _pair(*map(_range, costs.times)), "estimated for one run")
            if any(costs.times)
            else None,
        ],
        _bars(page, old, new),
        _by_axes(page, old, new),
        h.h2["what changed most in communication"] if causes else None,
        h.ol(".places")[
            (
                h.li[
                    h.p(".line")[
                        h.span(".where")[replace_unprintable(part.location.file_text or "elsewhere")],
                        h.strong[signed(part.growth, bytes_text)],
                        h.span(".kind")[page.coloured(part.kind)],
                        h.span(".note")["new" if part.is_new else "gone" if part.is_gone else ""],
                    ],
                    h.p[page.coloured(part.cause)] if part.cause else None,
                ]
                for part in causes
            )
        ],
    ]


def _pair(before: str, after: str) -> h.Node:
    return after if before == after else [h.span(".before")[before], h.span(".after")[f"{ARROW} {after}"]]


def _numbers(before: int, after: int) -> str:
    return str(after) if before == after else f"{before} {ARROW} {after}"


def _range(times: TimeRange | None) -> str:
    return "unknown" if times is None else range_text(*times)


def _change(before: int, after: int, text: Callable[[int | None], str]) -> h.Node:
    """The difference, in green if it is less and in red if it is more."""
    if before == after:
        return h.span(".badge")["no change"]
    share = (
        f" ({'+' if after > before else '-'}{share_text(Fraction(abs(after - before), before))})"
        if before
        else ""
    )
    return h.span(".badge.bad" if after > before else ".badge.good")[f"{signed(after - before, text)}{share}"]


def _fits(old: Report, new: Report) -> h.Node:
    """Whether the program after fits, and the one before if that differs."""
    memory = new.device_memory
    if memory is None:
        return None
    fits = [report.memory.peak <= memory for report in (old, new)]
    badges = [fits_badge(fit, bytes_text(memory)) for fit in fits]
    return badges[1] if fits[0] == fits[1] else ["before: ", badges[0], " after: ", badges[1]]


def _bars(page: Page, old: Report, new: Report) -> Iterator[h.Node]:
    """A bar of each program, by kind and axes, on one scale."""
    most = max(wire_total(report).high for report in (old, new))
    if not most:
        return
    for name, report in (("before", old), ("after", new)):
        parts = [
            (f"{bytes_text(part.high)} {kind}", float(part.high / most))
            for kind, part in wire_totals(
                report.collectives, lambda collective: f"{collective.kind} {collective.group}"
            ).items()
            if part.high
        ]
        yield h.h3[f"sent {name}"]
        yield page.bar(parts, f"what is sent {name}, by kind and axes")


def _by_axes(page: Page, old: Report, new: Report) -> h.Node:
    """The cost of each axis before and after."""
    before, after = (
        wire_totals(report.collectives, lambda collective: collective.group) for report in (old, new)
    )
    groups = list(dict.fromkeys([*after, *before]))
    if not groups:
        return None
    columns = ("axes", "before", "after", "change")

    def row(group: str) -> h.Node:
        totals = [totals_by_name.get(group, Total()) for totals_by_name in (before, after)]
        texts = [total_text(total) if total.count else "none" for total in totals]
        change = signed(round(totals[1].high - totals[0].high), bytes_text)
        cells = zip(columns[1:], (*texts, change), strict=True)
        return h.tr[
            h.th(scope="row")[page.coloured(group.strip("{}"))],
            (h.td(data_label=column)[cell] for column, cell in cells),
        ]

    return [
        h.h3["by axis"],
        h.table(".stack")[
            h.thead[h.tr[(h.th(scope="col")[column] for column in columns)]], h.tbody[map(row, groups)]
        ],
    ]
