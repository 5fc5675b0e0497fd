"""Semantic actions of the grammar, the context that they run in, and the actions of builtin types.

    @action("complex")
    def _complex(context, parts, offsets): ...

builds the value of a rule `-> complex` from its parts (the values of its symbols) and the offsets of these.
The value of a token is its text.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, NoReturn, Protocol, TypeVar

from sdyopt.base.diagnostics.diagnostic import DiagnosticError
from sdyopt.base.diagnostics.location import Source
from sdyopt.base.patterns import constant_pattern
from sdyopt.mlir.asm.lexical import BARE_ID, COMMENT, WHITESPACE
from sdyopt.mlir.asm.parser.asm_parser import AttributeTextParser, end_of_previous
from sdyopt.mlir.asm.printer.attribute_printer import DiagnosticAttributePrinter
from sdyopt.mlir.ir.affine import AffineExpr, AffineMapAttr
from sdyopt.mlir.ir.attribute import Attribute, DictAttr, DistinctAttr, StringAttr
from sdyopt.mlir.ir.builtin_attributes import IntegerAttr, StridedLayout
from sdyopt.mlir.ir.dialect import DialectTable
from sdyopt.mlir.ir.types import (
    DYNAMIC,
    INDEX,
    MAX_INTEGER_WIDTH,
    NONE,
    ComplexType,
    FloatType,
    FunctionType,
    IndexType,
    IntegerType,
    MemRefType,
    NoneType,
    RankedTensor,
    Signedness,
    TupleType,
    Type,
    UnrankedMemRef,
    UnrankedTensor,
    VectorType,
)

# The values of the symbols of a rule: the text of a token, or the result of an action.
Parts = list[Any]
Action = Callable[["ActionContext", Parts, list[int]], Any]
A = TypeVar("A", bound=Action)

_actions: dict[str, Action] = {}

# The name of a dialect attribute before its value.
_NAMED_VALUE = constant_pattern(rf"(?<![\w$.])({BARE_ID}){WHITESPACE}={WHITESPACE}\Z")
_LONGEST_NAME = 100


def action(name: str) -> Callable[[A], A]:
    """Decorator: the action of the grammar rules `-> name`."""
    assert name not in _actions, f"two actions for {name}"

    def register(function: A) -> A:
        _actions[name] = function
        return function

    return register


class Environment(Protocol):
    """The dialects and aliases that attributes may refer to."""

    dialects: DialectTable
    allow_unregistered: bool

    def find_attribute_alias(self, name: str) -> Attribute | None: ...
    def attribute_alias(self, name: str, offset: int) -> Attribute: ...
    def type_alias(self, name: str, offset: int) -> Type: ...


class ActionContext:
    """State and error functions that are shared by the actions of one source."""

    def __init__(
        self, source: Source, environment: Environment, attribute_parser: AttributeTextParser
    ) -> None:
        self.source = source
        self.environment = environment
        self.attribute_parser = attribute_parser
        self.attribute_printer = DiagnosticAttributePrinter()
        self.distinct: dict[int, DistinctAttr] = {}
        # The offset of the token after the parts of the current action.
        self.next_offset = 0
        # The offset of the colon before the type of a literal.
        self.colon_offset = 0
        # The type of the current `array<type: …>`.
        self.array_type: Type = NONE
        # The type of the whole attribute, if its text has none.
        self.expected_type: Type | None = None
        # The names of dimensions and symbols in the current affine map or set.
        self.affine_names: dict[str, AffineExpr] = {}

    def build(self, action: str, parts: Parts, offsets: list[int]) -> Any:
        return _actions[action](self, parts, offsets)

    def error(self, message: str, offset: int) -> DiagnosticError:
        """An error at an offset, or at the last character of the source if the offset is its end."""
        last = max(0, len(self.source.text) - 1)
        return DiagnosticError.at(self.source.location(min(offset, last)), message)

    def token_error(self, message: str, offset: int) -> DiagnosticError:
        """An error about an invalid token."""
        return DiagnosticError.at(self.source.location(offset), message)

    def error_at_next_token(self, message: str) -> DiagnosticError:
        """An error at the next token."""
        return self.error(message, self.next_offset)

    def error_with_type(self, message: str, type: Type, offset: int) -> DiagnosticError:
        """An error with a type at the end of its message."""
        return self.error(f"{message}'{self.attribute_printer.type(type)}'", offset)

    def wrong_token_error(self, message: str, offset: int) -> DiagnosticError:
        """An error about an unexpected token at `offset`, located at the end of the token before it."""
        last = max(0, len(self.source.text) - 1)
        error = self.error(message, end_of_previous(self.source.text, min(offset, last)))
        return error.help(hint) if (hint := self._hint(offset)) else error

    def _hint(self, offset: int) -> str:
        """The dialect's help for an attribute whose value wrongly starts with `<`; empty if there is none."""
        text = self.source.text
        name = _NAMED_VALUE.search(text, max(0, offset - _LONGEST_NAME), offset)
        if name is None or not text.startswith("<", offset):
            return ""
        dialect = self.environment.dialects.find(name[1].partition(".")[0])
        return "" if dialect is None else dialect.hints.get(name[1], "")

    def raise_width_error(self, word: str, offset: int) -> NoReturn:
        digits = word.partition("i")[2].lstrip("0")
        if len(digits) > 10 or int(digits) >= 1 << 32:
            raise self.error("invalid integer width", offset)
        raise self.error(f"integer bitwidth is limited to {MAX_INTEGER_WIDTH} bits", offset)

    def layout_and_space(
        self, attributes: list[tuple[Attribute, int]], is_unranked: bool
    ) -> tuple[Attribute | None, Attribute | None]:
        layout: Attribute | None = None
        space: Attribute | None = None
        for attribute, following in attributes:
            if isinstance(attribute, AffineMapAttr | StridedLayout):
                layout = attribute
                if is_unranked:
                    raise self.error("cannot have affine map for unranked memref type", following)
                if space is not None:
                    raise self.error("expected memory space to be last in memref type", following)
            elif space is not None:
                raise self.error("multiple memory spaces specified in memref type", following)
            else:
                space = attribute
        return layout, space


