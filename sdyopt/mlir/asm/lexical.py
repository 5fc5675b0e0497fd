r"""MLIR's lexical grammar, as fragments of regular expressions, and escapes in string literals.

The lexer, the parsers and the printers build their patterns from these. No fragment has a capturing group or
depends on a flag (`\w` and `\d` would).
"""

from __future__ import annotations

from sdyopt.base.patterns import constant_pattern

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
