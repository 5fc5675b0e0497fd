"""What a failing lit test reports: the RUN line, the messages of its programs, and how to reproduce it."""

from __future__ import annotations

from pathlib import Path

from sdyopt.lit.directives import RunLine
from sdyopt.lit.shell import Result, Stage, render
from sdyopt.lit.tools import Tools

SHOWN_CHARACTERS = 4000


class CaseFailedError(Exception):
    """A command of a test failed; the message is the report."""


def failure(
    source: Path, line: RunLine, result: Result, pipelines: list[list[Stage]], tools: Tools, folder: str
) -> CaseFailedError:
    """The error that reports a failed command; `folder` is where it ran, "" for the working directory."""
    parts = [f"{source}:{line.line}: RUN: {line.command}", result.failures]
    for name, text in (("stderr", result.errors), ("stdout", result.output)):
        if text.strip():
            parts += ["", f"--- {name}", _shortened(text)]
    where = f" in {folder}" if folder else ""
    parts += ["", f"--- reproduce{where}", render(pipelines, tools.command_of)]
    return CaseFailedError("\n".join(parts))


def _shortened(text: str) -> str:
    rest = len(text) - SHOWN_CHARACTERS
    return text.rstrip("\n") if rest <= 0 else f"{text[:SHOWN_CHARACTERS]}\n… {rest} more characters"
