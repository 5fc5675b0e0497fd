"""Aliases: `#map`, `#set`, `#distinct` and `#loc3` for affine maps, sets, distinct attributes, locations.

Which get an alias, with what number, and whether it is defined above the program or below, follows
MLIR: facts are met in the order of printing; what others contain comes first; what is only written
in locations behind operations may be defined below.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from sdyopt.diagnostics.location import (
    CallSite,
    FusedLoc,
    Location,
    NameLoc,
    OpaqueLoc,
    UnknownLoc,
)
from sdyopt.interning import Interned
from sdyopt.ir.affine import AffineMapAttr, IntegerSetAttr
from sdyopt.ir.attribute import UNIT, Attribute, DistinctAttr, LocationAttr
from sdyopt.ir.sub_elements import immediate_sub_elements

_NAMES: dict[type, str] = {AffineMapAttr: "map", IntegerSetAttr: "set", DistinctAttr: "distinct"}


@dataclass(slots=True)
class _Met:
    """What is known of a fact. One without a name gets no alias, but may hold some that do.

    `depth` is how many facts stand in one another, from this one to the deepest with an alias.
    """

    name: str
    is_deferrable: bool
    depth: int = 0
    inner: Sequence[Interned] = ()


@dataclass
class Aliases:
    """The alias of each fact, and the facts defined above and below the program, in order."""

    texts: dict[Interned, str] = field(default_factory=dict)
    above: list[Attribute | Location] = field(default_factory=list)
    below: list[Attribute | Location] = field(default_factory=list)


class AliasFinder:
    """Is told what a program's text mentions, in order, and says which of it gets an alias."""

    def __init__(self) -> None:
        self._met: dict[Interned, _Met] = {}

    def aliases(self) -> Aliases:
        """The aliases of what has been met."""
        aliases = Aliases()
        counts: dict[str, int] = {}
        named = [(fact, met) for fact, met in self._met.items() if met.name]
        # Sorting keeps the order of meeting among those of one depth and name.
        for fact, met in sorted(named, key=lambda item: (item[1].depth, item[1].name)):
            number = counts.get(met.name, 0)
            counts[met.name] = number + 1
            text = aliases.texts[fact] = f"#{met.name}{number or ''}"
            if isinstance(fact, Location):
                aliases.texts[LocationAttr(fact)] = text
            assert isinstance(fact, Attribute | Location)
            (aliases.below if met.is_deferrable else aliases.above).append(fact)
        return aliases

    def meet(self, fact: Interned, is_deferrable: bool = False) -> int:
        """Meets a fact and all inside it. What may be deferred can be defined below the program."""
        if isinstance(fact, LocationAttr):
            fact = fact.location
        met = self._met.get(fact)
        if met is None:
            name = _name_of_alias(fact)
            met = self._met[fact] = _Met(name, is_deferrable)
            met.inner = _sub_elements(fact)
            deepest = max([self.meet(inner, is_deferrable) for inner in met.inner], default=0)
            met.depth = deepest + 1 if deepest or name else 0
        elif not is_deferrable:
            self._define_above(met)
        return met.depth

    def _define_above(self, met: _Met) -> None:
        if not met.is_deferrable:
            return
        met.is_deferrable = False
        for inner in met.inner:
            self._define_above(self._met[inner.location if isinstance(inner, LocationAttr) else inner])


def _name_of_alias(fact: Interned) -> str:
    """What the alias of a fact is called; empty if it gets none."""
    if isinstance(fact, Location):
        return "loc"
    is_bare = isinstance(fact, DistinctAttr) and fact.attribute is UNIT
    return "" if is_bare else _NAMES.get(type(fact), "")


def _sub_elements(fact: Interned) -> list[Interned]:
    """The facts directly inside, in the order of writing."""
    if isinstance(fact, Location):
        return list(_inner_locations(fact))
    assert isinstance(fact, Attribute)
    return list(immediate_sub_elements(fact))


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
