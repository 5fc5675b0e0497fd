"""Aliases: `#map`, `#set` and `#loc3` for affine maps, sets and locations.

Which get an alias, with what number, and whether it is defined above the program or below, follows
MLIR: facts are met in the order of printing; what others contain comes first; a location that is
only written behind operations may be defined below.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from sdyopt.diagnostics.location import (
    CallSite,
    FusedLoc,
    Location,
    NameLoc,
    OpaqueLoc,
    UnknownLoc,
)
from sdyopt.facts import Fact
from sdyopt.ir.affine import AffineMapAttr, IntegerSetAttr
from sdyopt.ir.attribute import Attribute, LocationAttr
from sdyopt.ir.nested import nested_attributes

_NAMES: dict[type, str] = {AffineMapAttr: "map", IntegerSetAttr: "set"}


@dataclass(slots=True)
class _Met:
    """What is known of a fact that gets an alias. `depth` is one more than that of what it contains."""

    name: str
    is_deferrable: bool
    depth: int = 1
    inner: list[Attribute | Location] = field(default_factory=list)


@dataclass
class Aliases:
    """The alias of each fact, and the facts defined above and below the program, in order."""

    texts: dict[Fact, str] = field(default_factory=dict)
    above: list[Attribute | Location] = field(default_factory=list)
    below: list[Attribute | Location] = field(default_factory=list)


class AliasFinder:
    """Is told what a program's text mentions, in order, and says which of it gets an alias."""

    def __init__(self) -> None:
        self._met: dict[Attribute | Location, _Met] = {}

    def aliases(self) -> Aliases:
        """The aliases of what has been met."""
        aliases = Aliases()
        counts: dict[str, int] = {}
        # Sorting keeps the order of meeting among those of one depth and name.
        for fact, met in sorted(self._met.items(), key=lambda item: (item[1].depth, item[1].name)):
            number = counts.get(met.name, 0)
            counts[met.name] = number + 1
            text = aliases.texts[fact] = f"#{met.name}{number or ''}"
            if isinstance(fact, Location):
                aliases.texts[LocationAttr(fact)] = text
            (aliases.below if met.is_deferrable else aliases.above).append(fact)
        return aliases

    def attribute(self, attribute: Attribute) -> None:
        """Meets an attribute and all inside it."""
        for inner in nested_attributes(attribute):
            if isinstance(inner, LocationAttr):
                self.location(inner.location, is_deferrable=False)
            elif type(inner) in _NAMES:
                self._met.setdefault(inner, _Met(_NAMES[type(inner)], is_deferrable=False))

    def location(self, location: Location, is_deferrable: bool) -> None:
        """Meets a location; one that may be deferred can be defined below the program."""
        known = self._met.get(location)
        if known is not None:
            if not is_deferrable:
                self._define_above(known)
            return
        met = self._met[location] = _Met("loc", is_deferrable)
        met.inner = list(_inner_locations(location))
        for inner in met.inner:
            if isinstance(inner, Location):
                self.location(inner, is_deferrable)
                met.depth = max(met.depth, self._met[inner].depth + 1)
            else:
                self.attribute(inner)

    def _define_above(self, met: _Met) -> None:
        if not met.is_deferrable:
            return
        met.is_deferrable = False
        for inner in met.inner:
            if inner in self._met:
                self._define_above(self._met[inner])


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
    elif isinstance(location, OpaqueLoc):
        yield location.fallback
