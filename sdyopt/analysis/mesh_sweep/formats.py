"""The formats of a mesh sweep: HTML, JSON, Markdown and text."""

from __future__ import annotations

import json
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path, PurePath

import htpy as h

from sdyopt.analysis.figures.units import bytes_text, flops_text, seconds_text, share_text
from sdyopt.analysis.interface.pages.page import Page, card, fits_badge
from sdyopt.analysis.interface.pages.section import Section
from sdyopt.analysis.mesh_sweep.sweep import (
    Sweep,
    SweptMesh,
    best_text,
    layout_tables,
    note_of,
    sweep_table,
    sweep_text,
)
from sdyopt.analysis.report.formats import section_lines
from sdyopt.base.dataclasses import asdict
from sdyopt.base.diagnostics.text import counted, printable_json, replace_unprintable

_SCRIPT = Path(__file__).with_name("sweep.js")
SCHEMA, VERSION = "sdy-opt-mesh-sweep", 1


def _markdown(sweep: Sweep) -> str:
    section = Section(best_text(sweep))
    header, *rows = sweep_table(sweep)
    section.add_table("", header, len(header) - 2, rows)
    for title, layouts in layout_tables(sweep):
        section.add_table(title, ("time", "axes", "on"), 1, layouts)
    return "\n".join(section_lines([section])) + "\n"


def sweep_data(sweep: Sweep) -> dict[str, object]:
    """The data of the JSON."""
    best = sweep.best
    rows = [{**asdict(row), "fits": sweep.fits(row), "is_best": row in best} for row in sweep.rows]
    return {
        "schema": SCHEMA,
        "version": VERSION,
        "device_memory": sweep.device_memory,
        "topology": sweep.topology or None,
        "meshes": rows,
    }


def _html(sweep: Sweep) -> str:
    """The best meshes, charts of time and memory by number of devices, and a table."""
    axes = list(sweep.rows[0].sizes)
    page = Page(sweep.title or "mesh sweep", axes)
    best = sweep.best
    rows = [
        [
            *(list(row.sizes.values()), row.devices, row.seconds, row.wire_bytes, row.peak_bytes),
            *(_work(row), sweep.fits(row), row in best, replace_unprintable(note_of(sweep, row))),
        ]
        for row in sweep.rows
    ]
    names = [*map(replace_unprintable, axes)]
    page.add_data(
        "sweep", {"axes": names, "rows": rows, "memory": sweep.device_memory, "hasTimes": sweep.has_times}
    )
    topology = f", topology {PurePath(sweep.topology).name}" if sweep.topology else ""
    body = [
        h.header[
            h.h1[replace_unprintable(page.title)],
            h.p[replace_unprintable(f"{_counted_meshes(len(rows))} of other sizes{topology}")],
            h.nav(aria_label="sections")[
                (h.a(href=f"#{name}")[name] for name in ("best", "charts", "meshes"))
            ],
        ],
        h.main("#main", tabindex="-1")[
            h.section("#summary")[
                h.h2(".hidden")["summary"],
                h.div("#best.cards")[_cards(page, sweep) or card("best", "none", "no mesh fits")],
                h.p(".note")[best_text(sweep)],
            ],
            h.section("#charts")[h.h2["by number of devices"]],
            h.section("#meshes")[h.h2["meshes"]],
        ],
        h.noscript[h.p["Tables and charts need JavaScript."]],
    ]
    return page.html(body, [_SCRIPT])


def _counted_meshes(count: int) -> str:
    return "1 mesh" if count == 1 else f"{count} meshes"


def _cards(page: Page, sweep: Sweep) -> h.Node:
    """A card for the best mesh of each number of devices."""
    cards = []
    for row in sweep.best:
        sent, peak = bytes_text(row.wire_bytes), bytes_text(row.peak_bytes)
        fits = None if sweep.device_memory is None else fits_badge(True, bytes_text(sweep.device_memory))
        figure = f"{sent} sent" if row.seconds is None else seconds_text(Fraction(row.seconds))
        unit = "by each device" if row.seconds is None else f"estimated for one run, {sent} sent"
        title = f"best of {counted(row.devices or 0, 'device')}"
        cards.append(card(title, figure, unit, page.axis_chips(row.sizes), f"{peak} at the peak", fits))
    return cards


def _work(row: SweptMesh) -> str:
    if row.flops is None:
        return ""
    is_repeated = row.useful_share is not None and row.useful_share < 1
    useful = f", {share_text(Fraction(row.useful_share or 0))} useful" if is_repeated else ""
    return flops_text(row.flops) + useful


FORMATS: dict[str, Callable[[Sweep], str]] = {
    ".html": _html,
    ".json": lambda sweep: printable_json(json.dumps(sweep_data(sweep), indent=1, ensure_ascii=False)) + "\n",
    ".md": _markdown,
    ".txt": sweep_text,
}
