"""Prints builtin types and attributes.

`attribute_printer.py` registers those of attributes and locations.
"""

from __future__ import annotations

import re
import sys
from array import array
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from sdyopt.base.interning import Interned
from sdyopt.base.patterns import constant_pattern
from sdyopt.mlir.asm.lexical import escape
from sdyopt.mlir.ir.affine import (
    AffineBinary,
    AffineConstant,
    AffineDim,
    AffineExpr,
    AffineMapAttr,
    AffineOperator,
    AffineSymbol,
    IntegerSetAttr,
)
from sdyopt.mlir.ir.attribute import Attribute
from sdyopt.mlir.ir.builtin_attributes import (
    DenseArray,
    DenseElements,
    DenseStringElements,
    FloatAttr,
    IntegerAttr,
    can_be_negative,
    element_size,
)
from sdyopt.mlir.ir.floats import float_text
from sdyopt.mlir.ir.holes import Hole
from sdyopt.mlir.ir.types import (
    DYNAMIC,
    F64,
    I1,
    I64,
    ComplexType,
    FloatType,
    FunctionType,
    IndexType,
    IntegerType,
    MemRefType,
    NoneType,
    OpaqueType,
    RankedTensor,
    TupleType,
    Type,
    UnrankedMemRef,
    UnrankedTensor,
    VectorType,
)

# The largest number of elements of a tuple type without an alias.
MAX_UNNAMED_TUPLE = 16

_PRETTY_SYMBOL = constant_pattern(r"[A-Za-z][\w.]*(?:<[\s\S]*>)?", re.ASCII)

# The text of an attribute, in which nested attributes, types and locations stand for their text.
Parts = list[str | Interned]
# (the attribute printer, an attribute, type or location) -> its parts
PrintFunction = Callable[[Any, Any], Parts]
F = TypeVar("F", bound=PrintFunction)
PRINT_FUNCTIONS: dict[type[Interned], PrintFunction] = {}


def prints(*classes: type[Interned]) -> Callable[[F], F]:
    """Decorator: the function that prints these classes of attributes, types or locations."""

    def register(function: F) -> F:
        for cls in classes:
            assert cls not in PRINT_FUNCTIONS
            PRINT_FUNCTIONS[cls] = function
        return function

    return register


def dialect_symbol(prefix: str, namespace: str, body: str) -> str:
    """`#namespace.body` if the body is a keyword, alone or before `<…>`; otherwise `#namespace<body>`."""
    if _PRETTY_SYMBOL.fullmatch(body):
        return f"{prefix}{namespace}.{body}"
    return f"{prefix}{namespace}<{body}>"


def comma_separated(elements: Sequence[Interned | str]) -> Parts:
    """The elements, comma-separated."""
    parts: Parts = []
    for element in elements:
        parts += (", ", element)
    return parts[1:]


def short_text(attribute: Attribute) -> str | None:
    """The text of an `i64` or `f64` attribute without its type; None if the type is needed.

    A float that is printed as hexadecimal bits needs it, because it would be parsed as an integer.
    """
    if isinstance(attribute, IntegerAttr) and attribute.type is I64:
        return str(attribute.value)
    if isinstance(attribute, FloatAttr) and attribute.type is F64:
        text = float_text(attribute.bits, F64.format)
        return None if text.startswith("0x") else text
    return None


@prints(IntegerType)
def _integer_type(_attribute_printer: object, type: IntegerType) -> Parts:
    return [f"{type.signedness.value}i{type.width}"]


@prints(FloatType)
def _float_type(_attribute_printer: object, type: FloatType) -> Parts:
    return [type.name]


@prints(IndexType)
def _index_type(_attribute_printer: object, _type: IndexType) -> Parts:
    return ["index"]


@prints(NoneType)
def _none_type(_attribute_printer: object, _type: NoneType) -> Parts:
    return ["none"]


@prints(ComplexType)
def _complex_type(_attribute_printer: object, type: ComplexType) -> Parts:
    return ["complex<", type.element, ">"]


