"""Writes the page of the steps of propagation."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import htpy as h

from sdyopt.analysis.explain.recorded_program import RecordedProgram, recorded
from sdyopt.analysis.explain.steps import Options
from sdyopt.analysis.explain.steps.step_data import MAX_MISSED, MAX_STEPS, StepData, step_data
from sdyopt.analysis.interface import Analysis, Program, Run
from sdyopt.analysis.interface.pages.page import MAX_LINES, Page, program_lines
from sdyopt.base.dataclasses import asdict
from sdyopt.base.diagnostics.text import replace_unprintable
from sdyopt.mlir.asm.parser.lexer import location_extent


class Stepping(Analysis[Options]):
    """The page of one run."""

    def __init__(self, options: Options, run: Run) -> None:
        super().__init__(options, run)
        help = "write the steps of each chunk in a file of its own"
        run.check_is_one_chunk(f"--explain-steps={options.explain_steps} is one file", help)

    def on_input(self, program: Program) -> None:
        program.shared(recorded)

    def around_passes(self, program: Program) -> AbstractContextManager[None]:
        return program.shared(recorded).recording()

    def on_result(self, program: Program) -> None:
        """Writes the page. Raises DiagnosticError if nothing was propagated."""
        path = self.options.explain_steps
        if path is not None and program.shared(recorded).is_recorded:
            self.run.write_file(path, steps_page(program.shared(recorded)))


# The page of the steps: one HTML file that needs no network. `steps.js` shows a step.


_FOLDER = Path(__file__).parent
_HELP = "← and → step, Page Up and Page Down step by 10, Home and End; click a line for its next step"


def steps_page(program: RecordedProgram) -> str:
    """The page on a program, whose source is shown. Raises DiagnosticError if the record has no steps."""
    program.check_is_propagated()
    data, source = step_data(program), program.inputs.source
    lines = _lines(source.text, program.inputs.record.locations)
    page = Page(f"{source.name}: steps of propagation", data.axes)
    page.add_data("steps", asdict(data))
    page.add_text("text-of-program", "\n".join(program_lines("\n".join(lines))))
    body = [
        h.header[
            h.h1[replace_unprintable(page.title)],
            (h.p(".limit")[sentence] for sentence in _limits(data, len(lines))),
            h.div(".controls")[
                h.button("#back", type="button", aria_label="one step back", title="one step back (←)")["◀"],
                h.input(
                    "#slider", type="range", min="0", max=str(len(data.steps)), value="0", aria_label="step"
                ),
                h.button("#next", type="button", aria_label="one step on", title="one step on (→)")["▶"],
                h.input(
                    "#search",
                    type="search",
                    placeholder="search",
                    aria_label="search steps",
                    autocomplete="off",
                ),
            ],
            h.div("#found", hidden=True),
            h.p("#title", aria_live="polite"),
            h.p("#place"),
            h.p(".note")[_HELP],
        ],
        h.main("#main", tabindex="-1")[
            h.section("#step", tabindex="0", aria_label="step"), h.section("#text")
        ],
        h.noscript[h.p["The page needs JavaScript."]],
    ]
    return page.html(body, [_FOLDER / "steps.js"], [_FOLDER / "steps.css"])


def _limits(data: StepData, lines: int) -> Iterator[str]:
    """Sentences on what the file leaves out."""
    if data.count > len(data.steps):
        yield f"The file has the first {MAX_STEPS:,} of {data.count:,} steps."
    if data.missed_count > len(data.missed):
        yield f"The end lists the first {MAX_MISSED:,} of {data.missed_count:,} axes that did not propagate."
    if lines > MAX_LINES:
        yield f"The file has the first {MAX_LINES:,} of {lines:,} lines of the program."


def _lines(text: str, locations: Iterable[int]) -> list[str]:
    """The lines of the source, without the locations of operations. Definitions of locations are empty."""
    parts, position = [], 0
    for start in sorted(locations):
        end = location_extent(text, start)
        parts += [text[position:start], re.sub(r"[^\r\n]", " ", text[start:end])]
        position = end
    text = "".join([*parts, text[position:]])
    lines = ["" if line.startswith("#loc") else line.rstrip() for line in text.split("\n")]
    while lines and not lines[-1]:
        lines.pop()
    return lines
