"""The formats of a mesh sweep: HTML, JSON, Markdown and text."""

from __future__ import annotations

import json
from collections.abc import Callable

from sdyopt.analysis.interface.pages.section import Section
from sdyopt.analysis.mesh_sweep.sweep import Sweep, best_text, layout_tables, sweep_table, sweep_text
from sdyopt.analysis.report.formats import section_lines
from sdyopt.base.dataclasses import asdict
from sdyopt.base.diagnostics.text import printable_json

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
    from sdyopt.analysis.mesh_sweep.html_sweep import html_sweep

    return html_sweep(sweep)


FORMATS: dict[str, Callable[[Sweep], str]] = {
    ".html": _html,
    ".json": lambda sweep: printable_json(json.dumps(sweep_data(sweep), indent=1, ensure_ascii=False)) + "\n",
    ".md": _markdown,
    ".txt": sweep_text,
}
