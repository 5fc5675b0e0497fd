r"""MLIR's lexical grammar, as fragments of regular expressions.

The lexer, the parsers and the printers build their patterns from these. No fragment has a capturing group or
depends on a flag (`\w` and `\d` would).
"""

from __future__ import annotations

import re

# Whitespace alone, and whitespace with comments.
WHITESPACE = r"[ \t\r\n]*"
TRIVIA = r"(?:[ \t\r\n]|//[^\r\n]*)*+"

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
# A string literal whose escapes need not be valid.
STRING_EXTENT = r'"[^"\\\n]*+(?:\\.[^"\\\n]*+)*+"'
SYMBOL = rf"@(?:{BARE_ID}|{STRING})"

_BARE_ID = re.compile(BARE_ID)


def is_bare_id(name: str) -> bool:
    """Whether a name needs no quotes."""
    return _BARE_ID.fullmatch(name) is not None
