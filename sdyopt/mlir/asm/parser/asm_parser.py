"""The parser that dialects and assembly formats use.

Each parse method first skips whitespace and comments. Those named `accept…` parse something only if it is
next; the others raise a located `DiagnosticError` with MLIR's message if it is not. Types, attributes and
locations are parsed by an `AttributeTextParser`, which caches them by their text.
"""

from __future__ import annotations

from collections.abc import Callable
from struct import unpack
from typing import Protocol, TypeVar, cast

from sdyopt.base.diagnostics.diagnostic import DiagnosticError
from sdyopt.base.diagnostics.ids import ErrorKind
from sdyopt.base.diagnostics.location import Location, Source
from sdyopt.base.patterns import constant_pattern
from sdyopt.mlir.asm.lexical import (
    BARE_ID,
    FLOAT,
    INTEGER,
    STRING,
    TRIVIA,
    attribute_extent,
    find_lexical_error,
    location_extent,
    type_extent,
    unescape,
)
from sdyopt.mlir.ir.attribute import Attribute, DictAttr
from sdyopt.mlir.ir.types import Type

WRONG_KEYWORD = ErrorKind("expected {what} to be one of: {names}", explain="keyword")
WRONG_ENUM = ErrorKind(
    "expected string or keyword containing one of the following enum values for attribute '{attribute}' "
    "[{names}]",
    explain="keyword",
)

T = TypeVar("T")

LEADING_TRIVIA = constant_pattern(TRIVIA)
_TRIVIA_STARTS = " \t\r\n/"
KEYWORD = constant_pattern(f"{TRIVIA}({BARE_ID})")
STRING_LITERAL = constant_pattern(f"{TRIVIA}({STRING})")
_INTEGER = constant_pattern(f"{TRIVIA}(-?){TRIVIA}({INTEGER})")
_FLOAT = constant_pattern(f"{TRIVIA}(-?{FLOAT})")
_SYMBOL = constant_pattern(f"{TRIVIA}@(?:({BARE_ID})|({STRING}))")
# The maximum length of an integer literal, which is checked before it is converted.
MAX_DIGITS = 100


class AttributeTextParser(Protocol):
    """Parses the text of one type, attribute or location; `offset` is its position in the source."""

    def type(self, text: str, offset: int) -> Type: ...
    def plain_type(self, text: str) -> Type | None: ...
    def attribute(self, text: str, offset: int, expected_type: Type | None = None) -> Attribute: ...
    def dictionary(self, text: str, offset: int) -> DictAttr: ...
    def dictionary_at(self, offset: int) -> tuple[DictAttr, int] | None: ...
    def location(self, text: str, offset: int) -> Location: ...