# --- Lists ---------------------------------------------------------------------------------------


@action("empty_list")
def _empty_list(_context: ActionContext, _parts: Parts, _offsets: list[int]) -> Parts:
    return []


@action("singleton")
def _singleton(_context: ActionContext, parts: Parts, _offsets: list[int]) -> Parts:
    return [parts[0]]


@action("append")
def _append(_context: ActionContext, parts: Parts, _offsets: list[int]) -> Parts:
    elements: Parts = parts[0]
    elements.append(parts[-1])
    return elements


@action("bracketed")
def _bracketed(_context: ActionContext, parts: Parts, _offsets: list[int]) -> Any:
    return parts[1]


@action("singleton_with_offset")
def _singleton_with_offset(_context: ActionContext, parts: Parts, offsets: list[int]) -> Parts:
    return [(parts[0], offsets[0])]


@action("append_with_offset")
def _append_with_offset(_context: ActionContext, parts: Parts, offsets: list[int]) -> Parts:
    elements: Parts = parts[0]
    elements.append((parts[2], offsets[2]))
    return elements


_LARGEST_DIMENSION = (1 << 63) - 1
_DIMENSION = constant_pattern(r"\?|\d+")
_VECTOR_DIMENSION = constant_pattern(r"(\[\s*+)?(\d+)")
_COMMENT = constant_pattern(COMMENT)


@action("integer_type")
def _integer_type(context: ActionContext, parts: Parts, offsets: list[int]) -> IntegerType:
    return integer_type(parts[0]) or context.raise_width_error(parts[0], offsets[0])


def integer_type(word: str) -> IntegerType | None:
    """The type `i32`, `si8` or `ui4`; None if it is too wide for MLIR."""
    signedness, _, digits = word.partition("i")
    digits = digits.lstrip("0") or "0"
    if len(digits) > 8 or int(digits) > MAX_INTEGER_WIDTH:
        return None
    return IntegerType(int(digits), Signedness(signedness))


@action("float_type")
def _float_type(_context: ActionContext, parts: Parts, _offsets: list[int]) -> FloatType:
    return FloatType(parts[0])


@action("index_type")
def _index_type(_context: ActionContext, _parts: Parts, _offsets: list[int]) -> IndexType:
    return INDEX


@action("none_type")
def _none_type(_context: ActionContext, _parts: Parts, _offsets: list[int]) -> NoneType:
    return NONE


@action("complex")
def _complex(context: ActionContext, parts: Parts, offsets: list[int]) -> ComplexType:
    if not isinstance(parts[2], IntegerType | FloatType):
        raise context.error("invalid element type for complex", offsets[2])
    return ComplexType(parts[2])


@action("tuple")
def _tuple(_context: ActionContext, parts: Parts, _offsets: list[int]) -> TupleType:
    return TupleType(tuple(parts[2]) if len(parts) == 4 else ())


@action("function")
def _function(_context: ActionContext, parts: Parts, _offsets: list[int]) -> FunctionType:
    return FunctionType(tuple(parts[0]), tuple(parts[2]))


@action("tensor")
def _tensor(context: ActionContext, parts: Parts, offsets: list[int]) -> RankedTensor | UnrankedTensor:
    shape: tuple[int, ...] | None = parts[2]
    element, encoding = parts[3], parts[5] if len(parts) == 7 else None
    if isinstance(element, _INVALID_TENSOR_ELEMENTS):
        raise context.error("invalid tensor element type", offsets[3])
    if shape is not None:
        if encoding is not None:
            type = RankedTensor(shape, element, None)
            dialect = context.environment.dialects.find(encoding.dialect)
            if dialect is not None and dialect.verify_encoding is not None:
                problem = dialect.verify_encoding(encoding, type)
                if problem is not None:
                    raise context.error_with_type(problem, type, offsets[6])
        return RankedTensor(shape, element, encoding)
    if encoding is not None:
        raise context.error_at_next_token("cannot apply encoding to unranked tensor")
    return UnrankedTensor(element)


