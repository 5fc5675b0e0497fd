"""A remark, and its text as mlir-opt prints it.

[Passed] axis-propagated | Category:propagation | Function=main | Axis="x", Dimension=0, Value=%0
"""

from __future__ import annotations

from enum import Enum
from typing import Final, NamedTuple

from sdyopt.base.diagnostics.location import Location

PROPAGATION: Final = "propagation"
ANNOTATION: Final = "annotation"
RESHARD: Final = "reshard"

CATEGORIES = (ANNOTATION, PROPAGATION, RESHARD)

# A value that contains one of these is quoted.
_QUOTED = frozenset(" ,{}")


class Kind(Enum):
    """The kind of a remark, as text and YAML spell it."""

    PASSED = "Passed"
    MISSED = "Missed"
    ANALYSIS = "Analysis"
    FAILED = "Failure"


class Remark(NamedTuple):
    """One decision of a pass. `arguments` are names and values."""

    kind: Kind
    category: str
    name: str
    function: str
    location: Location
    arguments: tuple[tuple[str, str], ...]


def remark_text(remark: Remark) -> str:
    """The remark on one line, its arguments sorted by name."""
    parts = [f"[{remark.kind.value}] {remark.name}", f"Category:{remark.category}"]
    if remark.function:
        parts.append(f"Function={remark.function}")
    arguments = [f"{name}={_quoted(value)}" for name, value in sorted(remark.arguments)]
    return " | ".join([*parts, ", ".join(arguments)])


def _quoted(value: str) -> str:
    return f'"{value}"' if _QUOTED.intersection(value) else value