class AsmParser:
    """Parses tokens, literals, types, attributes and locations from a position in a source."""

    __slots__ = ("attribute_parser", "position", "source", "text")

    def __init__(self, source: Source, attribute_parser: AttributeTextParser, position: int = 0) -> None:
        self.source = source
        self.text = source.text
        self.attribute_parser = attribute_parser
        self.position = position

    # --- Punctuation and keywords -----------------------------------------------------

    def skip_trivia(self) -> int:
        """Moves to the next token and returns its offset."""
        position = self.position
        if self.text[position : position + 1] in _TRIVIA_STARTS:
            match = LEADING_TRIVIA.match(self.text, position)
            assert match is not None
            self.position = position = match.end()
        return position

    def looking_at(self, token: str) -> bool:
        """Whether the next token is `token`, punctuation or a keyword."""
        return self._end_of(token) >= 0

    def accept(self, token: str) -> bool:
        """Parses `token`, punctuation or a keyword, if it is next; returns whether it was."""
        end = self._end_of(token)
        if end < 0:
            return False
        self.position = end
        return True

    def _end_of(self, token: str) -> int:
        """The end of `token` if it is next, else -1."""
        text, start = self.text, self.position
        if text[start : start + 1] in _TRIVIA_STARTS:
            trivia = LEADING_TRIVIA.match(text, start)
            assert trivia is not None
            start = trivia.end()
        if not text.startswith(token, start):
            return -1
        end = start + len(token)
        if token in _LONGER_TOKEN:
            return -1 if text.startswith(_LONGER_TOKEN[token], end) else end
        if token[-1] in _WORD_CHARACTERS and text[end : end + 1] in _WORD_CHARACTERS:
            return -1
        return end

    def expect(self, token: str, context: str = "") -> None:
        """Parses `token`, or raises "expected 'token'" followed by the context."""
        if not self.accept(token):
            is_word = token[0].isalpha() or token[0] == "_"
            fail = self.error_at_next_token if is_word else self.wrong_token_error
            raise fail(f"expected '{token}'{context}")

    @property
    def at_end(self) -> bool:
        return self.skip_trivia() >= len(self.text)

    def accept_keyword(self) -> str | None:
        """Parses a keyword (any bare identifier) if one is next."""
        match = KEYWORD.match(self.text, self.position)
        if match is None:
            return None
        self.position = match.end()
        return match[1]

    def keyword(self, context: str = "") -> str:
        """Parses a keyword, or raises "expected valid keyword"."""
        keyword = self.accept_keyword()
        if keyword is None:
            raise self.error_at_next_token(f"expected valid keyword{context}")
        return keyword

    # --- Literals -----------------------------------------------------------------------

    def accept_integer(self) -> int | None:
        """Parses a decimal or hexadecimal integer if one is next.

        As in MLIR, `true` and `false` are signed one-bit integers: -1 and 0.
        """
        match = _INTEGER.match(self.text, self.position)
        if match is None:
            return -1 if self.accept("true") else 0 if self.accept("false") else None
        if len(match[2]) > MAX_DIGITS:
            raise self.error("integer value too large", match.start(2))
        self.position = match.end()
        value = int(match[2], 0) if match[2][:2] == "0x" else int(match[2])
        return -value if match[1] else value

    def integer(self, bits: int = 64) -> int:
        """Parses a signed `bits`-bit integer, or raises an error, such as "expected integer value"."""
        offset = self.skip_trivia()
        value = self.accept_integer()
        if value is None:
            raise self.error_at_next_token("expected integer value")
        if not -(1 << (bits - 1)) <= value < 1 << (bits - 1):
            raise self.error("integer value too large", offset)
        return value

    def floating(self) -> float:
        """Parses a floating point literal, or the hexadecimal bits of an `f64`."""
        match = _FLOAT.match(self.text, self.position)
        if match is not None:
            self.position = match.end()
            return float(match[1])
        match = _INTEGER.match(self.text, self.position)
        if match is None:
            raise self.error_at_next_token("expected floating point literal")
        if match[2][:2] != "0x":
            error = self.error_at_next_token("unexpected decimal integer literal for a floating point value")
            raise error.note("add a trailing dot to make the literal a float")
        if match[1]:
            raise self.error_at_next_token("hexadecimal float literal should not have a leading minus")
        if len(match[2]) > 18:
            raise self.error_at_next_token("hexadecimal float constant out of range for type")
        self.position = match.end()
        (value,) = unpack("<d", int(match[2], 16).to_bytes(8, "little"))
        return cast(float, value)

    def accept_string(self) -> str | None:
        """Parses a string literal if one is next, and returns its value."""
        match = STRING_LITERAL.match(self.text, self.position)
        if match is None:
            return None
        self.position = match.end()
        return unescape(match[1][1:-1])

    def string(self) -> str:
        """Parses a string literal, or raises "expected string"."""
        value = self.accept_string()
        if value is None:
            raise self.error_at_next_token("expected string")
        return value

    def accept_symbol(self) -> str | None:
        """Parses `@name` if it is next, and returns the name."""
        match = _SYMBOL.match(self.text, self.position)
        if match is None:
            return None
        self.position = match.end()
        return match[1] if match[1] is not None else unescape(match[2][1:-1])

    def symbol(self) -> str:
        """Parses `@name`, or raises MLIR's error for a symbol name."""
        name = self.accept_symbol()
        if name is None:
            error = self.error_at_next_token("expected valid '@'-identifier for symbol name")
            raise error.help("write the name of a symbol with `@`: `@name`")
        return name

    # --- Types, attributes, locations -------------------------------------------------

    def type(self) -> Type:
        """Parses a type."""
        start = self.skip_trivia()
        end = type_extent(self.text, start)
        if end <= start:
            raise self.wrong_token_error("expected non-function type")
        self.position = end
        return self.attribute_parser.type(self.text[start:end], start)

    def attribute(self, expected_type: Type | None = None) -> Attribute:
        """Parses an attribute; with an `expected_type`, the text has no type of its own."""
        start = self.skip_trivia()
        end = attribute_extent(self.text, start, takes_type=expected_type is None)
        if end <= start:
            raise self.wrong_token_error("expected attribute value")
        self.position = end
        return self.attribute_parser.attribute(self.text[start:end], start, expected_type)

    def accept_dictionary(self) -> DictAttr | None:
        """Parses `{name = value, …}` if a brace is next."""
        start = self.skip_trivia()
        if not self.text.startswith("{", start) or not self.looking_at("{"):
            return None
        parsed = self.attribute_parser.dictionary_at(start)
        if parsed is not None:
            attributes, self.position = parsed
            return attributes
        end = self.position = attribute_extent(self.text, start)
        return self.attribute_parser.dictionary(self.text[start:end], start)

    def accept_location(self) -> Location | None:
        """Parses `loc(…)` if it is next."""
        start = self.skip_trivia()
        if not self.looking_at("loc"):
            return None
        end = self.position = location_extent(self.text, start)
        return self.attribute_parser.location(self.text[start:end], start)

    # --- Lists ------------------------------------------------------------------------------

    def comma_list(
        self, item: Callable[[], T], open: str = "", close: str = "", context: str = ""
    ) -> list[T]:
        """Parses a comma-separated list, which may be empty if it is in brackets; `item` parses one item."""
        items: list[T] = []
        if open:
            self.expect(open, context)
            if self.accept(close):
                return items
        items.append(item())
        while True:
            # Mostly, a comma is next, without trivia before it.
            if self.text.startswith(",", self.position):
                self.position += 1
            elif not self.accept(","):
                break
            items.append(item())
        if close:
            self.expect(close, context)
        return items

    # --- Errors -----------------------------------------------------------------------------

    def error(self, message: str, offset: int | None = None) -> DiagnosticError:
        """An error at an offset or, by default, at the next token."""
        return self.unprefixed_error(message, offset)

    def unprefixed_error(self, message: str, offset: int | None = None) -> DiagnosticError:
        """An error without the operation's name before it, at an offset or at the next token.

        If the next token is invalid, the error is the lexer's: MLIR's parser is one token ahead.
        """
        following = self.skip_trivia()
        lexical_error = find_lexical_error(self.text, following)
        if lexical_error is not None:
            return DiagnosticError.at(self.source.location(lexical_error.offset), lexical_error.message)
        start = self._clamped(following) if offset is None else offset
        return DiagnosticError.at(self.source.location(start), message)

    def error_and_lexical_error(self, message: str, offset: int) -> DiagnosticError:
        """An error about parsed text, preceded by the lexer's error if the next token is invalid."""
        error = DiagnosticError.at(self.source.location(offset), message)
        lexical_error = find_lexical_error(self.text, self.skip_trivia())
        if lexical_error is not None:
            return DiagnosticError.at(self.source.location(lexical_error.offset), lexical_error.message).then(
                error
            )
        return error

    def error_at_next_token(self, message: str) -> DiagnosticError:
        """An error at the next token, which should have been a certain keyword or literal."""
        return self.error(message, self.skip_trivia())

    def wrong_token_error(self, message: str) -> DiagnosticError:
        """An error about the next token, which is not what is expected.

        As in MLIR, its location is the end of the previous token, which may be some lines before the next.
        """
        following = self._clamped(self.skip_trivia())
        return self.unprefixed_error(message, end_of_previous(self.text, following))

    def _clamped(self, offset: int) -> int:
        """The offset of an error: `offset`, or that of the last character if it is the end of the text."""
        return min(offset, max(0, len(self.text) - 1))


# Punctuation -> the text that makes it a longer token if it follows.
_LONGER_TOKEN = {"{": "-#", "-": ">"}
_WORD_CHARACTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_$.")


def end_of_previous(text: str, offset: int) -> int:
    """The end of the last token before `offset`; `offset` if there is none."""
    end = offset
    while True:
        while end > 0 and text[end - 1] in " \t":
            end -= 1
        if end == 0:
            return offset
        if text[end - 1] not in "\r\n":
            return end
        end -= 1
        line_start = max(text.rfind("\n", 0, end), text.rfind("\r", 0, end)) + 1
        comment = text.find("//", line_start, end)
        if comment >= 0:
            end = comment
