"""Constant folding of arithmetic, elementwise on tensors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from math import inf, isnan, nan
from typing import overload

from sdyopt.mlir.ir.attribute import Attribute
from sdyopt.mlir.ir.builtin_attributes import (
    DenseElements,
    FloatAttr,
    IntegerAttr,
    dense,
    element_size,
    integer,
    integer_width,
    wrapped,
)
from sdyopt.mlir.ir.floats import FloatFormat, decode, encode_double
from sdyopt.mlir.ir.types import (
    I1,
    FloatType,
    IndexType,
    IntegerType,
    RankedShapedType,
    RankedTensor,
    ShapedType,
    Type,
    UnrankedTensor,
    VectorType,
)
from sdyopt.mlir.ir.value import Value

# The constant value of each operand of an operation; None for operands that are not constant.
Constants = Sequence[Attribute | None]
# What `Op.fold` returns.
FoldResult = Sequence[Value | Attribute] | None

# An element as it is stored: the value of an integer, or the bits of a float.
Element = int

# Compute an element of the result from one element of each operand; None if the result is undefined.
ElementFunction = Callable[..., Element | None]
IntegerFunction = Callable[..., int | None]
FloatFunction = Callable[..., float | None]

# The formats that are folded. Rounding the result of double arithmetic gives their correctly rounded result.
_FORMATS_FOLDED_AS_DOUBLES = frozenset({"bf16", "f16", "f32", "f64", "tf32"})


def fold_integers(
    constants: Constants, compute: IntegerFunction, result_element: Type | None = None
) -> Attribute | None:
    """Applies `compute` to signed integers, with wraparound; an `i1` is 0 or 1.

    None if an operand is not constant, or an element of the result is undefined.
    """
    return _fold(constants, compute, result_element)


def fold_floats(constants: Constants, compute: FloatFunction) -> Attribute | None:
    """Applies `compute` to floats, converted to doubles.

    None if an operand is not constant, an element of the result is undefined, or the format is not folded.
    """

    def on_bits(format: FloatFormat) -> ElementFunction:
        def compute_bits(*bits: Element) -> Element | None:
            value = compute(*[decode_to_double(b, format) for b in bits])
            return None if value is None else encode(value, format)

        return compute_bits

    first = constants[0]
    type = element_type(first)
    if not isinstance(type, FloatType) or type.name not in _FORMATS_FOLDED_AS_DOUBLES:
        return None
    return _fold(constants, on_bits(type.format), None)


def _fold(constants: Constants, compute: ElementFunction, result_element: Type | None) -> Attribute | None:
    if all(isinstance(c, IntegerAttr | FloatAttr) for c in constants):
        numbers = [c.value if isinstance(c, IntegerAttr) else c.bits for c in constants]  # type: ignore[union-attr]
        value = compute(*numbers)
        type = result_element or element_type(constants[0])
        return None if value is None or type is None else scalar(value, type)
    tensors = [c for c in constants if isinstance(c, DenseElements)]
    if len(tensors) != len(constants):
        return None
    values = _compute_elements(tensors, compute)
    if values is None:
        return None
    type = tensors[0].type
    element = result_element or type.element
    size = element_size(element)
    mask = (1 << 8 * size) - 1
    data = b"".join([(value & mask).to_bytes(size, "little") for value in values])
    return dense(with_element(type, element), data)


def _compute_elements(tensors: list[DenseElements], compute: ElementFunction) -> list[Element] | None:
    if all(tensor.is_splat for tensor in tensors):
        operands = [elements(tensor)[:1] for tensor in tensors]
    else:
        operands = [elements(tensor, expanded=True) for tensor in tensors]
    values = [compute(*numbers) for numbers in zip(*operands, strict=True)]
    return None if None in values else values  # type: ignore[return-value]


def elements(tensor: DenseElements, expanded: bool = False) -> list[Element]:
    """The elements; only one element for a splat, unless `expanded`."""
    type = tensor.type.element
    size = element_size(type)
    data = tensor.expanded if expanded else tensor.data
    raw = [int.from_bytes(data[i : i + size], "little") for i in range(0, len(data), size)]
    if isinstance(type, IntegerType | IndexType):
        return [wrapped(value, type) for value in raw]
    return raw


def element_at(tensor: DenseElements, index: int) -> Element:
    """The element with a number in row-major order, which is 0 for a splat."""
    type = tensor.type.element
    size = element_size(type)
    value = int.from_bytes(tensor.data[index * size : (index + 1) * size], "little")
    return wrapped(value, type) if isinstance(type, IntegerType | IndexType) else value


def element_type(constant: Attribute | None) -> Type | None:
    """The type of a number, or the element type of a tensor; None for other attributes."""
    if isinstance(constant, IntegerAttr | FloatAttr):
        return constant.type
    return constant.type.element if isinstance(constant, DenseElements) else None


def scalar(value: Element, type: Type) -> Attribute:
    """The attribute of an integer or a float."""
    return FloatAttr(value, type) if isinstance(type, FloatType) else integer(value, type)


def splat_of(constant: Attribute | None) -> Element | None:
    """A scalar, or each element of a splat; None for other attributes."""
    if isinstance(constant, IntegerAttr):
        return constant.value
    if isinstance(constant, FloatAttr):
        return constant.bits
    if isinstance(constant, DenseElements) and constant.is_splat:
        return elements(constant)[0]
    return None


def float_of(constant: Attribute | None) -> float | None:
    """The value of a float, or of all elements of a float splat, as a double; None for other attributes."""
    bits, type = splat_of(constant), element_type(constant)
    if bits is None or not isinstance(type, FloatType):
        return None
    return decode_to_double(bits, type.format)


def splat(value: Element, type: Type) -> Attribute | None:
    """The integer `value`, or the splat of it; None unless the type is an integer or has a static shape."""
    if isinstance(type, IntegerType | IndexType):
        return integer(value, type)
    if not isinstance(type, RankedTensor | VectorType) or not type.has_static_shape:
        return None
    size = element_size(type.element)
    return dense(type, (value & ((1 << 8 * size) - 1)).to_bytes(size, "little"))


@overload
def with_element(type: RankedShapedType, element: Type) -> RankedShapedType: ...
@overload
def with_element(type: ShapedType, element: Type) -> ShapedType: ...
def with_element(type: ShapedType, element: Type) -> ShapedType:
    """A tensor or vector type with another element type."""
    if isinstance(type, VectorType):
        return VectorType(type.shape, element, type.scalable)
    if isinstance(type, RankedTensor):
        return RankedTensor(type.shape, element, type.encoding)
    return UnrankedTensor(element)


def unsigned(value: int, type: Type) -> int:
    """The unsigned integer with the bits of `value`."""
    assert isinstance(type, IntegerType | IndexType)
    return value & ((1 << integer_width(type)) - 1)


def signed(value: int, type: Type) -> int:
    """The signed integer of a stored `value`: an `i1` is stored as 0 or 1, and 1 means -1."""
    return -value if type is I1 else value


def decode_to_double(bits: Element, format: FloatFormat) -> float:
    """The number with these bits, as a double."""
    number = decode(bits, format)
    if number is None:
        mantissa = bits & ((1 << format.mantissa_bits) - 1)
        return nan if mantissa else (-inf if bits >> (format.width - 1) else inf)
    value = float(Fraction(number.significand) * Fraction(2) ** number.exponent)
    return -value if number.is_negative else value


def encode(value: float, format: FloatFormat) -> Element:
    """The bits of the number nearest to a double; those of the default quiet NaN for NaN."""
    if isnan(value):
        ones = ((1 << format.exponent_bits) - 1) << format.mantissa_bits
        return ones | 1 << (format.mantissa_bits - 1)
    return encode_double(value, format)
