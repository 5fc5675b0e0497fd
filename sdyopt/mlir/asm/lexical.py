r"""MLIR's lexical grammar: fragments of regular expressions, escapes, and the tokens of types and attributes.

The lexer, the parsers and the printers build their patterns from these. No fragment has a capturing group or
depends on a flag (`\w` and `\d` would).

To look up a text in a cache, the parser needs its end before it parses it. The scan takes linear time and
recognizes strings and comments. With unbalanced brackets the extent is the rest of the text, in which the
parser then finds the error.
"""

from __future__ import annotations

import re

from sdyopt.base.dataclasses import NamedTuple
from sdyopt.base.patterns import constant_pattern
from sdyopt.mlir.ir.floats import FLOAT_FORMATS

# Whitespace alone, and whitespace with comments.
WHITESPACE = r"[ \t\r\n]*"
COMMENT = r"//[^\r\n]*"
TRIVIA = rf"(?:[ \t\r\n]|{COMMENT})*+"

# bare-id: keywords, operation names, attribute names, symbols.
BARE_ID = r"[A-Za-z_][A-Za-z0-9_$.]*"
# suffix-id: follows `%`, `^`, `#` or `!`.
SUFFIX_ID = r"(?:[0-9]+|[A-Za-z$._-][A-Za-z0-9_$.-]*)"
SSA_ID = rf"%{SUFFIX_ID}"
BLOCK_ID = rf"\^{SUFFIX_ID}"
# `#-}` closes a resource section and is not an attribute.
ATTRIBUTE_ID = rf"#(?!-\}}){SUFFIX_ID}"
TYPE_ID = rf"!{SUFFIX_ID}"

HEXADECIMAL = r"0x[0-9a-fA-F]+"
# Digits directly before a dot belong to a float.
INTEGER = rf"(?:{HEXADECIMAL}|[0-9]++(?!\.))"
_FRACTION = r"\.[0-9]*(?:[eE][-+]?[0-9]+)?"
FLOAT = rf"[0-9]+{_FRACTION}"
NUMBER = rf"(?:{HEXADECIMAL}|[0-9]+(?:{_FRACTION})?+)"
INTEGER_TYPE = r"[su]?i[0-9]+"

ESCAPE = r'\\(?:[nt"\\]|[0-9a-fA-F]{2})'
# The text between the quotes of a string literal that has no escapes.
UNESCAPED = r'[^"\\\n\v\f]*+'
# A string literal without its closing quote, and with it.
UNCLOSED_STRING = rf'"{UNESCAPED}(?:{ESCAPE}{UNESCAPED})*+'
STRING = f'{UNCLOSED_STRING}"'
# A string literal whose escapes need not be valid, without its closing quote, and with it. What looks for
# string literals in any text accepts both, else it would try each escaped quote as the start of one.
UNCLOSED_EXTENT = r'"[^"\\\n]*+(?:\\.[^"\\\n]*+)*+'
STRING_EXTENT = f'{UNCLOSED_EXTENT}"'
SYMBOL = rf"@(?:{BARE_ID}|{STRING})"

_BARE_ID = constant_pattern(BARE_ID)


def is_bare_id(name: str) -> bool:
    """Whether a name needs no quotes."""
    return _BARE_ID.fullmatch(name) is not None


def symbol_text(name: str) -> str:
    """`@name`, quoted if necessary; MLIR's `@<<INVALID EMPTY SYMBOL>>` if the name is empty."""
    if not name:
        return "@<<INVALID EMPTY SYMBOL>>"
    return f"@{name}" if is_bare_id(name) else f'@"{escape(name)}"'


_ESCAPE = constant_pattern(ESCAPE)
_SIMPLE = {"n": "\n", "t": "\t", '"': '"', "\\": "\\"}
_SPECIAL = constant_pattern(r'[^\x20-\x7e]|["\\]')


def unescape(text: str) -> str:
    """The value of a string literal's text between the quotes.

    Escaped bytes are decoded as UTF-8; those that are not valid UTF-8 are surrogate escapes.
    """
    if "\\" not in text:
        return text
    raw = _ESCAPE.sub(lambda match: _unescaped(match[0][1:]), text)
    return raw.encode("utf-8", "surrogateescape").decode("utf-8", "surrogateescape")


def escape(value: str) -> str:
    """A value as LLVM prints it between quotes.

    `"` and bytes other than printable ASCII are escaped as two hexadecimal digits; a backslash is doubled.
    """
    if _SPECIAL.search(value) is None:
        return value
    return "".join(
        chr(byte)
        if 0x20 <= byte <= 0x7E and byte not in b'"\\'
        else f"\\{byte:02X}"
        if byte != 0x5C
        else "\\\\"
        for byte in value.encode("utf-8", "surrogateescape")
    )


def _unescaped(escape: str) -> str:
    if escape in _SIMPLE:
        return _SIMPLE[escape]
    return bytes.fromhex(escape).decode("utf-8", "surrogateescape")


# The name of the inherent attribute that stores them.
PROPERTIES = "properties"


