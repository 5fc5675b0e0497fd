"""Writes docs/errors.md, a selection of mistakes and the errors that sdy-opt prints for them: `make docs`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from tests.unit.mistakes import Mistake, mistakes

PAGE = Path(__file__).with_name("errors.md")
HEAD = """\
<!-- written by `make docs` from the tests in tests/unit/mistakes -->

# Errors

The errors that sdy-opt prints for common mistakes, on a terminal of 100 columns. The first line has the
location and the message of the C++ tools. The excerpt underlines the mistake; a line with `-->` shows its
location, if that differs from the location in the first line. `help:` suggests a fix.

In a program with locations, the first line names the Python source, and `-->` the line of the .mlir file.
After a pass, that is the line of the operation that has this location in the input.

Excerpts are as wide as the terminal, and 100 columns in a file or pipe. On a terminal, the note with the
operation has at most three lines, and a very long message is shortened; elsewhere both are complete.

| flag | effect |
|---|---|
| `--max-diagnostic-op-lines=N` | print at most N lines of the operation, all for 0 |
| `--mlir-print-op-on-diagnostic=false` | do not print the operation |
| `--mlir-disable-diagnostic-notes` | do not print any notes |
| `--mlir-print-stacktrace-on-diagnostic` | print the Python stack trace of each diagnostic, and of a bug |
| `--color=always`, `--color=never` | print with or without colors, whether or not stderr is a terminal |

[diagnostics.md](diagnostics.md) describes the formats for tools. The folder `tests/unit/mistakes/programs/`
contains the programs, and more mistakes.
"""

# Section -> the mistakes in it, by name.
SECTIONS = {
    "Names": (
        "axis-mistyped",
        "mesh-mistyped",
        "mesh-missing",
        "operation-mistyped",
        "dialect-missing",
        "value-mistyped",
        "function-mistyped",
        "attribute-mistyped",
        "enum-mistyped",
    ),
    "Shardings": (
        "sharding-rank",
        "axis-twice",
        "sharding-without-prefix",
        "axis-without-quotes",
        "sub-axis-size",
        "mesh-device-count",
        "manual-local-shape",
        "collective-axes",
    ),
    "Types and shapes": ("result-type", "element-types", "dot-dimensions", "reshape-size", "return-type"),
    "Syntax": (
        "brace-missing",
        "string-unclosed",
        "type-mistyped",
        "type-missing",
        "boolean-in-python",
        "mesh-without-at",
        "input-is-jaxpr",
    ),
    "Programs with locations": ("python-location", "unknown-location"),
    "The command line": (
        "options-with-comma",
        "options-in-braces",
        "option-mistyped",
        "pipeline-anchor",
    ),
    "Plugins": ("plugin-missing", "plugin-crash"),
}


def page() -> str:
    """The text of the page."""
    by_name = {mistake.name.partition("-")[2]: mistake for mistake in mistakes()}
    parts = [HEAD]
    for section, names in SECTIONS.items():
        parts += [f"## {section}\n", *(_example(by_name[name]) for name in names)]
    return "\n".join(parts)


def _example(mistake: Mistake) -> str:
    return "\n".join(_lines(mistake))


def _lines(mistake: Mistake) -> Iterator[str]:
    yield f"{mistake.what}\n"
    yield "```console"
    yield f"$ {mistake.command}"
    # Editors remove spaces at the ends of lines.
    yield from (line.rstrip() for line in mistake.golden.read_text(encoding="utf-8").splitlines())
    yield "```\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
