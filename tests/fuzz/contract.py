"""What every run must hold: SECURITY.md states it for users. `problem_of` names what a run violates."""

import re
import traceback
from dataclasses import dataclass
from pathlib import Path

from sdyopt.base.diagnostics.text import printable

ROOT = Path(__file__).parents[2]
SECONDS = 10
BYTES = 1 << 30
OUT_OF_MEMORY = "out of memory"
OUT_OF_TIME = "out of time"
# Exit statuses: success, an error or a failed check, a usage error.
_SUCCESS, _WRONG_USAGE = 0, 2
_STATUSES = (_SUCCESS, 1, _WRONG_USAGE)
# The first line of an error with a location, or the position of its excerpt; LLVM's words for a location
# without a file start with `loc(`.
_LOCATED = re.compile(r"^(?:(?:.*:\d+:\d+|loc\(.*\)): |  --> .*:\d+:\d+$)", re.MULTILINE)
# Errors about the command line, which have no location in the input; the words are those of MLIR.
_ABOUT_FLAGS = re.compile(
    r"^(?:<unknown>:0|sdy-opt): error: (?:unexpected error: )?"
    r"(?:(?:for )?the --|Can't add pass '|Can't run '|Failed to lookup function: )",
    re.MULTILINE,
)
# What differs between inputs with the same problem.
_VARYING = re.compile(r"\"[^\"\n]*\"|'[^'\n]*'|`[^`\n]*`|\d+")


@dataclass(frozen=True)
class Outcome:
    """What a run did: its exit status, what it wrote for people, and whether it printed a program.

    `has_locations` is False if a pass removes all locations or the program has `loc(unknown)`. `crash` is the
    signature of an exception that left the command, or of a wrong result; empty without one. `output` is a
    result to be compared, and `verdict` says how the comparison ended.
    """

    status: int = 0
    errors: str = ""
    is_accepted: bool = False
    has_locations: bool = True
    crash: str = ""
    output: str = ""
    verdict: str = ""


def problem_of(outcome: Outcome) -> str:
    """The signature of what a run violates; empty if it holds the contract."""
    errors = outcome.errors
    if outcome.crash:
        return outcome.crash
    if outcome.status not in _STATUSES:
        return f"exit status {outcome.status}"
    if "internal error" in errors or "Traceback (most recent call last)" in errors:
        return f"internal error: {pattern(errors)}"
    if "error: " + OUT_OF_MEMORY in errors:
        return OUT_OF_MEMORY
    if printable(errors) != errors:
        line = next(line for line in errors.split("\n") if printable(line) != line)
        return f"control characters: {pattern(line)}"
    if (
        outcome.status == 1
        and outcome.has_locations
        and not (_LOCATED.search(errors) or _ABOUT_FLAGS.search(errors))
    ):
        return f"error without a location: {pattern(errors)}"
    return "" if outcome.status == _SUCCESS or errors else f"exit status {outcome.status} without a message"


def crash_signature(error: BaseException, kind: str = "") -> str:
    """The exception type, or `kind`, and the innermost frame in the project."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if _is_ours(frame.filename)]
    where = "unknown line"
    if frames:
        last = frames[-1]
        where = f"{Path(last.filename).relative_to(ROOT)}:{last.lineno} in {last.name}"
    return f"{kind or type(error).__name__} at {where}"


def _is_ours(filename: str) -> bool:
    path = Path(filename)
    return any(path.is_relative_to(ROOT / folder) for folder in ("sdyopt", "passes"))


def pattern(text: str) -> str:
    """The first error in a text, or its first line, without names and numbers."""
    lines = text.split("\n")
    line = next((line for line in lines if "error: " in line), lines[0])
    return printable(_VARYING.sub("…", line))[:100]
