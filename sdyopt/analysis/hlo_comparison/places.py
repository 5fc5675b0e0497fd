"""Where a collective is in the program, as the report and as XLA name it.

A *place* is what corresponding collectives have in common: the line, the name stack, the argument that is
moved, or the line of an operation that uses the result.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence

from sdyopt.analysis.figures.source_locations import SourceLocation
from sdyopt.analysis.hlo_comparison.collectives import CollectiveOperand

Feature = Callable[[CollectiveOperand], Iterable[Hashable]]


def _names(location: SourceLocation) -> list[str]:
    """The name stacks of an operation; those of merged operations are separated."""
    joint = [*location.name_stack.split(";"), location.path]
    return [name for name in dict.fromkeys(joint) if "/" in name]


def _ends(location: SourceLocation) -> list[str]:
    """The name stacks, and their ends: within a function, name stacks of a report start with it."""
    ends = []
    for name in _names(location):
        parts = name.split("/")
        ends += ["/".join(parts[start:]) for start in range(min(len(parts) - 1, _MAX_ENDS))]
    return ends


_MAX_ENDS = 12


def own_line(location: SourceLocation) -> list[Hashable]:
    """The line, with the pass of a training step: forward and backward are not the same place."""
    return [(location.file, location.line, name) for name in _passes(location) if location.line]


def call_lines(location: SourceLocation) -> list[Hashable]:
    """The lines of the call stack, with the pass."""
    lines = dict.fromkeys((frame.file, frame.line) for frame in location.frames)
    return [(*line, name) for line in lines for name in _passes(location)]


def _passes(location: SourceLocation) -> Sequence[str]:
    """The pass that an operation is of; all of them if its name stack is that of a function, or unknown."""
    path = location.path or location.name_stack
    if "rematted_computation" in path:
        return _PASSES[2:]
    if "transpose(" in path:
        return _PASSES[1:2]
    return _PASSES[:1] if "jit(" in path or "jvp(" in path else _PASSES


_PASSES = ("forward", "backward", "rematerialized")


def own_line_and_name(location: SourceLocation) -> list[Hashable]:
    return [(line, name) for line in own_line(location) for name in _names(location)]


def _line_and_end(location: SourceLocation) -> list[Hashable]:
    return [(line, name) for line in own_line(location) for name in _ends(location)]


def call_lines_and_name(location: SourceLocation) -> list[Hashable]:
    return [(line, name) for line in call_lines(location) for name in _ends(location)]


def _produced_at(operand: CollectiveOperand) -> tuple[SourceLocation, ...]:
    return () if operand.hlo is None else (operand.hlo.produced_at,)


def used_at(operand: CollectiveOperand) -> tuple[SourceLocation, ...]:
    return () if operand.hlo is None else operand.hlo.used_at


# What corresponding collectives have in common, of the report and of XLA, the strongest first.
PLACES: tuple[tuple[Feature, Feature], ...] = (
    (lambda ours: own_line_and_name(ours.location), lambda xla: _line_and_end(xla.location)),
    (lambda ours: own_line_and_name(ours.location), lambda xla: call_lines_and_name(xla.location)),
    (
        lambda ours: [(ours.moved, key) for key in own_line_and_name(ours.location) if ours.moved],
        lambda xla: [
            (xla.moved, key) for place in used_at(xla) for key in call_lines_and_name(place) if xla.moved
        ],
    ),
    (
        lambda ours: [(ours.moved, name) for name in _names(ours.location) if ours.moved],
        lambda xla: [(xla.moved, name) for place in used_at(xla) for name in _names(place) if xla.moved],
    ),
    (lambda ours: [ours.moved] if ours.moved else [], lambda xla: [xla.moved] if xla.moved else []),
    (
        lambda ours: own_line_and_name(ours.location),
        lambda xla: [key for place in used_at(xla) for key in call_lines_and_name(place)],
    ),
    (
        lambda ours: own_line_and_name(ours.location),
        lambda xla: [key for place in _produced_at(xla) for key in call_lines_and_name(place)],
    ),
    (
        # Many lines have one name stack, so it only decides where one of them has no line.
        lambda ours: [(name, bool(ours.location.line)) for name in _names(ours.location)],
        lambda xla: [
            (name, has_line)
            for name in _ends(xla.location)
            for has_line in ((False,) if xla.location.line else (False, True))
        ],
    ),
    (lambda ours: own_line(ours.location), lambda xla: own_line(xla.location)),
    (
        lambda ours: own_line(ours.location),
        lambda xla: [key for place in used_at(xla) for key in own_line(place)],
    ),
)
# Those above of one line or name stack of the operation itself, or of the one whose result it sends.
OWN_PLACES = (PLACES[0], PLACES[1], *PLACES[6:9])
ANY_PLACE: tuple[Feature, Feature] = (lambda ours: [()], lambda xla: [()])
# The same pass, and the same argument if XLA's is one.
SAME_PASS: tuple[Feature, Feature] = (
    lambda ours: [(name, moved) for name in _passes(ours.location) for moved in (ours.moved, "")],
    lambda xla: [(name, xla.moved) for name in _passes(xla.location)],
)


def has_place(operand: CollectiveOperand) -> bool:
    return bool(operand.location.line) or any(place.line for place in used_at(operand))


def place_of(operand: CollectiveOperand) -> SourceLocation:
    """The location of a collective; if XLA lost it, that of what makes its operand, or uses its result."""
    others = (*_produced_at(operand), *used_at(operand))
    return next((place for place in (operand.location, *others) if place.line), operand.location)


def name_is_of(ours: CollectiveOperand, xla: CollectiveOperand) -> bool:
    """Whether one of the report is of an operation of the line and the name stack of XLA's."""
    return not set(own_line_and_name(ours.location)).isdisjoint(_line_and_end(xla.location))