_KEYWORD = constant_pattern(BARE_ID)
_DIALECT_SYMBOL = constant_pattern(f"{ATTRIBUTE_ID}|{TYPE_ID}")
_SYMBOL = rf"@(?:{STRING_EXTENT}|{BARE_ID})"
_SYMBOL_REFERENCE = constant_pattern(f"{_SYMBOL}(?:{TRIVIA}::{TRIVIA}{_SYMBOL})*")
_NUMBER = constant_pattern(f"(?:-{TRIVIA})?+{NUMBER}")
_STRING = constant_pattern(STRING_EXTENT)


_OPEN = constant_pattern(f"{TRIVIA}<")
_PAREN = constant_pattern(rf"{TRIVIA}\(")
_SQUARE = constant_pattern(rf"{TRIVIA}\[")
_ARROW = constant_pattern(f"{TRIVIA}->{TRIVIA}")
_COLON = constant_pattern(f"{TRIVIA}:{TRIVIA}")
# Brackets, and tokens whose brackets do not count: strings, comments, arrows, affine comparisons.
# A list of numbers between `dense<` and `>` is skipped as a whole, and so is the `<…>` after `#x` or `!x`.
_BRACKET = constant_pattern(
    rf'{STRING_EXTENT}?|//[^\r\n]*|(?P<symbol>[#!]{SUFFIX_ID})<|->|[<>]=|dense<[^"<>/]*>|[][(){{}}<>]'
)
_BODY_BRACKET = constant_pattern(rf'{STRING_EXTENT}?|->|dense<[^"<>/]*>|[][(){{}}<>]')
# Fast paths: common tensor and function types and sdy shardings, whose brackets are balanced.
_PLAIN_TENSOR = constant_pattern(r"tensor<[\w?, ]*+>(?!=)", re.ASCII)
_TENSOR = r"tensor<[\w?]*+>"
_TENSORS = f"(?:{_TENSOR}(?:, {_TENSOR})*+)?"
PLAIN_FUNCTION = constant_pattern(rf"\({_TENSORS}\) -> (?:{_TENSOR}|\({_TENSORS}\))(?!=)", re.ASCII)
_IN_BRACES = r'(?:"\w*+"|[\w ,?:])*+'
_PLAIN_BODY = constant_pattern(rf"<[@\w ,]*+\[(?:\{{{_IN_BRACES}\}}|[\w ,])*+\]>", re.ASCII)
_CLOSING = {"(": ")", "[": "]", "{": "}", "<": ">"}

BRACKETED_TYPES = frozenset({"tensor", "vector", "memref", "complex", "tuple"})
SIMPLE_TYPES = frozenset({"index", "none", *FLOAT_FORMATS})
_TYPED_LITERALS = frozenset({"dense", "dense_resource", "sparse"})
_UNTYPED_LITERALS = frozenset({"array", "affine_map", "affine_set", "strided"})
_PLAIN_WORDS = frozenset({"true", "false", "unit"})


def bracket_extent(text: str, position: int) -> int:
    """The end of the bracket that opens at `position`; the end of the text if it is not closed."""
    end = _balanced(text, position, _BRACKET)
    return len(text) if end < 0 else end


def body_extent(text: str, position: int) -> int:
    """The end of a dialect's `<…>`, in which `//` is not a comment; negative if it is not closed."""
    return _balanced(text, position, _BODY_BRACKET)


def type_extent(text: str, position: int) -> int:
    """The end of the type at `position`; `position` itself if there is none."""
    if (plain := _PLAIN_TENSOR.match(text, position)) is not None:
        return plain.end()
    if text.startswith("(", position) and (plain := PLAIN_FUNCTION.match(text, position)) is not None:
        return plain.end()
    while text.startswith("(", position):
        end = bracket_extent(text, position)
        arrow = _ARROW.match(text, end)
        if arrow is None:
            return end
        position = arrow.end()
        if text.startswith("(", position):
            return bracket_extent(text, position)
    if text.startswith("!", position):
        return _dialect_symbol_extent(text, position)
    word = _KEYWORD.match(text, position)
    if word is None:
        return position
    if word[0] in BRACKETED_TYPES:
        return _bracket_after(text, word.end())
    return word.end() if is_simple_type(word[0]) else position


def attribute_extent(text: str, position: int, takes_type: bool = True) -> int:
    """The end of the attribute at `position`; `position` itself if there is none.

    With `takes_type`, the extent includes the type after a literal.
    """
    end, may_have_type = _value_extent(text, position)
    if may_have_type and takes_type and (colon := _COLON.match(text, end)) is not None:
        return max(colon.end(), type_extent(text, colon.end()))
    return end


def location_extent(text: str, position: int) -> int:
    """The end of `loc(…)`; that of `loc` if no bracket follows."""
    end = position + len("loc")
    paren = _PAREN.match(text, end)
    return end if paren is None else bracket_extent(text, paren.end() - 1)


