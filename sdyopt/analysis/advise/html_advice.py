"""Advice as a page: the changes in a table, a chart of time against memory, and each change."""

from __future__ import annotations

from collections.abc import Sequence

import htpy as h

from sdyopt.analysis.advise.adviser import AdviceResult
from sdyopt.analysis.changes.effect import Figures
from sdyopt.analysis.figures.units import bytes_text, seconds_text
from sdyopt.analysis.interface.pages.page import Page
from sdyopt.analysis.interface.pages.section import Section

_WIDTH, _HEIGHT, _MARGIN = 640, 240, 36


def html_advice(advice: AdviceResult, header: Sequence[str], sections: Sequence[Section]) -> str:
    """The page of advice, whose text is a header and sections."""
    page = Page("advice")
    summary = Section("changes")
    rows = [
        (
            *(f"{number}", seconds_text(trial.after.seconds), bytes_text(trial.after.wire_bytes)),
            bytes_text(trial.after.peak_bytes),
            f"{trial.text}; {'conflict-free' if trial.is_conflict_free else 'depends on the partitioner'}",
        )
        for number, trial in enumerate(advice.changes, 1)
    ]
    if rows:
        summary.add_table("", ("", "time", "on the wire", "peak memory", "change"), 4, rows, True)
    body = [
        h.header[h.h1["advice"], (h.p[page.coloured(line)] for line in header)],
        h.main("#main", tabindex="-1")[
            page.section("changes", summary, summary.tables, _chart(advice)),
            (
                page.section(f"change-{number}", section, section.tables)
                for number, section in enumerate(sections, 1)
            ),
        ],
        h.noscript[h.p["Tables need JavaScript."]],
    ]
    return page.html(body, [])


def _chart(advice: AdviceResult) -> h.Node:
    """The estimated time and the peak memory of the program, and after each change."""
    if not advice.changes:
        return None
    points = [("now", advice.changes[0].before)]
    points += [(f"{number}", trial.after) for number, trial in enumerate(advice.changes, 1)]
    most = max(figures.seconds for _, figures in points), max(figures.peak_bytes for _, figures in points)
    return h.svg(viewBox=f"0 0 {_WIDTH} {_HEIGHT}", role="img", aria_label="time against peak memory")[
        (_point(name, figures, float(most[0]), most[1]) for name, figures in points),
        h.text(x=f"{_WIDTH - _MARGIN}", y=f"{_HEIGHT - 8}", text_anchor="end")["time →"],
        h.text(x="4", y="14")["peak memory ↑"],
    ]


def _point(name: str, figures: Figures, seconds: float, peak: int) -> h.Node:
    x = _MARGIN + (_WIDTH - 2 * _MARGIN) * float(figures.seconds) / (seconds or 1)
    y = _HEIGHT - _MARGIN - (_HEIGHT - 2 * _MARGIN) * figures.peak_bytes / (peak or 1)
    text = f"{name}: {seconds_text(figures.seconds)}, {bytes_text(figures.peak_bytes)}"
    return h.g[
        h.title[text],
        h.circle(cx=f"{x:.1f}", cy=f"{y:.1f}", r="4"),
        h.text(x=f"{x + 6:.1f}", y=f"{y - 6:.1f}")[name],
    ]
