"""Where operations are in the source, for programs whose statements have locations of their own.

The parser drops the offset of an operation that has a `loc(…)`. To find it, the source is parsed again, once
as it is and once without its trailing locations, which leaves offsets in their place. This happens only when
a diagnostic is shown, and at most once for a source.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from sdyopt.asm.lexical import STRING_EXTENT
from sdyopt.asm.parser.extent_scanner import location_extent
from sdyopt.asm.parser.module_parser import ParseOptions, parse_module
from sdyopt.diagnostics.diagnostic import DiagnosticError, handling
from sdyopt.diagnostics.location import FileLoc, Location
from sdyopt.diagnostics.source import Source
from sdyopt.ir.dialect import DialectTable
from sdyopt.ir.operation import Op

# A location that is not the value of an alias or attribute; the tokens that may contain `loc(` are skipped.
_LOCATION = re.compile(rf"{STRING_EXTENT}|//[^\r\n]*|=[ \t\r\n]*loc\b|\bloc[ \t\r\n]*\(")


class OpOffsets:
    """The offsets of the operations of a source, by their locations."""

    def __init__(self, source: Source, dialects: DialectTable, options: ParseOptions) -> None:
        self._by_location: dict[Location, list[tuple[Op, int]]] = {}
        plain = Source(source.name, without_locations(source.text))
        for op, bare in zip(
            _operations(source, dialects, options), _operations(plain, dialects, options), strict=False
        ):
            place = bare.location
            if (
                isinstance(place, FileLoc)
                and (offset := plain.offset_of(place.line, place.column)) is not None
            ):
                self._by_location.setdefault(op.location, []).append((op, offset))

    def find(self, location: Location, op: Op | None) -> int | None:
        """The offset of the operation with this location that resembles `op` most; None if there is none.

        After a pass, an operation is not what it was in the source, but has its location.
        """
        candidates = self._by_location.get(location, [])
        if op is None or not candidates:
            return candidates[0][1] if candidates else None
        return max(candidates, key=lambda candidate: _resemblance(candidate[0], op))[1]


def _resemblance(candidate: Op, op: Op) -> tuple[bool, ...]:
    """Larger for a better match; `max` takes the first of several equal ones."""
    return (
        candidate.signature.name == op.signature.name,
        candidate.signature is op.signature,
        candidate.attributes is op.attributes,
        candidate.inherent_attributes() is op.inherent_attributes(),
        _path(candidate) == _path(op),
    )


def _path(op: Op) -> list[int]:
    """The position of an operation in its block, and that of each enclosing operation."""
    path = []
    node: Op | None = op
    while node is not None:
        before, index = node.prev, 0
        while before is not None:
            before, index = before.prev, index + 1
        path.append(index)
        node = node.parent_op
    return path


def _operations(source: Source, dialects: DialectTable, options: ParseOptions) -> Iterator[Op]:
    with handling(lambda _: None):
        try:
            module, _ = parse_module(source, dialects, options)
        except DiagnosticError:
            return
    yield from module.walk()


def without_locations(text: str) -> str:
    """The text with blanks in place of trailing locations, so that offsets stay the same."""
    parts, position = [], 0
    for match in _LOCATION.finditer(text):
        if match.start() < position or not match[0].startswith("loc"):
            continue
        end = location_extent(text, match.start())
        parts += [text[position : match.start()], re.sub(r"[^\r\n]", " ", text[match.start() : end])]
        position = end
    return "".join([*parts, text[position:]])
