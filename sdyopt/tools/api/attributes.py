"""Types and attributes, which print as MLIR does."""

from __future__ import annotations

from collections.abc import Callable
from math import inf, ldexp, nan
from typing import Any, Generic, TypeVar

from sdyopt.base.interning import Interned
from sdyopt.mlir.asm.printer.attribute_printer import AttributePrinter
from sdyopt.mlir.ir import attribute as ir
from sdyopt.mlir.ir.builtin_attributes import DenseArray, FloatAttr, IntegerAttr
from sdyopt.mlir.ir.floats import FloatFormat, Specials, decode, encode_double
from sdyopt.mlir.ir.types import DYNAMIC, I1, FloatType, RankedShapedType, ShapedType

I = TypeVar("I", bound=Interned)  # noqa: E741  the IR object


class View(Generic[I]):
    """A read-only view of `ir`, an interned object of the IR. Views of the same object are equal."""

    __slots__ = ("ir",)

    ir: I

    def __init__(self, ir: I) -> None:
        self.ir = ir

    def __eq__(self, other: object) -> bool:
        return isinstance(other, View) and self.ir is other.ir

    def __hash__(self) -> int:
        return hash(self.ir)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self})"


class Type(View[ir.Type]):
    """The type of a value. `str` is MLIR's text, such as `tensor<64x128xf32>`."""

    __slots__ = ()

    @property
    def shape(self) -> tuple[int | None, ...] | None:
        """The sizes of the dimensions, with None for each dynamic one; None for a type without a rank."""
        if not isinstance(self.ir, RankedShapedType):
            return None
        return tuple([None if size == DYNAMIC else size for size in self.ir.shape])

    @property
    def rank(self) -> int | None:
        """The number of dimensions; None for a type without a rank."""
        return self.ir.rank if isinstance(self.ir, RankedShapedType) else None

    @property
    def element_type(self) -> Type | None:
        """The element type of a tensor, vector or memref; None for any other type."""
        return Type(self.ir.element) if isinstance(self.ir, ShapedType) else None

    def __str__(self) -> str:
        return AttributePrinter().type(self.ir)


class Attribute(View[ir.Attribute]):
    """An attribute. `str` is MLIR's text, such as `#sdy.sharding<@mesh, [{"x"}]>`."""

    __slots__ = ()

    @property
    def value(self) -> Any:
        """The value in Python; this attribute itself if it has none.

        Numbers, strings, types, arrays and dictionaries have one. A symbol reference is a string without `@`,
        a unit attribute is True.
        """
        convert = _VALUES.get(type(self.ir))
        return self if convert is None else convert(self.ir)

    def __str__(self) -> str:
        return AttributePrinter().attribute(self.ir)


def float_value(bits: int, format: FloatFormat) -> float:
    """The double nearest to the number that these bits encode in this format."""
    number = decode(bits, format)
    if number is None:
        infinities = (inf, -inf) if format.specials is Specials.IEEE else ()
        return next((value for value in infinities if encode_double(value, format) == bits), nan)
    sign = -1 if number.is_negative else 1
    try:
        return sign * ldexp(number.significand, number.exponent)
    except OverflowError:
        return sign * inf


def _integer(attribute: IntegerAttr) -> int | bool:
    return bool(attribute.value) if attribute.type is I1 else attribute.value


def _dense_array(attribute: DenseArray) -> tuple[int | float | bool, ...]:
    element = attribute.element
    if isinstance(element, FloatType):
        return tuple([float_value(bits, element.format) for bits in attribute.values])
    return tuple([bool(value) for value in attribute.values] if element is I1 else attribute.values)


_VALUES: dict[type[ir.Attribute], Callable[[Any], Any]] = {
    ir.ArrayAttr: lambda attribute: tuple([Attribute(element).value for element in attribute]),
    ir.DictAttr: lambda attribute: {name: Attribute(value).value for name, value in attribute},
    ir.StringAttr: lambda attribute: attribute.value,
    ir.SymbolRef: lambda attribute: "::".join((attribute.root, *attribute.nested)),
    ir.TypeAttr: lambda attribute: Type(attribute.type),
    ir.UnitAttr: lambda attribute: True,
    DenseArray: _dense_array,
    FloatAttr: lambda attribute: float_value(attribute.bits, attribute.type.format),
    IntegerAttr: _integer,
}