@prints(TupleType)
def _tuple_type(attribute_printer: Any, type: TupleType) -> Parts:
    if len(type.types) > MAX_UNNAMED_TUPLE:
        attribute_printer.lacks_alias = True
    return ["tuple<", *comma_separated(type.types), ">"]


@prints(FunctionType)
def _function_type(_attribute_printer: object, type: FunctionType) -> Parts:
    parts = ["(", *comma_separated(type.inputs), ") -> "]
    if len(type.results) == 1 and not isinstance(type.results[0], FunctionType):
        return [*parts, type.results[0]]
    return [*parts, "(", *comma_separated(type.results), ")"]


@prints(RankedTensor, Hole)  # reading a hole raises `HoleInspected`
def _ranked_tensor(_attribute_printer: object, type: RankedTensor) -> Parts:
    encoding: Parts = [] if type.encoding is None else [", ", type.encoding]
    return [f"tensor<{_dimensions(type.shape)}", type.element, *encoding, ">"]


@prints(UnrankedTensor)
def _unranked_tensor(_attribute_printer: object, type: UnrankedTensor) -> Parts:
    return ["tensor<*x", type.element, ">"]


@prints(VectorType)
def _vector_type(_attribute_printer: object, type: VectorType) -> Parts:
    sizes = zip(type.shape, type.scalable, strict=True)
    dimensions = "".join(f"[{size}]x" if is_scalable else f"{size}x" for size, is_scalable in sizes)
    return [f"vector<{dimensions}", type.element, ">"]


@prints(MemRefType)
def _memref_type(_attribute_printer: object, type: MemRefType) -> Parts:
    layout: Parts = [] if type.layout is None else [", ", type.layout]
    return [
        f"memref<{_dimensions(type.shape)}",
        type.element,
        *layout,
        *_memory_space(type.memory_space),
        ">",
    ]


@prints(UnrankedMemRef)
def _unranked_memref(_attribute_printer: object, type: UnrankedMemRef) -> Parts:
    return ["memref<*x", type.element, *_memory_space(type.memory_space), ">"]


@prints(OpaqueType)
def _opaque_type(_attribute_printer: object, type: OpaqueType) -> Parts:
    return [dialect_symbol("!", type.namespace, type.body)]


def _dimensions(shape: tuple[int, ...]) -> str:
    return "".join(["?x" if size == DYNAMIC else f"{size}x" for size in shape])


def _memory_space(space: Attribute | None) -> Parts:
    if space is None:
        return []
    return [", ", short_text(space) or space]


def map_text(map: AffineMapAttr) -> str:
    """`affine_map<(d0)[s0] -> (d0 + s0)>`."""
    results = ", ".join(expression_text(result) for result in map.results)
    return f"affine_map<{_dims_and_symbols(map.num_dims, map.num_symbols)} -> ({results})>"


def set_text(set: IntegerSetAttr) -> str:
    """`affine_set<(d0) : (d0 - 1 >= 0)>`."""
    constraints = ", ".join(
        f"{expression_text(expression)} {'==' if is_equality else '>='} 0"
        for expression, is_equality in set.constraints
    )
    return f"affine_set<{_dims_and_symbols(set.num_dims, set.num_symbols)} : ({constraints})>"


def expression_text(expression: AffineExpr, is_operand: bool = False) -> str:
    """The expression, in parentheses if it is a binary expression and `is_operand`."""
    if isinstance(expression, AffineDim):
        return f"d{expression.position}"
    if isinstance(expression, AffineSymbol):
        return f"s{expression.position}"
    if isinstance(expression, AffineConstant):
        return str(expression.value)
    assert isinstance(expression, AffineBinary)
    text = _sum(expression) if expression.operator is AffineOperator.ADD else _product(expression)
    return f"({text})" if is_operand else text


def _dims_and_symbols(num_dims: int, num_symbols: int) -> str:
    dims = ", ".join(f"d{position}" for position in range(num_dims))
    symbols = ", ".join(f"s{position}" for position in range(num_symbols))
    return f"({dims})[{symbols}]" if symbols else f"({dims})"


