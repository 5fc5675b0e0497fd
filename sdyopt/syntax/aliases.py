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
from sdyopt.ir.attribute import Attribute, DictAttr, LocationAttr
from sdyopt.ir.nested import nested_attributes
from sdyopt.ir.operation import Op

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


def find_aliases(root: Op, with_locations: bool) -> Aliases:
    """The aliases that a printed program needs."""
    finder = _Finder()
    finder.op(root, with_locations)
    aliases = Aliases()
    counts: dict[str, int] = {}
    # Sorting keeps the order of meeting among those of one depth and name.
    for fact, met in sorted(finder.met.items(), key=lambda item: (item[1].depth, item[1].name)):
        number = counts.get(met.name, 0)
        counts[met.name] = number + 1
        aliases.texts[fact] = f"#{met.name}{number or ''}"
        (aliases.below if met.is_deferrable else aliases.above).append(fact)
    return aliases


class _Finder:
    """Walks a program in the order of printing."""

    def __init__(self) -> None:
        self.met: dict[Attribute | Location, _Met] = {}
        self._dictionaries: dict[DictAttr, bool] = {}

    def op(self, op: Op, with_locations: bool) -> None:
        if with_locations:
            self._location(op.location, is_deferrable=True)
        for held in (op.form.attributes, op.attributes):
            if held.entries and held not in self._dictionaries:
                self._dictionaries[held] = True
                self._attribute(held)
        for name in op.place_attributes:
            value = op.place_attribute(name)
            if value is not None:
                self._attribute(value)
        for region in op.regions:
            for block in region.blocks:
                if with_locations:
                    for argument in block.arguments:
                        self._location(argument.location, is_deferrable=False)
                for child in block.ops:
                    self.op(child, with_locations)

    def _attribute(self, attribute: Attribute) -> None:
        for inner in nested_attributes(attribute):
            if isinstance(inner, LocationAttr):
                self._location(inner.location, is_deferrable=False)
            elif type(inner) in _NAMES:
                self.met.setdefault(inner, _Met(_NAMES[type(inner)], is_deferrable=False))

    def _location(self, location: Location, is_deferrable: bool) -> None:
        known = self.met.get(location)
        if known is not None:
            if not is_deferrable:
                self._define_above(known)
            return
        met = self.met[location] = _Met("loc", is_deferrable)
        met.inner = list(_inner_locations(location))
        for inner in met.inner:
            if isinstance(inner, Location):
                self._location(inner, is_deferrable)
                met.depth = max(met.depth, self.met[inner].depth + 1)
            else:
                self._attribute(inner)

    def _define_above(self, met: _Met) -> None:
        if not met.is_deferrable:
            return
        met.is_deferrable = False
        for inner in met.inner:
            if inner in self.met:
                self._define_above(self.met[inner])


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
