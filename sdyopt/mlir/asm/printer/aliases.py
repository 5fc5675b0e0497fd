"""Aliases: `#map`, `#set`, `#distinct`, `#loc3` and `!tuple`, of attributes, locations and long tuple types.

Which attributes get an alias, its number, and whether it is defined before or after the module follow
MLIR: attributes are visited in the order of printing, nested ones get their alias first, and those
used only in trailing locations are deferred to the end.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sdyopt.base.dataclasses import dataclass, field
from sdyopt.base.diagnostics.location import (
    CallSite,
    FusedLoc,
    Location,
    NameLoc,
    UnknownLoc,
)
from sdyopt.base.interning import Interned
from sdyopt.mlir.ir.affine import AffineMapAttr, IntegerSetAttr
from sdyopt.mlir.ir.attribute import UNIT, Attribute, DistinctAttr, LocationAttr, immediate_sub_elements
from sdyopt.mlir.ir.types import TupleType, Type

# The largest number of elements of a tuple type without an alias.
MAX_UNNAMED_TUPLE = 16

_NAMES: dict[type, str] = {AffineMapAttr: "map", IntegerSetAttr: "set", DistinctAttr: "distinct"}


@dataclass(slots=True)
class _Visited:
    """A visited attribute. Without a name it gets no alias, but attributes nested in it may.

    `depth` is 0 if neither the attribute nor one nested in it gets an alias, otherwise one more than the
    largest depth of its sub-elements, or 1 without these.
    """

    name: str
    is_deferrable: bool
    depth: int = 0
    inner: Sequence[Interned] = ()


@dataclass
class Aliases:
    """Alias texts, and the attributes whose aliases are defined before and after the module, in order."""

    texts: dict[Interned, str] = field(default_factory=dict)
    before_module: list[Attribute | Location] = field(default_factory=list)
    after_module: list[Attribute | Location] = field(default_factory=list)


class AliasFinder:
    """Visits the attributes of a program in the order of printing and assigns aliases."""

    def __init__(self) -> None:
        self._visited: dict[Interned, _Visited] = {}

    def aliases(self) -> Aliases:
        """The aliases of the visited attributes."""
        aliases = Aliases()
        counts: dict[str, int] = {}
        named = [(element, visited) for element, visited in self._visited.items() if visited.name]
        # The sort is stable: attributes of the same depth and name are in the order of their visits.
        for element, visited in sorted(named, key=_alias_order):
            number = counts.get(visited.name, 0)
            counts[visited.name] = number + 1
            sigil = "!" if isinstance(element, Type) else "#"
            text = aliases.texts[element] = f"{sigil}{visited.name}{number or ''}"
            if isinstance(element, Location):
                aliases.texts[LocationAttr(element)] = text
            assert isinstance(element, Attribute | Location)
            (aliases.after_module if visited.is_deferrable else aliases.before_module).append(element)
        return aliases

    def visit(self, element: Interned, is_deferrable: bool = False) -> int:
        """Visits an attribute and its sub-elements; returns its depth.

        The alias of an attribute is defined after the module if `is_deferrable` is set at all its visits.
        """
        if isinstance(element, LocationAttr):
            element = element.location
        visited = self._visited.get(element)
        if visited is None:
            name = _name_of_alias(element)
            visited = self._visited[element] = _Visited(name, is_deferrable)
            visited.inner = _sub_elements(element)
            deepest = max([self.visit(inner, is_deferrable) for inner in visited.inner], default=0)
            visited.depth = deepest + 1 if deepest or name else 0
        elif not is_deferrable:
            self._define_before_module(visited)
        return visited.depth

    def _define_before_module(self, visited: _Visited) -> None:
        if not visited.is_deferrable:
            return
        visited.is_deferrable = False
        for inner in visited.inner:
            self._define_before_module(
                self._visited[inner.location if isinstance(inner, LocationAttr) else inner]
            )


def _alias_order(item: tuple[Interned, _Visited]) -> tuple[int, bool, str]:
    element, visited = item
    return visited.depth, not isinstance(element, Type), visited.name


def _name_of_alias(element: Interned) -> str:
    """The alias name of an attribute, empty if it gets none."""
    if isinstance(element, Location):
        return "loc"
    if isinstance(element, TupleType):
        return "tuple" if len(element.types) > MAX_UNNAMED_TUPLE else ""
    is_bare = isinstance(element, DistinctAttr) and element.attribute is UNIT
    return "" if is_bare else _NAMES.get(type(element), "")


def _sub_elements(element: Interned) -> list[Interned]:
    """The direct sub-elements, in the order of printing."""
    if isinstance(element, Location):
        return list(_inner_locations(element))
    assert isinstance(element, Attribute)
    return list(immediate_sub_elements(element))


def _inner_locations(location: Location) -> Iterator[Attribute | Location]:
    if isinstance(location, NameLoc):
        if not isinstance(location.child, UnknownLoc):
            yield location.child
    elif isinstance(location, CallSite):
        yield location.callee
        yield location.caller
    elif isinstance(location, FusedLoc):
        if isinstance(location.metadata, Attribute):
            yield location.metadata
        yield from location.locations
