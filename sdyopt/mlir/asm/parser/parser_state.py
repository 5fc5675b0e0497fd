"""The state of parsing one source: aliases, resources, locations, and the templates of its statements.

Templates of one-line statements are keyed by their text without SSA names and trailing location. A training
step of 36,000 operations has about a hundred distinct statements. The first one is parsed in full and stored
as a template; equal ones are built from it with one regular expression and one lookup. There is a template
only for a statement that is alone on its line and has no successors or written regions, and in which each SSA
name is one result group or one operand, so that the template and the full parser build the same operation. A
constant is also built from the template of one with another value.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, TypeVar, cast

from sdyopt.base.dataclasses import NamedTuple
from sdyopt.base.diagnostics.diagnostic import DiagnosticError
from sdyopt.base.diagnostics.ids import ErrorKind
from sdyopt.base.diagnostics.location import Location, Source
from sdyopt.base.patterns import constant_pattern
from sdyopt.mlir.asm.lexical import ATTRIBUTE_ID, SSA_ID, SUFFIX_ID, TRIVIA, TYPE_ID
from sdyopt.mlir.asm.parser.asm_parser import AsmParser
from sdyopt.mlir.asm.parser.attributes import AttributeParser
from sdyopt.mlir.asm.printer.attribute_printer import plain_attribute, plain_type
from sdyopt.mlir.asm.resources import Resources, parse_resources
from sdyopt.mlir.ir.attribute import Attribute, DictAttr, LocationAttr
from sdyopt.mlir.ir.block import Block
from sdyopt.mlir.ir.builtin_attributes import DenseElements
from sdyopt.mlir.ir.dialect import DialectTable
from sdyopt.mlir.ir.op_signature import EQUALLY_VALID, OpSignature
from sdyopt.mlir.ir.operation import Op, build, build_at_offset
from sdyopt.mlir.ir.types import Type
from sdyopt.mlir.ir.value import BlockArgument, LazyLocation, Value

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


# Splits a line into text, name, text, name, …, text.
NAMES = constant_pattern(rf"({SSA_ID}(?:#[0-9]+)?)")

# Elements of a tensor type.
_CONSTANT = constant_pattern(r'dense<[^<>"/\n]*> : tensor<[^<>"/\n]*>')

# A longer line, such as that of a big constant, has no template: few are equal, and each would be stored.
MAX_TEMPLATE_LENGTH = 50_000


def key_of(parts: list[str]) -> str:
    """The common text of statements that differ only in names. `parts` are a line that `NAMES` has split.

    A line break stands for each name: no text has one, while a lone `%` may be in a text.
    """
    return "\n".join(parts[::2])


class StatementTemplate:
    """What statements of equal form have in common, except for their signature, names and location.

    - `groups`: the number of results of each name before `=`.
    - `order`: for each operand the index of its name among those after `=`; None if they are in order.
    - `location_offset`: the offset of the operation's location, counted from the end of the last name before
      `=` or, without one, from the start of the statement.
    - `add_implied_regions`: adds the regions that the assembly implies; None if there are none.
    - `is_simple`: whether there is one result, no implied region, and the operands are in order, so that
      `build_at_offset` can build the operation.
    """

    __slots__ = (
        "add_implied_regions",
        "attributes",
        "groups",
        "is_simple",
        "location_offset",
        "order",
    )

    def __init__(
        self,
        attributes: DictAttr,
        groups: tuple[int, ...],
        order: tuple[int, ...] | None,
        location_offset: int,
        add_implied_regions: Callable[[Op], None] | None,
        is_simple: bool,
    ) -> None:
        self.attributes = attributes
        self.groups = groups
        self.order = order
        self.location_offset = location_offset
        self.add_implied_regions = add_implied_regions
        self.is_simple = is_simple


# A statement without its names and location.
Statement = tuple[StatementTemplate, OpSignature]


def split_location(line: str) -> tuple[str, str]:
    """A line without its trailing `loc(…)`, and the text of that location, empty if there is none."""
    if line.endswith(")"):
        at = line.rfind(" loc(")
        if at >= 0:
            return line[:at], line[at + 1 :]
    return line, ""


def template_of(
    op: Op,
    line: str,
    line_offset: int,
    groups: tuple[int, ...],
    operand_offsets: list[int],
    location_offset: int,
    add_implied_regions: Callable[[Op], None] | None,
) -> Statement | None:
    """The template of a parsed statement, None if there can be none.

    `line` is the statement without its location. All offsets are from the start of the source.
    """
    if (
        (op.regions and add_implied_regions is None)
        or op.successors
        or len(operand_offsets) != len(op.operand_uses)
    ):
        return None
    names = [match.span() for match in NAMES.finditer(line)]
    offsets = [start + line_offset for start, _ in names[len(groups) :]]
    if sorted(operand_offsets) != offsets:
        return None
    positions = {offset: position for position, offset in enumerate(offsets)}
    order = tuple(positions[offset] for offset in operand_offsets)
    is_in_order = order == tuple(range(len(order)))
    relative_offset = location_offset - line_offset - (names[len(groups) - 1][1] if groups else 0)
    is_simple = groups == (1,) and is_in_order and add_implied_regions is None and op.set_up is None
    template = StatementTemplate(
        op.attributes,
        groups,
        None if is_in_order else order,
        relative_offset,
        add_implied_regions,
        is_simple,
    )
    return template, op.signature


class ConstantText(NamedTuple):
    """The text of a constant: its literal with the type, and a key that constants share."""

    key: str
    literal: str


def split_value(key: str) -> ConstantText | None:
    """Splits the key of a statement that ends with an elements literal; None for others."""
    start = key.rfind("dense<")
    if start < 0 or _CONSTANT.fullmatch(key, start) is None:
        return None
    # No program has a NUL character.
    return ConstantText(f"{key[:start]}\0", key[start:])


def is_constant(signature: OpSignature, literal: DenseElements | None) -> bool:
    """Whether this literal is the value of the statement, and nothing but the result type depends on it."""
    assembly = signature.op_class.assembly
    return (
        literal is not None
        and assembly is not None
        and assembly.is_constant
        and signature.attributes.entries == (("value", literal),)
        and signature.result_types == (literal.type,)
    )


def with_value(signature: OpSignature, value: DenseElements) -> OpSignature:
    """The signature of the same constant with another value, which may have another type."""
    attributes, types = DictAttr((("value", value),)), (value.type,)
    other = OpSignature(signature.op_class, signature.name, attributes, (), types)
    is_first = EQUALLY_VALID not in signature.cache and other is not signature
    if is_first and types == signature.result_types:
        other.cache[EQUALLY_VALID] = signature
    return other


def build_from_template(
    statement: Statement, names: list[str], values: dict[str, Value], location: LazyLocation
) -> Op | None:
    """The operation of a template with these names.

    None if the statement must be parsed in full: an operand is undefined or of another type, or a result
    is already defined.
    """
    template, signature = statement
    groups = template.groups
    if len(groups) == 1:
        if names[0] in values:
            return None
        names = names[1:]
    elif groups:
        count = len(groups)
        if not values.keys().isdisjoint(names[:count]):
            return None
        names = names[count:]
    if template.order is not None:
        names = [names[i] for i in template.order]
    try:
        operands = [values[name] for name in names]
    except KeyError:
        return None
    # Types are interned, so this compares tuples of pointers.
    if tuple([operand.type for operand in operands]) != signature.operand_types:
        return None
    return build(signature, operands, template.attributes, location)


def build_simple(
    statement: Statement,
    names: list[str],
    values: dict[str, Value],
    source: Source,
    offset: int,
    block: Block,
) -> Op | None:
    """As `build_from_template`, for a simple template, whose operands have these names.

    The operation is appended to `block`.
    """
    template, signature = statement
    operands = []
    # An explicit `strict` would take time. There are as many names as types.
    for name, type in zip(names, signature.operand_types):  # noqa: B905
        value = values.get(name)
        if value is None or value.type is not type:
            return None
        operands.append(value)
    return build_at_offset(signature, operands, template.attributes, source, offset, block)