def is_simple_type(word: str) -> bool:
    """Whether a word is a complete type."""
    return word in SIMPLE_TYPES or _INTEGER_TYPE.fullmatch(word) is not None


def _value_extent(text: str, position: int) -> tuple[int, bool]:
    """The end of an attribute without its type, and whether a type may follow."""
    first = text[position : position + 1]
    if first in ("[", "{"):
        return bracket_extent(text, position), False
    if first == '"':
        return _match_end(_STRING, text, position), True
    if first == "@":
        return _match_end(_SYMBOL_REFERENCE, text, position), False
    if first == "#":
        end = _dialect_symbol_extent(text, position)
        is_alias = "." not in text[position:end] and text[end - 1 : end] != ">"
        return end, not is_alias
    if text.startswith("->", position):
        return position, False
    if first == "-" or first.isdigit():
        return _match_end(_NUMBER, text, position), True
    word = _KEYWORD.match(text, position)
    if word is None or first in "!(":
        return type_extent(text, position), False
    if word[0] in _PLAIN_WORDS:
        return word.end(), False
    if word[0] in _TYPED_LITERALS and (plain_end := _plain_elements_extent(text, word.end())) >= 0:
        return plain_end, True
    if word[0] in _TYPED_LITERALS or word[0] in _UNTYPED_LITERALS:
        return _bracket_after(text, word.end()), word[0] in _TYPED_LITERALS
    if word[0] == "loc":
        return location_extent(text, position), False
    if word[0] == "distinct":
        square = _SQUARE.match(text, word.end())
        end = word.end() if square is None else bracket_extent(text, square.end() - 1)
        return _bracket_after(text, end), False
    return type_extent(text, position), False


def _plain_elements_extent(text: str, position: int) -> int:
    """The end of `<…>` with a list of numbers or one string; negative for anything else.

    A search for one character is much faster than a regular expression, which matters for big constants.
    """
    if text.startswith('<"', position):
        end = text.find('"', position + 2)
        is_plain = text.startswith('">', end) and not has_any_of(text, "\\\n", position, end)
        return end + 2 if is_plain else -1
    if not text.startswith("<", position):
        return -1
    end = text.find(">", position)
    return end + 1 if not has_any_of(text, '"</', position + 1, end) else -1


def has_any_of(text: str, characters: str, start: int, end: int) -> bool:
    """Whether the text between two offsets has one of these characters, or `end` is negative."""
    return end < 0 or any(text.find(character, start, end) >= 0 for character in characters)


def _dialect_symbol_extent(text: str, position: int) -> int:
    """The end of `#name` or `!name` with the `<…>` directly after it; without a name, that of the prefix."""
    name = _DIALECT_SYMBOL.match(text, position)
    if name is None:
        return position + 1
    if not text.startswith("<", name.end()):
        return name.end()
    if (plain := _PLAIN_BODY.match(text, name.end())) is not None:
        return plain.end()
    end = body_extent(text, name.end())
    return len(text) if end < 0 else end


def _bracket_after(text: str, position: int) -> int:
    bracket = _OPEN.match(text, position)
    return position if bracket is None else bracket_extent(text, bracket.end() - 1)


def _match_end(pattern: re.Pattern[str], text: str, position: int) -> int:
    """The end of the match; if there is none, that of the first character."""
    match = pattern.match(text, position)
    return position + 1 if match is None else match.end()


def _balanced(text: str, position: int, bracket: re.Pattern[str]) -> int:
    """The end of the bracket at `position`, -1 if it is not closed."""
    expected: list[str] = []
    while position >= 0:
        for match in bracket.finditer(text, position):
            token = match[0]
            closing = _CLOSING.get(token)
            if closing is not None:
                expected.append(closing)
            elif match.lastgroup == "symbol":
                position = body_extent(text, match.end() - 1)
                break
            elif len(token) == 1 and token != '"':
                if not expected or expected.pop() != token:
                    return -1
                if not expected:
                    return match.end()
        else:
            return -1
    return -1


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

_TOKEN = constant_pattern(
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
_INTEGER_TYPE = constant_pattern(INTEGER_TYPE)
_DIMENSION = rf"(?:\?|\d+){TRIVIA}x{TRIVIA}"
_PATTERNS = {
    "SHAPE": constant_pattern(
        rf"{TRIVIA}(?:\*(?:{TRIVIA}x{TRIVIA})?|(?:{_DIMENSION})*(?:\?|\d+)?)", re.ASCII
    ),
    "VECTOR_SHAPE": constant_pattern(
        rf"{TRIVIA}(?:(?:\[{TRIVIA}\d+{TRIVIA}\]|\d+){TRIVIA}x{TRIVIA})*(?:\[{TRIVIA}\d*{TRIVIA}\]?|\d+)?",
        re.ASCII,
    ),
    # Not the type in `dense<tensor<2xi32> : …>`.
    "ELEMENTS": constant_pattern(
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
    match = constant_pattern(TRIVIA).match(text, end)
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
    valid = constant_pattern(UNCLOSED_STRING).match(text, start)
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
