"""Writes the page of the steps of propagation."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import AbstractContextManager
from html import escape
from pathlib import Path

from sdyopt.analysis.explain.recorded_program import RecordedProgram, recorded
from sdyopt.analysis.interface import Analysis, Program, Run
from sdyopt.analysis.report.html_report import as_tag_text, page_start, printable, printable_lines
from sdyopt.analysis.steps import Options
from sdyopt.analysis.steps.step_data import MAX_MISSED, MAX_STEPS, StepData, step_data
from sdyopt.base.dataclasses import asdict
from sdyopt.base.diagnostics.location import Source
from sdyopt.mlir.error_help.statement import without_locations


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


# The page of the steps: one HTML file that needs no network.
#
# Colours are those of reports. `steps.js` shows a step: it reads the data that is in the file as JSON.


# Of a longer program, only the first lines are in the file.
MAX_LINES = 100_000

# The number of lines that a browser lays out together.
_LINES_PER_BLOCK = 500

_FOLDER = Path(__file__).parent
_HELP = "← and → step, Page Up and Page Down step by 10, Home and End; click a line for its next step"


def steps_page(program: RecordedProgram) -> str:
    """The page on a program, whose source is shown. Raises DiagnosticError if the record has no steps."""
    program.check_is_propagated()
    data, source = step_data(program.record, program.inputs, program.names), program.inputs.source
    title = f"{source.name}: steps of propagation"
    lines = _lines(source)
    parts = [
        *page_start(title, (_FOLDER / "steps.css").read_text(encoding="utf-8")),
        "<header>",
        f"<h1>{escape(printable(title))}</h1>",
        *(f"<p class=limit>{sentence}</p>" for sentence in _limits(data, len(lines))),
        '<div class=bar><button id=back title="one step back (←)">◀</button>',
        f'<input id=slider type=range min=0 max={len(data.steps)} value=0 aria-label="step">',
        '<button id=next title="one step forward (→)">▶</button></div>',
        '<p id=title aria-live="polite"></p>',
        f"<p class=help>{_HELP}</p></header>",
        "<main><section id=step></section><section class=program>",
        *_program(lines[:MAX_LINES]),
        "</section></main>",
        f'<script type="application/json" id=data>{_json(data)}</script>',
        f"<script>{(_FOLDER / 'steps.js').read_text(encoding='utf-8')}</script></body></html>",
    ]
    return "\n".join(parts) + "\n"


def _limits(data: StepData, lines: int) -> Iterator[str]:
    """Sentences on what the file leaves out."""
    if data.count > len(data.steps):
        yield f"The file has the first {MAX_STEPS:,} of {data.count:,} steps."
    if data.missed_count > len(data.missed):
        yield f"The end lists the first {MAX_MISSED:,} of {data.missed_count:,} axes that did not propagate."
    if lines > MAX_LINES:
        yield f"The file has the first {MAX_LINES:,} of {lines:,} lines of the program."


def _lines(source: Source) -> list[str]:
    """The lines of the source, without the locations of operations."""
    text = source.text
    if "loc(" in text or "loc " in text:
        text = without_locations(text)
    lines = [line.rstrip() for line in text.split("\n")]
    while lines and (not lines[-1] or lines[-1].startswith("#loc")):
        lines.pop()
    return printable_lines(lines)


def _program(lines: list[str]) -> Iterator[str]:
    for start in range(0, len(lines), _LINES_PER_BLOCK):
        block = lines[start : start + _LINES_PER_BLOCK]
        body = "\n".join(
            f"<b id=L{number}>{as_tag_text(line)}</b>" for number, line in enumerate(block, start + 1)
        )
        yield f'<pre style="--lines:{len(block)}">\n{body}</pre>'


def _json(data: StepData) -> str:
    """The data as JSON that does not end the script."""
    text = json.dumps(asdict(data), ensure_ascii=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
