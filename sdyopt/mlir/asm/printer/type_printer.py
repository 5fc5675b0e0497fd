"""The texts of the builtin types, as MLIR prints them, and the registry of functions that print a class.

`attribute_printer.py` registers those of attributes and locations.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from sdyopt.base.interning import Interned
from sdyopt.mlir.ir.attribute import Attribute
from sdyopt.mlir.ir.builtin_attributes import FloatAttr, IntegerAttr
from sdyopt.mlir.ir.floats import float_text
from sdyopt.mlir.ir.types import (
    DYNAMIC,
    F64,
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
    UnrankedMemRef,
    UnrankedTensor,
    VectorType,
)

_PRETTY_SYMBOL = re.compile(r"[A-Za-z][\w.]*(?:<[\s\S]*>)?", re.ASCII)

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
def _tuple_type(_attribute_printer: object, type: TupleType) -> Parts:
    return ["tuple<", *comma_separated(type.types), ">"]


@prints(FunctionType)
def _function_type(_attribute_printer: object, type: FunctionType) -> Parts:
    parts = ["(", *comma_separated(type.inputs), ") -> "]
    if len(type.results) == 1 and not isinstance(type.results[0], FunctionType):
        return [*parts, type.results[0]]
    return [*parts, "(", *comma_separated(type.results), ")"]


@prints(RankedTensor)
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
