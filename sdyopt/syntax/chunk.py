"""What a source says about itself: aliases, resources, and locations named before they are given."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TypeVar

from sdyopt.diagnostics.diagnostic import DiagnosticError
from sdyopt.diagnostics.location import Location
from sdyopt.diagnostics.source import Source
from sdyopt.ir.attribute import Attribute, LocationAttr
from sdyopt.ir.dialect import DialectTable
from sdyopt.ir.operation import Op
from sdyopt.ir.types import Type
from sdyopt.ir.value import BlockArgument
from sdyopt.syntax.cursor import Cursor
from sdyopt.syntax.pieces import Pieces
from sdyopt.syntax.resources import Resources, parse_resources
from sdyopt.syntax.spell import Speller

_ALIAS_DEFINITION = re.compile(r"([#!])([A-Za-z_][\w$.-]*|\d+)\s*=\s*")
_LOCATION_ALIAS = re.compile(r"loc\(\s*#([\w$-]+)\s*\)")


T = TypeVar("T")


class UnresolvedLocation(Location):
    """`loc(#name)` where the alias has not been defined yet."""

    name: str
    offset: int


class Chunk:
    """Aliases and resources of one source, and its pieces, which may use them."""

    def __init__(self, source: Source, dialects: DialectTable, allow_unregistered: bool) -> None:
        self.source = source
        self.dialects = dialects
        self.allow_unregistered = allow_unregistered
        self.pieces = Pieces(source, self)
        self.resources = Resources()
        self.spell_type = Speller().type
        self._attributes: dict[str, Attribute] = {}
        self._types: dict[str, Type] = {}
        self._locations: dict[str, Location] = {}
        self._deferred: list[Op | BlockArgument] = []

    # --- Top level ------------------------------------------------------------------------

    def top_level(self, cursor: Cursor) -> bool:
        """Reads an alias definition or a resource section; False if none is next."""
        start = cursor.skip()
        match = _ALIAS_DEFINITION.match(cursor.text, start)
        if match is not None:
            cursor.position = match.end()
            if match[1] == "#":
                self._define(self._attributes, "attribute", match[2], start, cursor, cursor.attribute)
            else:
                self._define(self._types, "type", match[2], start, cursor, cursor.type)
            return True
        if cursor.text.startswith("{-#", start):
            parse_resources(cursor, self.resources)
            return True
        return False

    def _define(
        self, table: dict[str, T], kind: str, name: str, start: int, cursor: Cursor, read: Callable[[], T]
    ) -> None:
        if name in table:
            raise cursor.error(f"redefinition of {kind} alias id '{name}'", start)
        if "." in name:
            raise cursor.error(f"{kind} names with a '.' are reserved for dialect-defined names", start)
        table[name] = read()

    def finish(self) -> None:
        """Gives a location to all that named one before it was given."""
        for owner in self._deferred:
            waiting = owner._location
            assert isinstance(waiting, UnresolvedLocation)
            found = self._attributes.get(waiting.name)
            if found is None:
                raise DiagnosticError.at(
                    self.source.location(waiting.offset), "operation location alias was never defined"
                )
            owner.location = self._as_location(found, waiting.offset)
        self._deferred.clear()

    # --- Locations ------------------------------------------------------------------------

    def location(self, cursor: Cursor) -> Location:
        """Reads `loc(…)`, the alias in which may be defined later."""
        start = cursor.skip()
        match = _LOCATION_ALIAS.match(cursor.text, start)
        if match is None:
            location = cursor.accept_location()
            assert location is not None
            return location
        cursor.position = match.end()
        return self._alias_location(match[1], match.start(1) - 1)

    def known_location(self, text: str) -> Location | None:
        """The location of a text read before, or an alias; None if it needs a proper look."""
        found = self._locations.get(text)
        if found is None:
            match = _LOCATION_ALIAS.fullmatch(text)
            if match is not None and match[1] in self._attributes:
                found = self._locations[text] = self._alias_location(match[1], 0)
        return found

    def defer(self, owner: Op | BlockArgument) -> None:
        """Notes an operation or argument whose location is still to be given."""
        if type(owner._location) is UnresolvedLocation:
            self._deferred.append(owner)

    def _alias_location(self, name: str, offset: int) -> Location:
        found = self._attributes.get(name)
        return UnresolvedLocation(name, offset) if found is None else self._as_location(found, offset)

    def _as_location(self, found: Attribute | Location, offset: int) -> Location:
        if isinstance(found, LocationAttr):
            return found.location
        if not isinstance(found, Location):
            raise DiagnosticError.at(self.source.location(offset), "expected location, but found attribute")
        return found

    # --- What pieces ask for --------------------------------------------------------------

    def attribute_alias(self, name: str, offset: int) -> Attribute:
        found = self._attributes.get(name)
        if found is None:
            raise DiagnosticError.at(self.source.location(offset), f"undefined symbol alias id '{name}'")
        return found

    def type_alias(self, name: str, offset: int) -> Type:
        found = self._types.get(name)
        if found is None:
            raise DiagnosticError.at(self.source.location(offset), f"undefined symbol alias id '{name}'")
        return found
