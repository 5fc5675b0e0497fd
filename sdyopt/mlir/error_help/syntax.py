"""Help for syntax errors: missing brackets and quotes, mistyped types.

The parser knows which token it expects, and the grammar's tables word that. What to write instead depends
on the text at the position, whichever rule of the grammar it is in. So these hints, and only these, are
looked up by the wording of the message.
"""

from __future__ import annotations

import re

from sdyopt.base.dataclasses import NamedTuple
from sdyopt.mlir.asm.lexical import BARE_ID, STRING_EXTENT
from sdyopt.mlir.error_help.table import did_you_mean
from sdyopt.mlir.ir.floats import FLOAT_FORMATS

_BRACE = re.compile(rf"{STRING_EXTENT}?|//[^\r\n]*|[{{}}]")
_ELEMENT_TYPES = (*sorted(FLOAT_FORMATS), "i1", "i4", "i8", "i16", "i32", "i64", "ui8", "ui32", "index")
# Type names of other frameworks -> the element type.
_FOREIGN_TYPES = {
    "float": "f32", "float16": "f16", "float32": "f32", "float64": "f64", "bfloat16": "bf16", "double": "f64",
    "half": "f16", "int8": "i8", "int16": "i16", "int32": "i32", "int64": "i64", "int": "i32", "bool": "i1",
    "s8": "i8", "s16": "i16", "s32": "i32", "s64": "i64", "u8": "ui8", "u32": "ui32", "pred": "i1",
}  # fmt: skip


def _operation_name(text: str, offset: int) -> str:
    if text[offset:].strip(" \t\r\n"):
        return ""
    opening = _unclosed_brace(text)
    if opening is None:
        return ""
    line = text.count("\n", 0, opening) + 1
    return f"close the `{{` of line {line} with `}}`"


def _unclosed_brace(text: str) -> int | None:
    """The offset of the innermost brace that is not closed."""
    opened: list[int] = []
    for match in _BRACE.finditer(text):
        if match[0] == "{":
            opened.append(match.start())
        elif match[0] == "}" and opened:
            opened.pop()
    return opened[-1] if opened else None


def _string(text: str, offset: int) -> str:
    word = _word_at(text, offset)
    return f'write it in quotes: `"{word}"`' if word else ""


def _unclosed(text: str, offset: int) -> str:
    line = text[text.rfind("\n", 0, offset) + 1 :].partition("\n")[0]
    if line.count('"') % 2:
        return 'a string ends on its line: a `"` is missing'
    return "close the bracket"


def _type(text: str, offset: int) -> str:
    match = re.compile(r"(?:\d|x)*?x?([A-Za-z]\w*)").match(text, offset)
    word = "" if match is None else match[1].removeprefix("x")
    if not word:
        return ""
    known = _FOREIGN_TYPES.get(word)
    return f"did you mean `{known}`?" if known else did_you_mean(word, _ELEMENT_TYPES)


def _attribute_value(text: str, offset: int) -> str:
    word = _word_at(text, offset)
    if re.compile(rf"\s*{BARE_ID}\s*=(?!=)").match(text, offset):
        return "write properties in braces: `<{name = value}>`"
    if word == "None":
        return "remove the attribute"
    if word in ("True", "False"):
        return f"did you mean `{word.lower()}`?"
    return f'write a string in quotes: `"{word}"`' if word else ""


# The number of characters before a position that hints look at.
_MAX_BEFORE = 200


class _Hint(NamedTuple):
    """Help for a message where the line before the position and the text after it match these patterns.

    Named groups of `before` and `after` are inserted in the help.
    """

    message: str
    before: str
    after: str
    help: str


_HINTS = (
    _Hint(r"unexpected character", "", "[“”„«»]", 'write straight quotes: `"`'),
    _Hint(r"unexpected character", "", "'", 'strings are in double quotes: `"`'),
    _Hint(r"unexpected character", "", ";", "operations end with the line, without `;`"),
    _Hint(r"invalid attribute name", "", r"#\s", "comments start with `//`"),
    _Hint(r"expected operation name", "", r"/\*", "comments start with `//`, on each line"),
    _Hint(
        r"expected operation name",
        "",
        r"\{ lambda\b",
        "this is a jaxpr; print the MLIR program with `jax.jit(f).lower(…).as_text()`",
    ),
    _Hint(r"expected '\{'", "", '(?P<axis>"[^"]*")', "write a dimension in braces: `{{{axis}}}`"),
    _Hint(
        r"expected '<'",
        r"<\s*(?P<name>[A-Za-z_]\w*)\s*",
        "",
        "write the name of a mesh with `@`: `@{name}`",
    ),
    _Hint(
        r"expected '<'",
        "",
        r"\s*(?P<name>@[\w.]+)",
        "write a sharding in angle brackets: `<{name}, […]>`",
    ),
    _Hint(r"expected ','", "", r"\s*(?P<value>%[\w.]+)", "separate values by commas: `, {value}`"),
    _Hint(r"expected ':'", "", r"[ \t]*(?:$|//)", "write the types after a colon"),
    _Hint(
        r"expected 'x' in dimension list",
        "",
        r"\s*,",
        "separate the dimensions by `x`, as in `tensor<8x16xf32>`",
    ),
    _Hint(
        r"expected non-function type",
        r"[(,]\s*",
        r"(?P<name>\w+)\s*:",
        "write an argument with `%`: `%{name}`",
    ),
    _Hint(
        r"expected '.'",
        r"\b[a-z]+\d+",
        r"\[[\d,]*\]",
        "write the type of a tensor as in `tensor<8x16xf32>`",
    ),
    _Hint(r"expected '\]'", "", ">", "a `[` before it is not closed: write `]`"),
)


# Messages -> the function that gives help with the text at a position.
_BY_WORDING = (
    (r"^expected operation name in quotes", _operation_name),
    (r"(?:^|' )expected string$", _string),
    (r"^(?:expected '\"' in string literal|unbalanced)", _unclosed),
    (r"^expected (?:non-function )?type$|^expected '[x>]' in |^expected non-function type", _type),
    (r"(?:^|' )expected attribute value$", _attribute_value),
)


def help_at(message: str, text: str, offset: int) -> str:
    """Help for a syntax error at an offset of a text; empty if there is none."""
    offset = max(0, offset)
    line = text[max(text.rfind("\n", 0, offset) + 1, offset - _MAX_BEFORE) : offset]
    for hint in _HINTS:
        if re.search(hint.message, message) is None:
            continue
        before = re.search(f"(?:{hint.before})$", line)
        after = re.compile(hint.after, re.MULTILINE).match(text, offset)
        if before is not None and after is not None:
            groups = before.groupdict() | after.groupdict()
            return hint.help.format(**groups) if groups else hint.help
    return next((help(text, offset) for wording, help in _BY_WORDING if re.search(wording, message)), "")


def _word_at(text: str, offset: int) -> str:
    """The word at an offset, after whitespace if any; empty if there is none."""
    match = re.compile(rf"\s*({BARE_ID})").match(text, offset)
    return "" if match is None else match[1]
