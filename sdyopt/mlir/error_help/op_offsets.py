"""Where operations are in the source, for programs whose statements have locations of their own.

The parser drops the offset of an operation that has a `loc(…)`. To find it, the source is parsed again, once
as it is and once without trailing locations, so that the location of each operation is its position. This
happens only when a diagnostic is shown, and at most once for a source.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from sdyopt.base.diagnostics.diagnostic import DiagnosticError, handling
from sdyopt.base.diagnostics.location import Location, UnknownLoc, resolve_file_location
from sdyopt.base.diagnostics.source import Source
from sdyopt.mlir.asm.lexical import STRING_EXTENT
from sdyopt.mlir.asm.parser.extent_scanner import location_extent
from sdyopt.mlir.asm.parser.module_parser import ParseOptions, parse_module
from sdyopt.mlir.ir.attribute import DictAttr
from sdyopt.mlir.ir.dialect import DialectTable
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.operation import Op

# The start of a trailing location; also matches what is no such location but may contain `loc(`: strings,
# comments, and a location that is the value of an alias or attribute.
_LOCATION = re.compile(rf"{STRING_EXTENT}?|//[^\r\n]*|=[ \t\r\n]*loc\b|\bloc[ \t\r\n]*\(")


class _Found(NamedTuple):
    """An operation of the source. `number` is its position in pre-order."""

    signature: OpSignature
    attributes: DictAttr
    offset: int
    number: int


class OpOffsets:
    """The offsets of the operations of a source, by their locations."""

    def __init__(self, source: Source, dialects: DialectTable, options: ParseOptions) -> None:
        self._by_location: dict[Location, list[_Found]] = {}
        plain = Source(source.name, without_locations(source.text))
        named, bare = (_operations(each, dialects, options) for each in (source, plain))
        for number, (op, twin) in enumerate(zip(named, bare, strict=False)):
            point = resolve_file_location(twin.location)
            offset = None if point is None else plain.offset_of(point.line, point.column)
            if offset is not None:
                self._by_location.setdefault(op.location, []).append(
                    _Found(op.signature, op.attributes, offset, number)
                )

    def find(self, location: Location, op: Op | None) -> int | None:
        """The offset of the operation with this location that resembles `op` most; None if there is none.

        A pass may change an operation but keeps its location. Many operations have an unknown location, so
        such an operation must have the same signature and discardable attributes as in the source.
        """
        found = self._by_location.get(location, [])
        if op is None or not found:
            return found[0].offset if found else None
        best = max(_resemblance(each, op) for each in found)
        similar = [each for each in found if _resemblance(each, op) == best]
        if isinstance(location, UnknownLoc) and not all(best):
            return None
        if len(similar) > 1:
            number = _number(op)
            similar = [each for each in similar if each.number == number] or similar
        return similar[0].offset


def _resemblance(found: _Found, op: Op) -> tuple[bool, ...]:
    """A tuple that is greater the more the two operations have in common."""
    return (
        found.signature.name == op.signature.name,
        found.signature is op.signature,
        found.attributes is op.attributes,
    )


def _number(op: Op) -> int:
    """The position of an operation in its module, in pre-order."""
    root = op
    while (parent := root.parent_op) is not None:
        root = parent
    return next(number for number, each in enumerate(root.walk()) if each is op)


def _operations(source: Source, dialects: DialectTable, options: ParseOptions) -> Iterator[Op]:
    with handling(lambda _: None):
        try:
            module, _ = parse_module(source, dialects, options)
        except DiagnosticError:
            return
    yield from module.walk()


def without_locations(text: str) -> str:
    """The text with spaces in place of trailing locations, so that offsets stay the same."""
    parts, position = [], 0
    for match in _LOCATION.finditer(text):
        if match.start() < position or not match[0].startswith("loc"):
            continue
        end = location_extent(text, match.start())
        parts += [text[position : match.start()], re.sub(r"[^\r\n]", " ", text[match.start() : end])]
        position = end
    return "".join([*parts, text[position:]])
