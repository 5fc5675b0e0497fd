"""The tokens of types, attributes and locations."""

from __future__ import annotations

import re
from typing import NamedTuple

from sdyopt.mlir.asm.lexical import (
    ATTRIBUTE_ID,
    BARE_ID,
    BLOCK_ID,
    FLOAT,
    INTEGER,
    INTEGER_TYPE,
    SSA_ID,
    STRING,
    STRING_EXTENT,
    SYMBOL,
    TRIVIA,
    TYPE_ID,
    UNCLOSED_EXTENT,
    UNCLOSED_STRING,
)
from sdyopt.mlir.asm.parser.extent_scanner import body_extent
from sdyopt.mlir.ir.floats import FLOAT_FORMATS


class Token(NamedTuple):
    """A kind (for punctuation and keywords the text itself), the text, and the span of the token.

    The text of a BODY is without its angle brackets.
    """

    kind: str
    text: str
    start: int
    end: int


class LexError(Exception):
    """The text at an offset is not a valid token."""

    def __init__(self, message: str, offset: int) -> None:
        super().__init__(message)
        self.message = message
        self.offset = offset


END = "end"
# Kinds of tokens that exist only where the grammar allows them.
CONTEXTUAL_KINDS = ("SHAPE", "VECTOR_SHAPE", "ELEMENTS", "BODY")

_TOKEN = re.compile(
    TRIVIA
    + rf"(?:(?P<WORD>{BARE_ID})"
    + rf"|(?P<FLOAT>{FLOAT})"
    + rf"|(?P<INTEGER>{INTEGER})"
    + rf"|(?P<STRING>{STRING})"
    + rf"|(?P<HASH>{ATTRIBUTE_ID})"
    + rf"|(?P<BANG>{TYPE_ID})"
    + rf"|(?P<SYMBOL>{SYMBOL})"
    + r"|(?P<PUNCTUATION>->|\.\.\.|\{-\#|\#-\}|[][(){}<>,:=?*+|/-])"
    + rf"|(?P<VALUE>{SSA_ID})"
    + rf"|(?P<BLOCK>{BLOCK_ID})"
    + r"|(?P<OTHER>[\s\S]))"
)
_INTEGER_TYPE = re.compile(INTEGER_TYPE)
_DIMENSION = rf"(?:\?|\d+){TRIVIA}x{TRIVIA}"
_PATTERNS = {
    "SHAPE": re.compile(rf"{TRIVIA}(?:\*(?:{TRIVIA}x{TRIVIA})?|(?:{_DIMENSION})*(?:\?|\d+)?)", re.ASCII),
    "VECTOR_SHAPE": re.compile(
        rf"{TRIVIA}(?:(?:\[{TRIVIA}\d+{TRIVIA}\]|\d+){TRIVIA}x{TRIVIA})*(?:\[{TRIVIA}\d*{TRIVIA}\]?|\d+)?",
        re.ASCII,
    ),
    # Not the type in `dense<tensor<2xi32> : …>`.
    "ELEMENTS": re.compile(
        TRIVIA + rf'(?!(?:tensor|vector|memref)\b|!)(?:[^<>"/!#{{}};]++|{STRING_EXTENT}|//[^\r\n]*)*+',
        re.ASCII,
    ),
}
_LEX_ERRORS = {
    '"': "expected '\"' in string literal",
    "@": "@ identifier expected to start with letter or '_'",
    "#": "invalid attribute name",
    "!": "invalid type identifier",
    "%": "invalid SSA name",
    "^": "invalid block name",
    ".": "expected three consecutive dots for an ellipsis",
}


def next_token(text: str, position: int, end: int, keywords: frozenset[str]) -> Token:
    """The first token after whitespace and comments at `position`; raises LexError."""
    match = _TOKEN.match(text, position, end)
    if match is None:
        return Token(END, "", *_span_of_end(text, end))
    kind = match.lastgroup
    assert kind is not None
    token = match[kind]
    start = match.start(kind)
    if kind == "WORD":
        kind = _word_kind(token, keywords)
    elif kind == "PUNCTUATION":
        kind = token
    elif kind == "OTHER":
        raise _lex_error(text, start)
    return Token(kind, token, start, match.end())


def contextual_token(kind: str, text: str, position: int, end: int) -> Token | None:
    """The token at `position` of a kind in CONTEXTUAL_KINDS; None if there is none. Raises LexError."""
    if kind == "BODY":
        if not text.startswith("<", position, end):
            return None
        stop = body_extent(text, position)
        if not position < stop <= end:
            raise _unbalanced(text, position)
        return Token(kind, text[position + 1 : stop - 1], position, stop)
    match = _PATTERNS[kind].match(text, position, end)
    return None if match is None else Token(kind, match[0], position, match.end())


def find_lexical_error(text: str, position: int) -> LexError | None:
    """The error of the token at `position`; None if it is valid."""
    try:
        next_token(text, position, len(text), frozenset())
    except LexError as error:
        return error
    return None


def _word_kind(word: str, keywords: frozenset[str]) -> str:
    if word in keywords:
        return word
    if word in FLOAT_FORMATS:
        return "FLOAT_TYPE"
    return "INTEGER_TYPE" if _INTEGER_TYPE.fullmatch(word) else "WORD"


def _span_of_end(text: str, end: int) -> tuple[int, int]:
    """The empty span at the start of the token after `end`."""
    match = re.compile(TRIVIA).match(text, end)
    start = end if match is None else match.end()
    return start, start


def _lex_error(text: str, start: int) -> LexError:
    character = text[start]
    if character == '"' or text.startswith('@"', start):
        return _string_error(text, start + (character == "@"))
    message = _LEX_ERRORS.get(character, "unexpected character")
    return LexError(message, start + (character in "@."))


def _string_error(text: str, start: int) -> LexError:
    """The error of the string literal that starts at a quote."""
    valid = re.compile(UNCLOSED_STRING).match(text, start)
    offset = len(text) if valid is None else valid.end()
    if text.startswith("\\", offset):
        return LexError("unknown escape in string literal", offset)
    return LexError("expected '\"' in string literal", offset)


def _unbalanced(text: str, position: int) -> LexError:
    """The error of the first unmatched bracket in a dialect's `<…>`, which starts at `position`.

    As in MLIR, its location is the last string literal before the bracket or, if there is none, `position`.
    If a string literal before the bracket is not closed, that is the error.
    """
    pairs, open_brackets, error_offset = {")": "(", "]": "[", "}": "{", ">": "<"}, [], position
    for match in re.finditer(rf'{UNCLOSED_EXTENT}(?P<end>")?|->|[][(){{}}<>]', text[position:]):
        bracket = match[0]
        if bracket in "([{<":
            open_brackets.append(bracket)
        elif bracket[0] == '"' and match["end"] is None:
            return _string_error(text, position + match.start())
        elif bracket[0] == '"':
            error_offset = position + match.start()
        elif bracket in pairs:
            if open_brackets[-1] != pairs[bracket]:
                break
            open_brackets.pop()
    return LexError(f"unbalanced '{open_brackets[-1]}' character in pretty dialect name", error_offset)
