"""The state of parsing one source: aliases, resources, and locations whose alias is not yet defined."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, TypeVar, cast

from sdyopt.base.diagnostics.diagnostic import DiagnosticError
from sdyopt.base.diagnostics.ids import ErrorKind
from sdyopt.base.diagnostics.location import Location, Source
from sdyopt.base.patterns import constant_pattern
from sdyopt.mlir.asm.lexical import ATTRIBUTE_ID, SUFFIX_ID, TRIVIA, TYPE_ID
from sdyopt.mlir.asm.parser.asm_parser import AsmParser
from sdyopt.mlir.asm.parser.attributes import AttributeParser
from sdyopt.mlir.asm.printer.attribute_printer import plain_attribute, plain_type
from sdyopt.mlir.asm.resources import Resources, parse_resources
from sdyopt.mlir.ir.attribute import Attribute, LocationAttr
from sdyopt.mlir.ir.dialect import DialectTable
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.types import Type
from sdyopt.mlir.ir.value import BlockArgument

_UNDEFINED_ALIAS = ErrorKind("undefined symbol alias id '{name}'", explain="alias")

_ALIAS_NAME = constant_pattern(f"{ATTRIBUTE_ID}|{TYPE_ID}")
# The definition of a location, on a line of its own.
_LOCATION_DEFINITION = constant_pattern(rf"#({SUFFIX_ID}) = (loc\([^\n]*\))(?=\n)")
_LOCATION_ALIAS = constant_pattern(rf"loc{TRIVIA}\({TRIVIA}#({SUFFIX_ID})")

T = TypeVar("T")


class UnresolvedLocation(Location):
    """`loc(#name)` before the alias is defined; `owners` have this location. It is not interned."""

    __slots__ = ("name", "offset", "owners")

    name: str
    offset: int
    owners: list[Op | BlockArgument]

    __setattr__ = object.__setattr__  # type: ignore[assignment]


class ParserState:
    """Aliases and resources of one source, and its attribute parser, which looks them up."""

    def __init__(self, source: Source, dialects: DialectTable, allow_unregistered: bool) -> None:
        self.source = source
        self.dialects = dialects
        self.allow_unregistered = allow_unregistered
        self.attribute_parser = AttributeParser(source, self)
        self.resources = Resources()
        self.type_text = plain_type
        self._attributes: dict[str, Attribute] = {}
        self._types: dict[str, Type] = {}
        # The aliases of locations; there may be as many as operations.
        self._location_aliases: dict[str, Location] = {}
        # By their text.
        self.locations: dict[str, Location] = {}
        self._unresolved: list[UnresolvedLocation] = []

    # --- Top level ------------------------------------------------------------------------

    def accept_alias_or_resources(self, parser: AsmParser) -> bool:
        """Parses an alias definition or a resource section; False if none is next."""
        start = parser.skip_trivia()
        if parser.text.startswith("{-#", start):
            parse_resources(parser, self.resources, self.dialects)
            return True
        if (match := _LOCATION_DEFINITION.match(parser.text, start)) and self._define_location(
            *match.groups()
        ):
            parser.position = match.end()
            return True
        match = _ALIAS_NAME.match(parser.text, start)
        if match is None:
            return False
        if match[0].startswith("#"):
            self._define(self._attributes, "attribute", match, parser, parser.attribute)
        else:
            self._define(self._types, "type", match, parser, parser.type)
        return True

    def _define_location(self, name: str, text: str) -> bool:
        """Defines the alias of a location whose text does not need the grammar; False for any other."""
        location = None
        if name not in self._attributes and name not in self._location_aliases and "." not in name:
            location = self.attribute_parser.plain_location(text)
        if location is not None:
            self._location_aliases[name] = location
        return location is not None

    def _define(
        self, table: dict[str, T], kind: str, match: re.Match[str], parser: AsmParser, parse: Callable[[], T]
    ) -> None:
        name = match[0][1:]
        if name in table or (kind == "attribute" and name in self._location_aliases):
            raise parser.unprefixed_error(f"redefinition of {kind} alias id '{name}'")
        if "." in name:
            raise parser.unprefixed_error(f"{kind} names with a '.' are reserved for dialect-defined names")
        parser.position = match.end()
        parser.expect("=", f" in {kind} alias definition")
        table[name] = parse()

    def finish(self, parser: AsmParser) -> None:
        """Resolves the locations that were used before their alias was defined, at the end of the source."""
        for unresolved in self._unresolved:
            location = self._location_of(unresolved.name, parser, unresolved.offset)
            if location is None:
                raise parser.unprefixed_error("operation location alias was never defined", unresolved.offset)
            for owner in unresolved.owners:
                owner._location = location
        self._unresolved.clear()

    # --- Locations ------------------------------------------------------------------------

    def location(self, parser: AsmParser) -> Location:
        """Parses `loc(…)`, whose alias may be defined later."""
        parser.skip_trivia()
        match = _LOCATION_ALIAS.match(parser.text, parser.position)
        if match is None or "." in match[1]:
            location = parser.accept_location()
            assert location is not None
            return location
        parser.position = match.end()
        location = self._alias_location(match[1], parser, match.start(1) - 1)
        parser.expect(")", " in location")
        return location

    def cached_location(self, text: str, offset: int) -> Location | None:
        """The location of a text `loc(#alias)`; None if the text must be parsed.

        If the alias is not yet defined, the location has the offset of its first use.
        """
        location = self.locations.get(text)
        if location is None:
            match = _LOCATION_ALIAS.fullmatch(text, 0, len(text) - 1)
            if match is not None and "." not in match[1]:
                alias = self.find_attribute_alias(match[1])
                if alias is None:
                    location = _unresolved(match[1], offset + match.start(1) - 1)
                elif isinstance(alias, LocationAttr):
                    location = alias.location
                if location is not None:
                    self.locations[text] = location
        return location

    def defer(self, owner: Op | BlockArgument) -> None:
        """Adds an operation or argument to those that `finish` resolves, if its location is unresolved."""
        location = owner._location
        if type(location) is UnresolvedLocation:
            if not location.owners:
                self._unresolved.append(location)
            location.owners.append(owner)

    def _alias_location(self, name: str, parser: AsmParser, offset: int) -> Location:
        return self._location_of(name, parser, offset) or _unresolved(name, offset)

    def _location_of(self, name: str, parser: AsmParser, offset: int) -> Location | None:
        """The location of an alias that is used at an offset; None if it is not defined."""
        location = self._location_aliases.get(name)
        if location is None and (attribute := self._attributes.get(name)) is not None:
            if not isinstance(attribute, LocationAttr):
                message = f"expected location, but found '{plain_attribute(attribute)}'"
                raise parser.unprefixed_error(message, offset)
            location = attribute.location
        return location

    # --- Aliases --------------------------------------------------------------

    def find_attribute_alias(self, name: str) -> Attribute | None:
        location = self._location_aliases.get(name)
        return self._attributes.get(name) if location is None else LocationAttr(location)

    def attribute_alias(self, name: str, offset: int) -> Attribute:
        if name in self._location_aliases:
            return LocationAttr(self._location_aliases[name])
        return self._alias(self._attributes, name, offset)

    def type_alias(self, name: str, offset: int) -> Type:
        return self._alias(self._types, name, offset)

    def _alias(self, table: dict[str, T], name: str, offset: int) -> T:
        if name not in table:
            raise DiagnosticError.at(self.source.location(offset), _UNDEFINED_ALIAS(name=name))
        return table[name]


def _unresolved(name: str, offset: int) -> UnresolvedLocation:
    location: Any = object.__new__(UnresolvedLocation)
    location.name, location.offset, location.owners = name, offset, []
    return cast(UnresolvedLocation, location)
