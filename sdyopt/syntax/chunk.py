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
from sdyopt.syntax.extents import NAME, SPACE
from sdyopt.syntax.pieces import Pieces
from sdyopt.syntax.resources import Resources, parse_resources
from sdyopt.syntax.spell import Speller, plain_attribute

_ALIAS_NAME = re.compile(rf"([#!])(?!-\}})({NAME})", re.ASCII)
_LOCATION_ALIAS = re.compile(rf"loc{SPACE}\({SPACE}#({NAME})", re.ASCII)


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
        if cursor.text.startswith("{-#", start):
            parse_resources(cursor, self.resources, self.dialects)
            return True
        match = _ALIAS_NAME.match(cursor.text, start)
        if match is None:
            return False
        if match[1] == "#":
            self._define(self._attributes, "attribute", match, cursor, cursor.attribute)
        else:
            self._define(self._types, "type", match, cursor, cursor.type)
        return True

    def _define(
        self, table: dict[str, T], kind: str, match: re.Match[str], cursor: Cursor, read: Callable[[], T]
    ) -> None:
        name = match[2]
        if name in table:
            raise cursor.fault(f"redefinition of {kind} alias id '{name}'")
        if "." in name:
            raise cursor.fault(f"{kind} names with a '.' are reserved for dialect-defined names")
        cursor.position = match.end()
        cursor.expect("=", f" in {kind} alias definition")
        table[name] = read()

    def finish(self, end: Cursor) -> None:
        """Gives a location to all that named one before it was given."""
        for owner in self._deferred:
            waiting = owner._location
            assert isinstance(waiting, UnresolvedLocation)
            found = self._attributes.get(waiting.name)
            if found is None:
                raise end.fault("operation location alias was never defined", waiting.offset)
            owner.location = _as_location(found, end, waiting.offset)
        self._deferred.clear()

    # --- Locations ------------------------------------------------------------------------

    def location(self, cursor: Cursor) -> Location:
        """Reads `loc(…)`, the alias in which may be defined later."""
        cursor.skip()
        match = _LOCATION_ALIAS.match(cursor.text, cursor.position)
        if match is None or "." in match[1]:
            location = cursor.accept_location()
            assert location is not None
            return location
        cursor.position = match.end()
        location = self._alias_location(match[1], cursor, match.start(1) - 1)
        cursor.expect(")", " in location")
        return location

    def known_location(self, text: str, offset: int) -> Location | None:
        """The location of a text read before, or an alias; None if it needs a proper look.

        The offset of the text is remembered if the alias is still to be defined.
        """
        found = self._locations.get(text)
        if found is None:
            match = _LOCATION_ALIAS.fullmatch(text, 0, len(text) - 1)
            if match is not None and "." not in match[1]:
                alias = self._attributes.get(match[1])
                if alias is None:
                    found = UnresolvedLocation(match[1], offset + match.start(1) - 1)
                elif isinstance(alias, LocationAttr):
                    found = alias.location
                if found is not None:
                    self._locations[text] = found
        return found

    def defer(self, owner: Op | BlockArgument) -> None:
        """Notes an operation or argument whose location is still to be given."""
        if type(owner._location) is UnresolvedLocation:
            self._deferred.append(owner)

    def _alias_location(self, name: str, cursor: Cursor, offset: int) -> Location:
        found = self._attributes.get(name)
        return UnresolvedLocation(name, offset) if found is None else _as_location(found, cursor, offset)

    # --- What pieces ask for --------------------------------------------------------------

    def find_attribute_alias(self, name: str) -> Attribute | None:
        return self._attributes.get(name)

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


def _as_location(found: Attribute, cursor: Cursor, offset: int) -> Location:
    if not isinstance(found, LocationAttr):
        raise cursor.fault(f"expected location, but found '{plain_attribute(found)}'", offset)
    return found.location