def _product(expression: AffineBinary) -> str:
    lhs = expression_text(expression.lhs, is_operand=True)
    factor = expression.rhs
    is_product = expression.operator is AffineOperator.MULTIPLY
    if is_product and isinstance(factor, AffineConstant) and factor.value == -1:
        return f"-{lhs}"
    return f"{lhs} {expression.operator.value} {expression_text(factor, is_operand=True)}"


def _sum(expression: AffineBinary) -> str:
    """A sum, in which negative terms are subtracted."""
    lhs, rhs = expression_text(expression.lhs), expression.rhs
    if isinstance(rhs, AffineConstant) and rhs.value < 0:
        return f"{lhs} - {-rhs.value}"
    if isinstance(rhs, AffineBinary) and rhs.operator is AffineOperator.MULTIPLY:
        factor = rhs.rhs
        if isinstance(factor, AffineConstant) and factor.value == -1:
            is_sum = isinstance(rhs.lhs, AffineBinary) and rhs.lhs.operator is AffineOperator.ADD
            return f"{lhs} - {expression_text(rhs.lhs, is_operand=is_sum)}"
        if isinstance(factor, AffineConstant) and factor.value < -1:
            return f"{lhs} - {expression_text(rhs.lhs, is_operand=True)} * {-factor.value}"
    return f"{lhs} + {expression_text(rhs)}"


_ARRAY_CODES = {1: "b", 2: "h", 4: "i", 8: "q"}


def dense_text(attribute: DenseElements, hex_larger_than: int) -> str:
    """The text between `dense<` and `>`, hexadecimal above `hex_larger_than` elements (-1: never)."""
    if not attribute.data:
        return ""
    type = attribute.type
    if attribute.is_splat:
        element = type.element
        if isinstance(element, FloatType):
            bits = int.from_bytes(attribute.data, "little") & ((1 << element.width) - 1)
            return float_text(bits, element.format)
        return _texts(attribute.data, element)[0]
    if 0 <= hex_larger_than < type.num_elements:
        return f'"0x{attribute.data.hex().upper()}"'
    return _nested(_texts(attribute.data, type.element), type.shape)


def dense_string_text(attribute: DenseStringElements) -> str:
    """The text between `dense<` and `>`."""
    if not attribute.values:
        return ""
    texts = [f'"{escape(value)}"' for value in attribute.values]
    return texts[0] if attribute.is_splat else _nested(texts, attribute.type.shape)


def dense_array_text(attribute: DenseArray) -> str:
    """The numbers of `array<type: …>`."""
    element = attribute.element
    if isinstance(element, FloatType):
        format = element.format
        return ", ".join([float_text(bits, format) for bits in attribute.values])
    if element is I1:
        return ", ".join(["true" if value else "false" for value in attribute.values])
    return ", ".join(map(str, attribute.values))


def _texts(data: bytes, type: Type) -> list[str]:
    """The text of every element."""
    if isinstance(type, ComplexType):
        parts = _texts(data, type.element)
        return [f"({real},{imaginary})" for real, imaginary in zip(parts[::2], parts[1::2], strict=True)]
    size = element_size(type)
    if isinstance(type, FloatType):
        format = type.format
        mask = (1 << type.width) - 1
        return [float_text(bits & mask, format) for bits in _integers(data, size, is_signed=False)]
    assert isinstance(type, IntegerType | IndexType)
    if type is I1:
        return ["true" if value else "false" for value in data]
    return list(map(str, _integers(data, size, can_be_negative(type))))


def _integers(data: bytes, size: int, is_signed: bool) -> list[int]:
    code = _ARRAY_CODES.get(size)
    if code is None:
        starts = range(0, len(data), size)
        return [int.from_bytes(data[start : start + size], "little", signed=is_signed) for start in starts]
    values = array(code if is_signed else code.upper(), data)
    if sys.byteorder == "big":
        values.byteswap()
    return values.tolist()


def _nested(texts: list[str], shape: Sequence[int]) -> str:
    """The texts in nested brackets, one level per dimension."""
    for size in reversed(shape):
        texts = [f"[{', '.join(texts[start : start + size])}]" for start in range(0, len(texts), size)]
    return texts[0]