@action("shape")
def _shape(context: ActionContext, parts: Parts, offsets: list[int]) -> tuple[int, ...] | None:
    """The shape `4x?x`; None for the unranked `*x`."""
    if "*" in parts[0]:
        if "x" not in parts[0]:
            raise context.wrong_token_error("expected 'x' in dimension list", offsets[0] + len(parts[0]))
        return None
    text = _without_comments(parts[0])
    _check_dimensions_end(context, text, offsets[0])
    return tuple(_dimension(context, size, offsets[0]) for size in _DIMENSION.findall(text))


@action("vector_shape")
def _vector_shape(context: ActionContext, parts: Parts, offsets: list[int]) -> tuple[tuple[int, bool], ...]:
    """The sizes in `4x[8]x`, and whether each is scalable."""
    text = _without_comments(parts[0])
    for bracket in re.finditer(r"\[[^\]]*+", text):
        if not bracket[0][1:].strip():
            raise context.error("invalid dimension", offsets[0] + bracket.end())
        if not bracket[0].rstrip()[-1].isdigit() or text[bracket.end() : bracket.end() + 1] != "]":
            raise context.wrong_token_error(
                "missing ']' closing scalable dimension", offsets[0] + bracket.end()
            )
    _check_dimensions_end(context, text, offsets[0])
    sizes = _VECTOR_DIMENSION.findall(text)
    return tuple((_dimension(context, digits, offsets[0]), bool(bracket)) for bracket, digits in sizes)


@action("vector")
def _vector(context: ActionContext, parts: Parts, offsets: list[int]) -> VectorType:
    shape = tuple(size for size, _ in parts[2])
    if 0 in shape:
        sizes = ", ".join(map(str, shape))
        message = f"vector types must have positive constant sizes but got {sizes}"
        raise context.error(message, offsets[0])
    if not isinstance(parts[3], IntegerType | FloatType | IndexType):
        message = "failed to verify 'elementType': VectorElementTypeInterface instance"
        raise context.error(message, offsets[0])
    return VectorType(shape, parts[3], tuple(is_scalable for _, is_scalable in parts[2]))


@action("memref")
def _memref(context: ActionContext, parts: Parts, offsets: list[int]) -> MemRefType | UnrankedMemRef:
    shape: tuple[int, ...] | None = parts[2]
    element = parts[3]
    if isinstance(element, _INVALID_MEMREF_ELEMENTS):
        raise context.error("invalid memref element type", offsets[3])
    layout, space = context.layout_and_space(parts[5] if len(parts) == 7 else [], shape is None)
    if space is not None and not isinstance(space, IntegerAttr | StringAttr | DictAttr):
        raise context.error("unsupported memory space Attribute", offsets[0])
    if isinstance(space, IntegerAttr) and space.value == 0:
        space = None
    if shape is None:
        return UnrankedMemRef(element, space)
    if (problem := _layout_problem(layout, len(shape))) is not None:
        raise context.error(problem, offsets[0])
    if isinstance(layout, AffineMapAttr) and layout.is_identity:
        layout = None
    return MemRefType(shape, element, layout, space)


@action("layout")
def _layout(context: ActionContext, parts: Parts, _offsets: list[int]) -> tuple[Attribute, int]:
    return parts[0], context.next_offset


def _layout_problem(layout: Attribute | None, rank: int) -> str | None:
    if isinstance(layout, StridedLayout) and len(layout.strides) != rank:
        return "expected the number of strides to match the rank"
    if isinstance(layout, AffineMapAttr) and layout.num_dims != rank:
        return f"memref layout mismatch between rank and affine map: {rank} != {layout.num_dims}"
    return None


def _without_comments(text: str) -> str:
    """The text with spaces in place of comments, so that offsets stay the same."""
    return _COMMENT.sub(lambda comment: " " * len(comment[0]), text)


def _check_dimensions_end(context: ActionContext, text: str, offset: int) -> None:
    last = text.rstrip(" \t\r\n")[-1:]
    if last.isdigit() or last in ("?", "]"):
        raise context.wrong_token_error("expected 'x' in dimension list", offset + len(text))


def _dimension(context: ActionContext, text: str, offset: int) -> int:
    if text == "?":
        return DYNAMIC
    if len(text) > 30 or int(text) > _LARGEST_DIMENSION:
        # The first occurrence of the digits is this one: at an earlier one, the error would have been raised.
        raise context.error("invalid dimension", context.source.text.index(text, offset))
    return int(text)


_INVALID_TENSOR_ELEMENTS = (
    NoneType,
    TupleType,
    FunctionType,
    RankedTensor,
    UnrankedTensor,
    MemRefType,
    UnrankedMemRef,
)
_INVALID_MEMREF_ELEMENTS = (NoneType, TupleType, FunctionType, RankedTensor, UnrankedTensor)
