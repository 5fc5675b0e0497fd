"""Explanations of parse errors: missing brackets and quotes, mistyped types."""

from __future__ import annotations

import re
from typing import NamedTuple

from sdyopt.mlir.asm.lexical import BARE_ID, STRING_EXTENT
from sdyopt.mlir.error_help.table import Case, Explanation, did_you_mean, explains
from sdyopt.mlir.ir.floats import FLOAT_FORMATS

_BRACE = re.compile(rf"{STRING_EXTENT}?|//[^\r\n]*|[{{}}]")
_ELEMENT_TYPES = (*sorted(FLOAT_FORMATS), "i1", "i4", "i8", "i16", "i32", "i64", "ui8", "ui32", "index")
# Type names of other frameworks -> the element type.
_FOREIGN_TYPES = {
    "float": "f32", "float16": "f16", "float32": "f32", "float64": "f64", "bfloat16": "bf16", "double": "f64",
    "half": "f16", "int8": "i8", "int16": "i16", "int32": "i32", "int64": "i64", "int": "i32", "bool": "i1",
    "s8": "i8", "s16": "i16", "s32": "i32", "s64": "i64", "u8": "ui8", "u32": "ui32", "pred": "i1",
}  # fmt: skip


@explains(r"^expected operation name in quotes")
def _operation_name(case: Case) -> Explanation:
    if (help := _hint(case)) is not None:
        return Explanation(help=help)
    if case.text[case.offset :].strip(" \t\r\n"):
        return Explanation()
    opening = _unclosed_brace(case.text)
    if opening is None:
        return Explanation()
    line = case.text.count("\n", 0, opening) + 1
    return Explanation(help=f"close the `{{` of line {line} with `}}`")


def _unclosed_brace(text: str) -> int | None:
    """The offset of the innermost brace that is not closed."""
    opened: list[int] = []
    for match in _BRACE.finditer(text):
        if match[0] == "{":
            opened.append(match.start())
        elif match[0] == "}" and opened:
            opened.pop()
    return opened[-1] if opened else None


@explains(r"(?:^|' )expected string$")
def _string(case: Case) -> Explanation:
    word = _word_at(case)
    return Explanation(help=f'write it in quotes: `"{word}"`' if word else "", token=case.offset)


@explains(r"^(?:expected '\"' in string literal|unbalanced)")
def _unclosed(case: Case) -> Explanation:
    line = case.text[case.text.rfind("\n", 0, case.offset) + 1 :].partition("\n")[0]
    if line.count('"') % 2:
        return Explanation(help='a string ends on its line: a `"` is missing')
    return Explanation(help="close the bracket")


@explains(r"^expected (?:non-function )?type$|^expected '[x>]' in |^expected non-function type")
def _type(case: Case) -> Explanation:
    if (help := _hint(case)) is not None:
        return Explanation(help=help)
    match = re.compile(r"(?:\d|x)*?x?([A-Za-z]\w*)").match(case.text, max(0, case.offset))
    word = "" if match is None else match[1].removeprefix("x")
    if not word:
        return Explanation()
    known = _FOREIGN_TYPES.get(word)
    return Explanation(help=f"did you mean `{known}`?" if known else did_you_mean(word, _ELEMENT_TYPES))


@explains(r"(?:^|' )expected attribute value$")
def _attribute_value(case: Case) -> Explanation:
    word = _word_at(case)
    if re.compile(rf"\s*{BARE_ID}\s*=(?!=)").match(case.text, max(0, case.offset)):
        return Explanation(help="write properties in braces: `<{name = value}>`")
    if word == "None":
        return Explanation(help="remove the attribute")
    if word in ("True", "False"):
        return Explanation(help=f"did you mean `{word.lower()}`?")
    return Explanation(help=f'write a string in quotes: `"{word}"`' if word else "")


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
    _Hint(
        r"custom op 'HloModule' is unknown",
        "",
        "HloModule",
        "this is HLO; print the MLIR program with `jax.jit(f).lower(…).as_text()`",
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
    _Hint(
        r"invalid kind of type specified: expected builtin.function",
        "",
        "",
        "write a function type: `(types of operands) -> types of results`",
    ),
    _Hint(
        r"expected \d+ operand types? but had",
        "",
        "",
        "write one type for each operand: `(type, type) -> type`",
    ),
    _Hint(
        r"inferred shape of elements literal",
        "",
        "",
        "the literal has the first shape, the type the second; make them equal",
    ),
)


@explains("|".join(dict.fromkeys(hint.message for hint in _HINTS)))
def _hinted(case: Case) -> Explanation:
    return Explanation(help=_hint(case) or "")


def _hint(case: Case) -> str | None:
    """The help of the first hint that matches the message and the text at its position; None without one."""
    offset = max(0, case.offset)
    line = case.text[max(case.text.rfind("\n", 0, offset) + 1, offset - _MAX_BEFORE) : offset]
    for hint in _HINTS:
        if re.search(hint.message, case.match.string) is None:
            continue
        before = re.search(f"(?:{hint.before})$", line)
        after = re.compile(hint.after, re.MULTILINE).match(case.text, offset)
        if before is not None and after is not None:
            groups = before.groupdict() | after.groupdict()
            return hint.help.format(**groups) if groups else hint.help
    return None


def _word_at(case: Case) -> str:
    """The word at the position of the diagnostic, after whitespace if any; empty if there is none."""
    match = re.compile(rf"\s*({BARE_ID})").match(case.text, max(0, case.offset))
    return "" if match is None else match[1]
