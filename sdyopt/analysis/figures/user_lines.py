"""The line of a call stack that a person would change.

A call stack of JAX often ends in a helper, such as a function that only adds a sharding constraint, or in a
library. There, one line stands for many places of the program, and what a person changes is a call of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cached_property

from sdyopt.analysis.figures.source_locations import Frame, SourceLocation, source_location
from sdyopt.base.diagnostics.location import without_offset
from sdyopt.mlir.dialects.func import CallOp
from sdyopt.mlir.dialects.stablehlo.slicing import SliceOp
from sdyopt.mlir.ir.operation import Op

# A function, by its file and name.
_Function = tuple[str, str]
SCRIPT = "<module>"
_LIBRARIES = ("/site-packages/", "/dist-packages/", "/lib/python3")


class UserLines:
    """The functions of the user's program, from the call stacks of all operations.

    `locations` is called when they are first needed.
    """

    def __init__(self, locations: Callable[[], Iterable[SourceLocation]]) -> None:
        self._locations = locations

    @staticmethod
    def of_module(module: Op) -> UserLines:
        """The functions of a module's program."""
        return UserLines(lambda: _locations(module))

    def chosen(self, location: SourceLocation) -> SourceLocation:
        """The location at the innermost frame that is neither in a library nor in a helper.

        If there is none, it is at the innermost frame outside of libraries.
        """
        if len(location.frames) < 2:
            return location
        own = [frame for frame in location.frames if not is_in_library(frame)]
        is_constraint = location.path.endswith("/sharding_constraint")
        for frame, caller in zip(own, [*own[1:], None], strict=True):
            function = _function(frame)
            # An operation may have been removed from the program whose lines are known.
            has_more_lines = len(self._lines.get(function, ())) > 1
            only_constrains = is_constraint and caller is not None and not has_more_lines
            if function not in self._helpers and not only_constrains:
                return location.at(frame)
        return location.at(own[0]) if own else location

    @property
    def _lines(self) -> dict[_Function, set[int]]:
        """The lines of each function."""
        return self._functions[0]

    @property
    def _helpers(self) -> set[_Function]:
        """The functions that more lines call than they have themselves.

        So the calls tell more apart than the lines inside do.
        """
        return self._functions[1]

    @cached_property
    def _functions(self) -> tuple[dict[_Function, set[int]], set[_Function]]:
        lines: dict[_Function, set[int]] = {}
        callers: dict[_Function, set[tuple[str, int]]] = {}
        for location in self._locations():
            outer: Iterable[Frame | None] = (*location.frames[1:], None)
            for frame, caller in zip(location.frames, outer, strict=False):
                function = _function(frame)
                lines.setdefault(function, set()).add(frame.line)
                # What runs a whole step is no part of it.
                if caller is not None and caller.function != SCRIPT and _function(caller) != function:
                    callers.setdefault(function, set()).add((caller.file, caller.line))
        helpers = {
            function
            for function, sites in callers.items()
            if function[1] and len(sites) > len(lines[function])
        }
        return lines, helpers


def _locations(module: Op) -> list[SourceLocation]:
    """The locations that the operations of a module state, each once."""
    locations = {without_offset(location) for location in {op.lazy_location for op in module.walk()}}
    return [source_location(location) for location in locations if location is not None]


def _function(frame: Frame) -> _Function:
    return frame.file, frame.function


def is_in_library(frame: Frame) -> bool:
    """Whether a frame is in an installed package, or in one of Python's."""
    return any(folder in frame.file for folder in _LIBRARIES)


def operation_text(op: Op) -> str:
    """What an operation is called for those who write JAX: `dot_general`, `call of f`, `slice [..., 2:4]`."""
    if isinstance(op, CallOp):
        return f"call of {op.callee}"
    if isinstance(op, SliceOp):
        # One line of Python, such as a split, makes several.
        return f"slice {_indices(op)}"
    name = op.signature.name.partition(".")[2] or op.signature.name
    return "with_sharding_constraint" if name == "sharding_constraint" else name


def _indices(op: SliceOp) -> str:
    sizes = op.signature[SliceOp.operand].shape
    indices = [
        ":" if (start, limit, stride) == (0, size, 1) else f"{start}:{limit}{f':{stride}' * (stride != 1)}"
        for start, limit, stride, size in zip(
            op.start_indices, op.limit_indices, op.strides, sizes, strict=True
        )
    ]
    full = next((number for number, index in enumerate(indices) if index != ":"), 0)
    return f"[{', '.join(['...'] * (full > 0) + indices[full:])}]"
