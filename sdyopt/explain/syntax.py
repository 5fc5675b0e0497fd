"""Explanations of parse errors: missing brackets and quotes, mistyped types."""

from __future__ import annotations

import re

from sdyopt.asm.lexical import BARE_ID, STRING_EXTENT
from sdyopt.explain.suggest import did_you_mean
from sdyopt.explain.table import Case, Explanation, explains
from sdyopt.ir.floats import FLOAT_FORMATS

_BRACE = re.compile(rf"{STRING_EXTENT}|//[^\r\n]*|[{{}}]")
_ELEMENT_TYPES = (*sorted(FLOAT_FORMATS), "i1", "i4", "i8", "i16", "i32", "i64", "ui8", "ui32", "index")
# Type names of other frameworks -> the element type.
_FOREIGN_TYPES = {
    "float": "f32", "float16": "f16", "float32": "f32", "float64": "f64", "bfloat16": "bf16", "double": "f64",
    "half": "f16", "int8": "i8", "int16": "i16", "int32": "i32", "int64": "i64", "int": "i32", "bool": "i1",
    "s8": "i8", "s16": "i16", "s32": "i32", "s64": "i64", "u8": "ui8", "u32": "ui32", "pred": "i1",
}  # fmt: skip


@explains(r"^expected operation name in quotes")
def _operation_name(case: Case) -> Explanation:
    rest = case.text[max(0, case.offset) :].strip()
    if rest and not _is_end(case):
        return Explanation()
    opening = _unclosed_brace(case.text)
    if opening is None:
        return Explanation()
    line = case.text.count("\n", 0, opening) + 1
    return Explanation(help=f"close the `{{` of line {line} with `}}`")


def _is_end(case: Case) -> bool:
    return not case.text[case.offset :].strip(" \t\r\n")


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
    match = re.compile(r"(?:\d|x)*?x?([A-Za-z]\w*)").match(case.text, max(0, case.offset))
    word = "" if match is None else match[1].removeprefix("x")
    if not word:
        return Explanation()
    known = _FOREIGN_TYPES.get(word)
    return Explanation(help=f"did you mean `{known}`?" if known else did_you_mean(word, _ELEMENT_TYPES))


@explains(r"(?:^|' )expected attribute value$")
def _attribute_value(case: Case) -> Explanation:
    word = _word_at(case)
    if word in ("True", "False", "None"):
        return Explanation(
            help=f"did you mean `{word.lower()}`?" if word != "None" else "remove the attribute"
        )
    return Explanation(help=f'write a string in quotes: `"{word}"`' if word else "")


@explains(r"^unexpected character$")
def _character(case: Case) -> Explanation:
    character = case.text[case.offset : case.offset + 1]
    if character in "“”„«»":
        return Explanation(help='write straight quotes: `"`')
    if character == "'":
        return Explanation(help='strings are in double quotes: `"`')
    if character == ";":
        return Explanation(help="operations end with the line, without `;`")
    return Explanation()


def _word_at(case: Case) -> str:
    """The word at, or after spaces after, the position of the diagnostic."""
    match = re.compile(rf"\s*({BARE_ID})").match(case.text, max(0, case.offset))
    return "" if match is None else match[1]
