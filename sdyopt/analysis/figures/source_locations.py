"""The line of the user's program that an operation comes from.

JAX writes `loc("jit(step)/transpose/dot_general"(callsite("attention"("model.py":12:4) at …)))`: the
outermost name is the name stack, the innermost file location the line.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import PurePath
from typing import NamedTuple

from sdyopt.base.diagnostics.location import FileLoc, FileRange, Location, NameLoc, resolve_file_location


class SourceLocation(NamedTuple):
    """A point in a file, and JAX's name stack; "" and 0 for what the location does not have."""

    file: str = ""
    line: int = 0
    column: int = 0
    name_stack: str = ""

    @property
    def path_text(self) -> str:
        """`models/attention.py:12`, or the name stack if there is no line."""
        return f"{self.file}:{self.line}" if self.line else self.name_stack

    @property
    def file_text(self) -> str:
        """`attention.py:12`, without folders, or the name stack if there is no line."""
        return f"{PurePath(self.file).name}:{self.line}" if self.line else self.name_stack


NO_LOCATION = SourceLocation()


# A report needs most locations more than once.
@lru_cache(maxsize=1 << 16)
def source_location(location: Location) -> SourceLocation:
    """The innermost line and the name stack of a location."""
    name_stack = next((part.name for part in location.walk() if isinstance(part, NameLoc)), "")
    point: FileLoc | FileRange | None = resolve_file_location(location)
    if point is None:
        return SourceLocation(name_stack=name_stack)
    return SourceLocation(point.file, point.line, point.column, name_stack)


@lru_cache(maxsize=1 << 16)
def code_of(location: Location) -> str:
    """`attention in model.py`: the innermost function and file, without the line, which moves often."""
    point = resolve_file_location(location)
    if point is None:
        return ""
    names = [part for part in location.walk() if isinstance(part, NameLoc)]
    # The outermost name is the name stack.
    function = next((part.name for part in names[1:] if part.child is point), "")
    return " in ".join(filter(None, [function, PurePath(point.file).name]))
