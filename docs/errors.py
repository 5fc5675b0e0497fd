"""Writes docs/errors.md, a selection of mistakes and the errors that sdy-opt prints for them: `make docs`."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType

import passes
import sdyopt.mlir
import sdyopt.shardy
from sdyopt.base.diagnostics.ids import ErrorKind
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

Excerpts are as wide as the terminal, and 100 columns in a file or pipe. On a terminal, and of a program
that is checked or reported, the note with the operation has at most three lines, and a very long message is
shortened; elsewhere both are complete, as in MLIR.

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

ALL = """\
## All errors with help

The messages of the parser, the verifier and passes that have help. Names in braces stand for what is
inserted. Errors in syntax have more hints, which depend on the text at the position.

| message | help |
|---|---|"""
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
    parts += [ALL, *_declared(), ""]
    return "\n".join(parts)


def _declared() -> Iterator[str]:
    """A row for each declared error that has help."""
    packages = (sdyopt.mlir, sdyopt.shardy, passes)
    # A folder of passes has no __init__.py.
    names = [name for package in packages for name in _modules(package)]
    values = [value for name in names for value in vars(import_module(name)).values()]
    kinds = {value.wording: value for value in values if isinstance(value, ErrorKind)}
    for wording, kind in sorted(kinds.items()):
        help = _cell(kind.help) or "a similar name, if there is one"
        if kind.help not in ("", "{help}") or kind.explain:
            yield f"| {_code(_cell(wording))} | {help} |"


def _modules(package: ModuleType) -> Iterator[str]:
    root = Path(package.__path__[0])
    for path in sorted(root.rglob("*.py")):
        if path.stem != "__init__":
            yield ".".join([package.__name__, *path.relative_to(root).with_suffix("").parts])


def _cell(template: str) -> str:
    """A template in a table, with braces as they are printed."""
    return template.replace("{{", "{").replace("}}", "}").replace("|", "\\|")


def _code(text: str) -> str:
    return f"`` {text} ``" if "`" in text else f"`{text}`"


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
