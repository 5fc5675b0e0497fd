"""The tokens of one statement in the source, without those of nested regions, and where statements start.

Diagnostics have the position of a statement. Attributes and types in it have none, because equal ones are the
same object; they are found by their text.

The parser drops the offset of an operation that has a `loc(…)`. To find it, the source is parsed again with a
record of the offsets. This happens only when a diagnostic is shown, and at most once for a source.
"""

from __future__ import annotations

import re
from contextlib import suppress
from functools import cached_property

from sdyopt.base.dataclasses import NamedTuple
from sdyopt.base.diagnostics.diagnostic import DiagnosticError, handling
from sdyopt.base.diagnostics.location import Location, Source, UnknownLoc
from sdyopt.mlir.asm.lexical import (
    BARE_ID,
    END,
    STRING_EXTENT,
    SUFFIX_ID,
    TRIVIA,
    LexError,
    Token,
    next_token,
)
from sdyopt.mlir.asm.parser.module_parser import ParseOptions, parse_module
from sdyopt.mlir.asm.parser.ssa_scope import ParseRecord
from sdyopt.mlir.ir.attribute import DictAttr
from sdyopt.mlir.ir.dialect import DialectTable
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.operation import Op

_CLOSING = {"(": ")", "[": "]", "{": "}", "<": ">"}
_NO_KEYWORDS: frozenset[str] = frozenset()
# What follows the opening brace of a region; an attribute dictionary or a list of axes has other contents.
_REGION_START = re.compile(
    rf"{TRIVIA}(?:%|\^{SUFFIX_ID}|{STRING_EXTENT}{TRIVIA}\(|[A-Za-z_]\w*\.[\w.$]++(?!{TRIVIA}[=,}}])"
    rf"|{BARE_ID}{TRIVIA}[%@])"
)
# A statement continues on the next line if its last token before the line break is in _CONTINUES_BEFORE, or
# the first token after it in _CONTINUES_AFTER.
_CONTINUES_BEFORE = frozenset({":", "->", ",", "=", "attributes", "to", "x"})
_CONTINUES_AFTER = frozenset({":", "->", ",", "=", "{", "(", "[", "<", "attributes", "loc"})


class Span(NamedTuple):
    """A range of tokens; `end` is exclusive."""

    first: int
    end: int


class Statement:
    """The statement that starts at an offset of a text, cut at the offset `limit`.

    It includes further statements on the line where it ends.
    """

    def __init__(self, text: str, offset: int, limit: int | None = None) -> None:
        self.text = text
        self._limit = len(text) if limit is None else min(limit, len(text))
        self.tokens: list[Token] = []
        # Opening bracket -> closing bracket, as indices of tokens.
        self.closing: dict[int, int] = {}
        # The number of open brackets around each token.
        self.depths: list[int] = []
        # The items in each bracket that was asked for, by its opening.
        self._items: dict[int, list[Span]] = {}
        # The offset at which reading ended.
        self.end = self._read(offset)

    @property
    def whole(self) -> Span:
        return Span(0, len(self.tokens))

    def offsets(self, span: Span) -> tuple[int, int]:
        """The start and end of a span in the text."""
        return self.tokens[span.first].start, self.tokens[span.end - 1].end

    # --- Finding ------------------------------------------------------------------------------

    def find_all(self, text: str, within: Span) -> list[Span]:
        """The occurrences of a text, compared token by token."""
        wanted = tokens_of(text)
        if not wanted:
            return []
        size, tokens = len(wanted), self.tokens
        return [
            Span(index, index + size)
            for index in self._indices.get(wanted[0], ())
            if within.first <= index <= within.end - size
            and [t.text for t in tokens[index : index + size]] == wanted
        ]

    @cached_property
    def _indices(self) -> dict[str, list[int]]:
        """The indices of the tokens with each text."""
        positions: dict[str, list[int]] = {}
        for index, token in enumerate(self.tokens):
            positions.setdefault(token.text, []).append(index)
        return positions

    def items(self, opening: int) -> list[Span]:
        """The comma-separated items in the bracket that opens at a token."""
        if opening not in self._items:
            self._items[opening] = self._split_items(opening)
        return self._items[opening]

    def _split_items(self, opening: int) -> list[Span]:
        closing = self.closing.get(opening)
        if closing is None or closing == opening + 1:
            return []
        depth, spans, first = self.depths[opening] + 1, [], opening + 1
        for index in range(opening + 1, closing):
            if self.tokens[index].text == "," and self.depths[index] == depth:
                spans.append(Span(first, index))
                first = index + 1
        return [*spans, Span(first, closing)]

    def index_of(self, text: str, within: Span, depth: int | None = None) -> int | None:
        """The index of the first token with this text, at this depth if one is given."""
        for index in range(within.first, within.end):
            if self.tokens[index].text == text and depth in (None, self.depths[index]):
                return index
        return None

    # --- Reading ------------------------------------------------------------------------------

    def _read(self, position: int) -> int:
        open_brackets: list[int] = []
        text, limit = self.text, self._limit
        while True:
            try:
                token = next_token(text, position, limit, _NO_KEYWORDS)
            except LexError:
                return position
            if token.kind == END or (not open_brackets and self._is_after(token, position)):
                return position
            if token.kind == "{" and _REGION_START.match(text, token.end):
                position = _end_of_region(text, token.end, limit)
                continue
            if token.kind in _CLOSING.values() and not self._close(token.kind, open_brackets):
                return position
            self.depths.append(len(open_brackets))
            if token.kind in _CLOSING:
                open_brackets.append(len(self.tokens))
            self.tokens.append(token)
            position = token.end

    def _close(self, bracket: str, open_brackets: list[int]) -> bool:
        """Closes the innermost open bracket of this kind and those in it; False if there is none."""
        while open_brackets:
            opening = open_brackets.pop()
            if _CLOSING[self.tokens[opening].kind] == bracket:
                self.closing[opening] = len(self.tokens)
                return True
        return False

    def _is_after(self, token: Token, position: int) -> bool:
        """Whether a token, outside of brackets, belongs to the next statement."""
        if not self.tokens or not re.search(r"[\r\n]", self.text[position : token.start]):
            return False
        return self.tokens[-1].text not in _CONTINUES_BEFORE and token.text not in _CONTINUES_AFTER


