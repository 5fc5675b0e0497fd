"""Arithmetic on constants: numbers, and tensors of numbers element by element."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from math import inf, isnan, nan

from sdyopt.ir.attribute import Attribute
from sdyopt.ir.elements_attributes import DenseElements, dense, element_size
from sdyopt.ir.floats import FloatFormat, decode, encode_double
from sdyopt.ir.numeric_attributes import FloatAttr, IntegerAttr, integer, integer_width, wrapped
from sdyopt.ir.types import FloatType, IndexType, IntegerType, RankedShape, RankedTensor, Type, VectorType

# What is worked out for each element; None where there is no answer.
OnIntegers = Callable[..., int | None]
OnFloats = Callable[..., float | None]

# Formats that arithmetic on doubles is exact enough for: a result that is rounded twice is right.
_SMALL_FORMATS = frozenset({"bf16", "f16", "f32", "f64", "tf32"})


def fold_integers(
    constants: Sequence[Attribute | None], compute: OnIntegers, result_element: Type | None = None
) -> Attribute | None:
    """The constant that `compute` makes of integers; they are signed, and the result wraps around."""
    return _fold(constants, compute, result_element)


def fold_floats(constants: Sequence[Attribute | None], compute: OnFloats) -> Attribute | None:
    """The constant that `compute` makes of floating point numbers, as doubles."""

    def on_bits(format: FloatFormat) -> OnIntegers:
        def compute_bits(*bits: int) -> int | None:
            value = compute(*[double(b, format) for b in bits])
            return None if value is None else float_bits(value, format)

        return compute_bits

    first = constants[0]
    type = element_type(first)
    if not isinstance(type, FloatType) or type.name not in _SMALL_FORMATS:
        return None
    return _fold(constants, on_bits(type.format), None)


def _fold(
    constants: Sequence[Attribute | None], compute: OnIntegers, result_element: Type | None
) -> Attribute | None:
    if all(isinstance(c, IntegerAttr | FloatAttr) for c in constants):
        numbers = [c.value if isinstance(c, IntegerAttr) else c.bits for c in constants]  # type: ignore[union-attr]
        value = compute(*numbers)
        type = result_element or element_type(constants[0])
        return None if value is None or type is None else scalar(value, type)
    tensors = [c for c in constants if isinstance(c, DenseElements)]
    if len(tensors) != len(constants):
        return None
    values = _each(tensors, compute)
    if values is None:
        return None
    shape = tensors[0].type
    element = result_element or shape.element
    size = element_size(element)
    mask = (1 << 8 * size) - 1
    data = b"".join([(value & mask).to_bytes(size, "little") for value in values])
    return dense(with_element(shape, element), data)


def _each(tensors: list[DenseElements], compute: OnIntegers) -> list[int] | None:
    if all(tensor.is_splat for tensor in tensors):
        operands = [elements(tensor)[:1] for tensor in tensors]
    else:
        operands = [elements(tensor, expanded=True) for tensor in tensors]
    values = [compute(*numbers) for numbers in zip(*operands, strict=True)]
    return None if None in values else values  # type: ignore[return-value]


def elements(tensor: DenseElements, expanded: bool = False) -> list[int]:
    """The elements: integers, or the bits of floating point numbers."""
    type = tensor.type.element
    size = element_size(type)
    data = tensor.expanded if expanded else tensor.data
    raw = [int.from_bytes(data[i : i + size], "little") for i in range(0, len(data), size)]
    if isinstance(type, IntegerType | IndexType):
        return [wrapped(value, type) for value in raw]
    return raw


def element_type(constant: Attribute | None) -> Type | None:
    """The type of a number, or of the numbers of a tensor."""
    if isinstance(constant, IntegerAttr | FloatAttr):
        return constant.type
    return constant.type.element if isinstance(constant, DenseElements) else None


def scalar(value: int, type: Type) -> Attribute:
    """The number, as an attribute: an integer, or the bits of a floating point number."""
    return FloatAttr(value, type) if isinstance(type, FloatType) else integer(value, type)


def splat_of(constant: Attribute | None) -> int | None:
    """The one number (or its bits) that a constant consists of."""
    if isinstance(constant, IntegerAttr):
        return constant.value
    if isinstance(constant, FloatAttr):
        return constant.bits
    if isinstance(constant, DenseElements) and constant.is_splat:
        return elements(constant)[0]
    return None


def float_of(constant: Attribute | None) -> float | None:
    """The one floating point number that a constant consists of."""
    bits, type = splat_of(constant), element_type(constant)
    if bits is None or not isinstance(type, FloatType):
        return None
    return double(bits, type.format)


def full(value: int, type: Type) -> Attribute | None:
    """The constant of this type all of which is one integer; None if there can be none."""
    if isinstance(type, IntegerType | IndexType):
        return integer(value, type)
    if not isinstance(type, RankedTensor | VectorType) or not type.has_static_shape:
        return None
    size = element_size(type.element)
    return dense(type, (value & ((1 << 8 * size) - 1)).to_bytes(size, "little"))


def with_element(shape: RankedShape, element: Type) -> RankedShape:
    """The same shape with another type of elements."""
    if isinstance(shape, VectorType):
        return VectorType(shape.shape, element, shape.scalable)
    return RankedTensor(shape.shape, element)


def unsigned(value: int, type: Type) -> int:
    """The integer, its bits read as an unsigned number."""
    assert isinstance(type, IntegerType | IndexType)
    return value & ((1 << integer_width(type)) - 1)


def double(bits: int, format: FloatFormat) -> float:
    """The number these bits mean, as a double."""
    number = decode(bits, format)
    if number is None:
        mantissa = bits & ((1 << format.mantissa_bits) - 1)
        return nan if mantissa else (-inf if bits >> (format.width - 1) else inf)
    value = float(Fraction(number.significand) * Fraction(2) ** number.exponent)
    return -value if number.is_negative else value


def float_bits(value: float, format: FloatFormat) -> int:
    """The bits of the number nearest to a double; those of the plain NaN for NaN."""
    if isnan(value):
        ones = ((1 << format.exponent_bits) - 1) << format.mantissa_bits
        return ones | 1 << (format.mantissa_bits - 1)
    return encode_double(value, format)
