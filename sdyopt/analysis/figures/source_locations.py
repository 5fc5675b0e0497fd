"""The lines of the user's program that an operation comes from.

JAX writes `loc("jit(step)/transpose(jvp())/attention/dot_general"(callsite("attend"("a.py":12:4) at …)))`:
the outermost name is the name stack, and the file locations are the frames of the call stack, the innermost
first.
"""

from __future__ import annotations

from enum import StrEnum
from functools import lru_cache
from pathlib import PurePath

from sdyopt.base.dataclasses import NamedTuple
from sdyopt.base.diagnostics.location import (
    FileLoc,
    FileRange,
    FusedLoc,
    Location,
    NameLoc,
    resolve_file_location,
)
from sdyopt.base.patterns import constant_pattern


class Phase(StrEnum):
    """The part of a training step that an operation belongs to, by JAX's name stack.

    What is computed from gradients, outside of functions that are differentiated, is the update. The part is
    unknown without a name stack, and for what is in a function whose calls have none.
    """

    FORWARD = "forward"
    BACKWARD = "backward"
    REMATERIALIZED = "rematerialized"
    UPDATE = "update"
    UNKNOWN = "unknown"


# The parts that compute gradients.
GRADIENTS = (Phase.BACKWARD, Phase.REMATERIALIZED)


class Frame(NamedTuple):
    """A line of the call stack, and the function that it is in; "" if that is unknown."""

    function: str
    file: str
    line: int
    column: int


class SourceLocation(NamedTuple):
    """A point in a file, and JAX's name stack; "" and 0 for what the location does not have.

    `frames` are the call stack of the point, which is the first of them. `path` are the name stacks of the
    operation and of the calls around it, the outermost first. Name stacks do not tell the update from the
    forward pass, so that `is_update` is found out otherwise.
    """

    file: str = ""
    line: int = 0
    column: int = 0
    name_stack: str = ""
    frames: tuple[Frame, ...] = ()
    path: str = ""
    is_update: bool = False

    @property
    def path_text(self) -> str:
        """`models/attention.py:12`, or the name stack if there is no line."""
        return f"{self.file}:{self.line}" if self.line else self.name_stack

    @property
    def file_text(self) -> str:
        """`attention.py:12`, without folders, or the name stack if there is no line."""
        return f"{PurePath(self.file).name}:{self.line}" if self.line else self.name_stack

    @property
    def phase(self) -> Phase:
        """The part of a training step."""
        if self.is_update:
            return Phase.UPDATE
        path = self.path or self.name_stack
        if "rematted_computation" in path:
            return Phase.REMATERIALIZED
        if "transpose(" in path:
            return Phase.BACKWARD
        return Phase.FORWARD if _IS_TRACED.search(path) else Phase.UNKNOWN

    @property
    def is_differentiated(self) -> bool:
        """Whether the operation is of a function that is differentiated, in its forward or backward pass."""
        path = self.path or self.name_stack
        return "jvp(" in path or "transpose(" in path or "rematted_computation" in path

    @property
    def scope(self) -> str:
        """`decoder/attention`: the named scopes and modules; "" outside of any."""
        return _scope(self.path or self.name_stack)

    def at(self, frame: Frame) -> SourceLocation:
        """The same operation, located at a line of its call stack."""
        return self._replace(file=frame.file, line=frame.line, column=frame.column)


NO_LOCATION = SourceLocation()


# A report needs most locations more than once.
@lru_cache(maxsize=1 << 16)
def source_location(location: Location) -> SourceLocation:
    """The innermost line and the name stack of a location."""
    name_stack = next((part.name for part in location.walk() if isinstance(part, NameLoc)), "")
    point: FileLoc | FileRange | None = resolve_file_location(location)
    frames, names = _frames(location)
    path = "/".join(reversed(names))
    if point is None:
        return SourceLocation(name_stack=name_stack, path=path)
    return SourceLocation(point.file, point.line, point.column, name_stack, frames, path)


# JAX keeps at most 10 frames of a call stack by default, and inlining adds those of calls.
_MAX_FRAMES = 64


def _frames(location: Location) -> tuple[tuple[Frame, ...], list[str]]:
    """The frames of a location, the innermost first and each once, and the names that are not functions."""
    frames: dict[Frame, None] = {}
    names: list[str] = []
    pending, visited = [location], set[Location]()
    while pending and len(frames) < _MAX_FRAMES:
        part = pending.pop()
        if part in visited:
            continue
        visited.add(part)
        if isinstance(part, NameLoc) and isinstance(child := part.child, FileLoc | FileRange):
            frames[Frame(part.name, child.file, child.line, child.column)] = None
        elif isinstance(part, FileLoc | FileRange):
            frames[Frame("", part.file, part.line, part.column)] = None
        else:
            if isinstance(part, NameLoc):
                names.append(part.name)
            # The other locations of a fused one are not callers of the first.
            children = part.children[:1] if isinstance(part, FusedLoc) else part.children
            pending.extend(reversed(children))
    return tuple(frames), names


# The name stack of a traced program starts with what traced it, or has a transformation.
_IS_TRACED = constant_pattern(r"\b(?:jit|pjit|pmap|jvp|vmap)\(")
# What JAX puts around the names of scopes, and between them.
_TRANSFORMATION = constant_pattern(r"(?:jvp|transpose|vmap|remat|checkpoint|custom_jvp|custom_vjp)\(")
_STRUCTURE = constant_pattern(
    r"(?:while|body|cond|scan|eval_jaxpr|closed_call|core_call|remat2?|checkpoint|rematted_computation|jit|pjit|"
    r"shard_map|custom_[jv][a-z]*_call|branch_\d+_fun|jit\(.*|[^/]*->.*|[^/]*:|)"
)


@lru_cache(maxsize=1 << 16)
def _scope(path: str) -> str:
    """The scopes in a name stack, without the operation at its end."""
    names: list[str] = []
    for part in path.split("/")[:-1]:
        while (match := _TRANSFORMATION.match(part)) is not None:
            part = part[match.end() :].removesuffix(")")
        if not _STRUCTURE.fullmatch(part):
            names.append(part)
    return "/".join(names)


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