def tokens_of(text: str) -> list[str]:
    """The texts of the tokens of a text; empty if it has invalid ones."""
    names: list[str] = []
    position = 0
    while True:
        try:
            token = next_token(text, position, len(text), _NO_KEYWORDS)
        except LexError:
            return []
        if token.kind == END:
            return names
        names.append(token.text)
        position = token.end


_BRACE = re.compile(rf"{STRING_EXTENT}?|//[^\r\n]*|[{{}}]")


def _end_of_region(text: str, position: int, limit: int) -> int:
    """The offset after the region whose opening brace is before `position`; `limit` if it ends later."""
    depth = 1
    for match in _BRACE.finditer(text, position, limit):
        depth += {"{": 1, "}": -1}.get(match[0], 0)
        if depth == 0:
            return match.end()
    return limit


class _WrittenOp(NamedTuple):
    """An operation of the source. `number` is its position in pre-order."""

    signature: OpSignature
    attributes: DictAttr
    offset: int
    number: int

    def resemblance(self, op: Op) -> tuple[bool, ...]:
        """A tuple that is greater the more the two operations have in common."""
        return (
            self.signature.name == op.signature.name,
            self.signature is op.signature,
            self.attributes is op.attributes,
        )


class OpOffsets:
    """The offsets of the operations of a source, by their locations."""

    def __init__(self, source: Source, dialects: DialectTable, options: ParseOptions) -> None:
        self._by_location: dict[Location, list[_WrittenOp]] = {}
        record = ParseRecord()
        with handling(lambda _: None), suppress(DiagnosticError):
            module, _ = parse_module(source, dialects, options, record)
            for number, op in enumerate(module.walk()):
                if (offset := record.offsets.get(op)) is not None:
                    parsed = _WrittenOp(op.signature, op.attributes, offset, number)
                    self._by_location.setdefault(op.location, []).append(parsed)

    def find(self, location: Location, op: Op | None) -> int | None:
        """The offset of the operation with this location that resembles `op` most; None if there is none.

        A pass may change an operation but keeps its location. Many operations have an unknown location, so
        such an operation must have the same signature and discardable attributes as in the source.
        """
        candidates = self._by_location.get(location, [])
        if op is None or not candidates:
            return candidates[0].offset if candidates else None
        best = max(candidate.resemblance(op) for candidate in candidates)
        similar = [candidate for candidate in candidates if candidate.resemblance(op) == best]
        if isinstance(location, UnknownLoc) and not all(best):
            return None
        if len(similar) > 1:
            number = _number(op)
            similar = [candidate for candidate in similar if candidate.number == number] or similar
        return similar[0].offset


def _number(op: Op) -> int:
    """The position of an operation in its module, in pre-order."""
    root = op
    while (parent := root.parent_op) is not None:
        root = parent
    return next(number for number, other in enumerate(root.walk()) if other is op)
