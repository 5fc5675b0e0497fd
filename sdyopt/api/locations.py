"""Source locations as plain data."""

from __future__ import annotations

from dataclasses import dataclass

from sdyopt.analysis.figures.source_locations import SourceLocation, source_location
from sdyopt.asm.printer.attribute_printer import AttributePrinter
from sdyopt.diagnostics import location as ir


@dataclass(frozen=True, slots=True)
class Location:
    """A source location. `str` is MLIR's `loc(…)`.

    `file`, `line` and `column` are the innermost position in a file, such as the line of the Python program
    that JAX has lowered; `name` is the outermost name, such as JAX's name stack. Unknown fields are empty or
    0.
    """

    text: str
    file: str = ""
    line: int = 0
    column: int = 0
    name: str = ""

    @property
    def short(self) -> str:
        """`model.py:12`, or `name` if the line is unknown."""
        return f"{self.file}:{self.line}" if self.line else self.name

    def __str__(self) -> str:
        return self.text


def from_source(location: SourceLocation) -> Location:
    """The data of a location in a report."""
    file, line, column, name = location
    inner = ir.FileLoc(file, line, column) if line else ir.UnknownLoc()
    return location_of(ir.NameLoc(name, inner) if name else inner)


def location_of(location: ir.Location) -> Location:
    """The data of a location in the IR."""
    return Location(AttributePrinter().location(location), *source_location(location))
