"""Parses the most common types, attributes and locations with regular expressions.

The result must be the same as that of the grammar, which parses all text that these expressions do not
match.

Numbers in `dense<…>` that are written as MLIR prints them, `[[1, 2], [3, 4]]` or `1`, are split at their
separators, which takes a fraction of the time of a parser; that matters for big constants.
`element_literals` decodes all other lists. Dictionaries are parsed entry by entry, so that equal values
are parsed once: the arguments of a function may have thousands of dictionaries with few distinct values.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import chain
from typing import cast

from sdyopt.base.diagnostics.diagnostic import DiagnosticError
from sdyopt.base.diagnostics.location import CallSite, FileLoc, FileRange, Location, NameLoc, UnknownLoc
from sdyopt.base.patterns import constant_pattern
from sdyopt.mlir.asm.lexical import (
    BARE_ID,
    PLAIN_FUNCTION,
    UNESCAPED,
    WHITESPACE,
    attribute_extent,
    has_any_of,
)
from sdyopt.mlir.asm.parser.attributes.dense_elements import dense_elements_from
from sdyopt.mlir.asm.parser.attributes.element_literals import (
    are_too_wide,
    decode_numbers,
    pack_floats,
    pack_integers,
)
from sdyopt.mlir.asm.parser.attributes.semantic_actions import integer_type
from sdyopt.mlir.ir.attribute import (
    UNIT,
    ArrayAttr,
    Attribute,
    DictAttr,
    LocationAttr,
    StringAttr,
    SymbolRef,
    TypeAttr,
    dictionary,
)
from sdyopt.mlir.ir.builtin_attributes import (
    FALSE,
    TRUE,
    DenseArray,
    DenseElements,
    FloatAttr,
    IntegerAttr,
    dense,
    wrapped,
)
from sdyopt.mlir.ir.floats import FLOAT_FORMATS, encode_double
from sdyopt.mlir.ir.types import (
    DYNAMIC,
    F64,
    I64,
    INDEX,
    ComplexType,
    FloatType,
    FunctionType,
    IndexType,
    IntegerType,
    RankedShapedType,
    RankedTensor,
    Type,
)
from sdyopt.mlir.ir.types import NONE as NONE_TYPE

_ELEMENT = r"(?:complex<)?[a-z][A-Za-z0-9]{0,12}>?"
_TENSOR = constant_pattern(rf"tensor<((?:(?:[0-9]{{1,18}}|\?)x)*)({_ELEMENT})>")
_INTEGER_TYPE = constant_pattern(r"[su]?i\d{1,5}", re.ASCII)
_INTEGER = constant_pattern(r"(-?\d{1,18})(?: : (i8|i16|i32|i64))?", re.ASCII)
_FLOAT = constant_pattern(r"(-?\d{1,30}\.\d{0,30}(?:e[-+]?\d{1,5})?)(?: : (f32|f64|bf16|f16))?", re.ASCII)
# A float that Python and MLIR accept; both read a zero for each digit that is left out.
_SPLAT_FLOAT = constant_pattern(r"-?\d{1,20}\.\d{0,20}(?:[eE][-+]?\d{1,5})?", re.ASCII)
_STRING = constant_pattern(f'"({UNESCAPED})"')
_SYMBOL = constant_pattern(f"@({BARE_ID})")
_DENSE, _AFTER_ELEMENTS = "dense<", "> : "
# Without `-0`, which is out of range for MLIR.
_ARRAY_INTEGER = r"(?!-0)-?\d{1,9}"
_ARRAY = constant_pattern(rf"array<(i32|i64): ({_ARRAY_INTEGER}(?:, {_ARRAY_INTEGER})*)>", re.ASCII)

# A name with a dot belongs to a dialect.
_PLAIN_ALIAS = r"[\w$-]+"
_NAME_OR_FILE_LOCATION = constant_pattern(
    rf'loc\("({UNESCAPED})"(?:\(#({_PLAIN_ALIAS})\)|'
    r":(\d{1,9}):(\d{1,9})(?: to (\d{1,9})?:(\d{1,9}))?)?\)",
    re.ASCII,
)
_CALL_SITE = constant_pattern(rf"loc\(callsite\(#({_PLAIN_ALIAS}) at #({_PLAIN_ALIAS})\)\)", re.ASCII)

_WORDS: dict[str, Attribute] = {"true": TRUE, "false": FALSE, "unit": UNIT}


def fast_type(text: str) -> Type | None:
    """The type that `text` denotes; None if it needs the grammar."""
    match = _TENSOR.fullmatch(text)
    if match is None:
        return _simple_type(text)
    element = _simple_type(match[2])
    if element is None or element is NONE_TYPE:
        return None
    sizes = match[1].split("x")[:-1]
    return RankedTensor(tuple([DYNAMIC if size == "?" else int(size) for size in sizes]), element, None)


def fast_function_type(text: str, parse: Callable[[str], Type | None]) -> FunctionType | None:
    """The function type that `text` denotes, whose parts `parse` parses; None if it needs the grammar."""
    if PLAIN_FUNCTION.fullmatch(text) is None:
        return None
    inputs, _, results = text[1:].partition(") -> ")
    results = results[1:-1] if results[0] == "(" else results
    input_types = [parse(input) for input in inputs.split(", ")] if inputs else []
    result_types = [parse(result) for result in results.split(", ")] if results else []
    if None in input_types or None in result_types:
        return None
    return FunctionType(tuple(cast(list[Type], input_types)), tuple(cast(list[Type], result_types)))


def fast_attribute(text: str, parse_type: Callable[[str], Type | None]) -> Attribute | None:
    """The attribute that `text` denotes, whose type `parse_type` parses; None if it needs the grammar."""
    first = text[:1]
    if first == '"':
        string = _STRING.fullmatch(text)
        return None if string is None else StringAttr(string[1], None)
    if first == "@":
        symbol = _SYMBOL.fullmatch(text)
        return None if symbol is None else SymbolRef(symbol[1], ())
    if first == "-" or first.isdigit():
        return _number(text)
    if text in _WORDS:
        return _WORDS[text]
    if text.startswith(_DENSE):
        return _dense(text, parse_type)
    if text.startswith("array<"):
        numbers = _ARRAY.fullmatch(text)
        return None if numbers is None else _array(numbers[1], numbers[2])
    type = fast_type(text)
    return None if type is None else TypeAttr(type)


def fast_attribute_of_type(text: str, type: Type) -> Attribute | None:
    """The attribute that `text`, without a type of its own, denotes; None if it needs the grammar."""
    if text[:1] == "@":
        return fast_attribute(text, fast_type)
    if isinstance(type, IntegerType) and type.is_signless and (match := _INTEGER.fullmatch(text)) is not None:
        return None if match[2] else _integer(text, type)
    return None


def fast_location(text: str, alias: Callable[[str], Attribute | None]) -> Location | None:
    """The location that `text`, `loc(…)`, denotes; None if it needs the grammar. `alias` looks up `#name`."""
    match = _NAME_OR_FILE_LOCATION.fullmatch(text)
    if match is not None:
        name, child, line, column, end_line, end_column = match.groups()
        if line is not None:
            # The grammar replaces an empty file name with `-`, as MLIR does.
            if not name:
                return None
            start = int(line), int(column)
            end = start if end_column is None else (int(end_line or line), int(end_column))
            return FileLoc(name, *start) if start == end else FileRange(name, *start, *end)
        inner: Location | None = UnknownLoc() if child is None else _alias_location(child, alias)
        return None if inner is None else NameLoc(name, inner)
    call = _CALL_SITE.fullmatch(text)
    if call is None:
        return None
    callee, caller = _alias_location(call[1], alias), _alias_location(call[2], alias)
    return None if callee is None or caller is None else CallSite(callee, caller)


def _alias_location(name: str, alias: Callable[[str], Attribute | None]) -> Location | None:
    attribute = alias(name)
    return attribute.location if isinstance(attribute, LocationAttr) else None


@lru_cache(maxsize=1024)
def _simple_type(text: str) -> Type | None:
    if text in FLOAT_FORMATS:
        return FloatType(text)
    if _INTEGER_TYPE.fullmatch(text):
        return integer_type(text)
    if text.startswith("complex<"):
        element = _simple_type(text[8:-1])
        if text.endswith(">") and isinstance(element, FloatType | IntegerType):
            return ComplexType(element)
        return None
    return {"index": INDEX, "none": NONE_TYPE}.get(text)


def _number(text: str) -> Attribute | None:
    match = _INTEGER.fullmatch(text)
    if match is not None:
        type = integer_type(match[2]) if match[2] else I64
        assert type is not None
        return _integer(match[1], type)
    match = _FLOAT.fullmatch(text)
    if match is None:
        return None
    float_type = FloatType(match[2]) if match[2] else F64
    return FloatAttr(encode_double(float(match[1]), float_type.format), float_type)


def _integer(digits: str, type: IntegerType) -> IntegerAttr | None:
    value = int(digits)
    fits = type.width > 1 and (value if value >= 0 else ~value).bit_length() < type.width
    # `-0` is out of range for MLIR.
    return IntegerAttr(value, type) if fits and digits[:2] != "-0" else None


def _dense(text: str, parse_type: Callable[[str], Type | None]) -> Attribute | None:
    end = text.find(_AFTER_ELEMENTS)
    if end < 0:
        return None
    elements, type_text = text[len(_DENSE) : end], text[end + len(_AFTER_ELEMENTS) :]
    if _SPLAT_FLOAT.fullmatch(elements):
        type = parse_type(type_text)
        if isinstance(type, RankedTensor) and isinstance(type.element, FloatType) and type.has_static_shape:
            return DenseElements(type, pack_floats((elements,), type.element))
    if not _is_plain(elements):
        return None
    type = fast_type(type_text)
    if not isinstance(type, RankedShapedType) or not type.has_static_shape:
        return None
    printed = printed_elements(elements, type)
    return printed or dense_elements_from(elements, decode_numbers(elements), type)


def _is_plain(elements: str) -> bool:
    """Whether the elements are a hexadecimal string, or have no strings, comments and angle brackets."""
    if elements.startswith('"0x'):
        return elements.find('"', 1) == len(elements) - 1
    return not has_any_of(elements, '"<>/', 0, len(elements))


def _array(element: str, numbers: str) -> DenseArray:
    type = integer_type(element)
    assert type is not None
    return DenseArray(type, tuple(map(int, numbers.split(", "))))


_MAX_LENGTH = 30
# Bytes that are not UTF-8 are surrogate escapes.
_BYTES = ("utf-8", "surrogateescape")
_INTEGER_CHARACTERS, _FLOAT_CHARACTERS = b"0123456789-, []", b"0123456789-+.eE, []"


def printed_elements(text: str, type: RankedShapedType) -> DenseElements | None:
    """The attribute of these numbers; None for any other text or type, and if there is an error."""
    element, shape, count = type.element, type.shape, type.num_elements
    if text.startswith('"') or not text.isascii():
        return None
    if not text.startswith("["):
        # A splat.
        text, shape, count = f"[{text}]", (1,), 1
    if isinstance(element, FloatType):
        numbers = _split(text, shape) if _has_only_floats(text, count) else None
    elif isinstance(element, IntegerType | IndexType):
        numbers = _split(text, shape) if _has_only_integers(text) else None
        if numbers is not None and are_too_wide(len(numbers), element):
            return None
    else:
        return None
    # The time to convert a long number is quadratic.
    if numbers is None or max(map(len, numbers)) > _MAX_LENGTH:
        return None
    try:
        if isinstance(element, FloatType):
            return dense(type, pack_floats(numbers, element))
        values = list(map(int, numbers))
    except ValueError:
        return None
    if wrapped(low := min(values), element) != low or wrapped(high := max(values), element) != high:
        return None
    return dense(type, pack_integers(values, element))


def _split(text: str, shape: Sequence[int]) -> list[str] | None:
    """The elements of a nested list of this shape; None if the text is not such a list.

    An element is any text between separators.
    """
    rank = len(shape)
    if not (text.startswith("[" * rank) and text.endswith("]" * rank)):
        return None
    parts = [text[rank:-rank]]
    for depth, size in enumerate(shape, 1):
        separator = "]" * (rank - depth) + ", " + "[" * (rank - depth)
        lists = [part.split(separator) for part in parts]
        if any(len(items) != size for items in lists):
            return None
        parts = lists[0] if len(lists) == 1 else list(chain.from_iterable(lists))
    return parts


def _has_only_integers(text: str) -> bool:
    """Whether MLIR accepts the integers in the text that Python accepts; for MLIR `-0` is out of range."""
    return not text.encode(*_BYTES).translate(None, _INTEGER_CHARACTERS) and "-0" not in text


def _has_only_floats(text: str, count: int) -> bool:
    """Whether MLIR accepts the `count` floats in the text that Python accepts.

    For MLIR, each has one dot, after a digit, and no `+` except in the exponent.
    """
    return (
        not text.encode(*_BYTES).translate(None, _FLOAT_CHARACTERS)
        and text.count(".") == count
        and not any(start + "." in text for start in "[- ")
        and text.count("+") == text.count("e+") + text.count("E+")
    )


_DICTIONARY_KEY = constant_pattern(f"{WHITESPACE}({BARE_ID}){WHITESPACE}(?:(=){WHITESPACE})?")
_AFTER_ENTRY = constant_pattern(f"{WHITESPACE}([,}}])")
_SPACE = constant_pattern(WHITESPACE)
_AFTER_ELEMENT = constant_pattern(rf"{WHITESPACE}([,\]]){WHITESPACE}")


def dictionary_at(
    parse: Callable[[str, int], Attribute], text: str, start: int
) -> tuple[DictAttr, int] | None:
    """The dictionary whose brace opens at `start`, and its end; None if it needs the grammar.

    `parse` parses the text of an attribute at an offset.
    """
    entries: dict[str, Attribute] = {}
    position = start + 1
    while (key := _DICTIONARY_KEY.match(text, position)) is not None:
        position = key.end()
        value: Attribute = UNIT
        if key[2]:
            end = attribute_extent(text, position)
            try:
                value = parse(text[position:end], position)
            except DiagnosticError:
                return None
            position = end
        if key[1] in entries or (following := _AFTER_ENTRY.match(text, position)) is None:
            return None
        entries[key[1]] = value
        position = following.end()
        if following[1] == "}":
            return dictionary(entries), position
    return None


def array_at(parse: Callable[[str, int], Attribute], text: str, start: int) -> tuple[ArrayAttr, int] | None:
    """The array whose bracket opens at `start`, and its end; None if it needs the grammar.

    `parse` parses the text of an attribute at an offset.
    """
    elements: list[Attribute] = []
    space = _SPACE.match(text, start + 1)
    assert space is not None
    position = space.end()
    while True:
        end = attribute_extent(text, position)
        if end <= position:
            return None
        try:
            elements.append(parse(text[position:end], position))
        except DiagnosticError:
            return None
        if (following := _AFTER_ELEMENT.match(text, end)) is None:
            return None
        position = following.end()
        if following[1] == "]":
            return ArrayAttr(tuple(elements)), following.end(1)
