"""Integer and float attributes, elements attributes (dense, resource, sparse), dense arrays and layouts."""

from __future__ import annotations

from collections.abc import Iterable
from math import isnan

from sdyopt.mlir.ir.attribute import Attribute, Type
from sdyopt.mlir.ir.floats import encode_double, float_value, nan_bits
from sdyopt.mlir.ir.types import (
    I1,
    INDEX_WIDTH,
    ComplexType,
    FloatType,
    IndexType,
    IntegerType,
    RankedShapedType,
)


class IntegerAttr(Attribute):
    """`3 : i64`, `true`: an integer of integer or index type.

    `value` is in the range of a signed integer of the type's width or, for unsigned types and `i1`, of an
    unsigned one. `integer(…)` wraps any number into that range.
    """

    value: int
    type: IntegerType | IndexType


class FloatAttr(Attribute):
    """`1.0 : f32`: a floating-point number, stored as its bit pattern."""

    bits: int
    type: FloatType

    @property
    def value(self) -> float:
        """The nearest double."""
        return float_value(self.bits, self.type.format)


def floating(value: float, type: FloatType) -> FloatAttr:
    """The attribute `value : type`, rounded to the type."""
    bits = nan_bits(type.format) if isnan(value) else encode_double(value, type.format)
    return FloatAttr(bits, type)


def integer(value: int, type: Type) -> IntegerAttr:
    """The attribute `value : type`, wrapped to the width of the type."""
    assert isinstance(type, IntegerType | IndexType)
    return IntegerAttr(wrapped(value, type), type)


def boolean(value: bool) -> IntegerAttr:
    """The attribute `true` or `false`."""
    return TRUE if value else FALSE


def integer_width(type: IntegerType | IndexType) -> int:
    """The width of an integer or index type in bits."""
    return type.width if isinstance(type, IntegerType) else INDEX_WIDTH


def wrapped(value: int, type: IntegerType | IndexType) -> int:
    """`value` wrapped into the range of `type`."""
    width = integer_width(type)
    if value.bit_length() < width and (value >= 0 or can_be_negative(type)):
        # An integer, also if it is a boolean or a member of an enumeration. Wide types have long masks.
        return +value
    value &= (1 << width) - 1
    if not can_be_negative(type) or not value >> (width - 1) & 1:
        return value
    return value - (1 << width)


def can_be_negative(type: IntegerType | IndexType) -> bool:
    """Whether attributes of this type can be negative: not those of `ui8`, `i1` or `i0`."""
    if isinstance(type, IndexType):
        return True
    return type.width > 0 and not type.is_unsigned and type is not I1


TRUE = IntegerAttr(1, I1)
FALSE = IntegerAttr(0, I1)


# The number of elements to which a splat is expanded. Operations compare the length of the list with a rank,
# or twice a rank, or reject equal elements; for both, this many elements are enough.
MAX_EXPANDED = 1 << 17


class DenseElements(Attribute):
    """`dense<[1, 2]> : tensor<2xi32>`: the bytes of the elements, little-endian, in row-major order.

    Each number takes whole bytes (`i1`, `i4` and `f4E2M1FN` one, `tf32` three); a complex element is its real
    part followed by its imaginary part. A splat stores one element. Built by `dense`, which detects splats.
    """

    type: RankedShapedType
    data: bytes

    @property
    def is_splat(self) -> bool:
        """Whether `data` is one element, to which all are equal."""
        return len(self.data) == element_size(self.type.element)

    @property
    def expanded(self) -> bytes:
        """The bytes of all elements, those of a splat repeated."""
        return self.data * self.type.num_elements if self.is_splat else self.data

    @property
    def values(self) -> tuple[int, ...]:
        """The elements of an integer attribute, read as signed; of a splat at most `MAX_EXPANDED`."""
        size = element_size(self.type.element)
        offsets = range(0, len(self.data), size)
        numbers = [int.from_bytes(self.data[at : at + size], "little", signed=True) for at in offsets]
        return tuple(numbers * min(self.type.num_elements, MAX_EXPANDED) if self.is_splat else numbers)


class DenseStringElements(Attribute):
    """`dense<["a", "b"]> : tensor<2x!x.string>`. A splat stores one value."""

    type: RankedShapedType
    values: tuple[str, ...]

    @property
    def is_splat(self) -> bool:
        """Whether `values` has one value, to which all elements are equal."""
        return len(self.values) == 1


class DenseResource(Attribute):
    """`dense_resource<key> : tensor<2xi32>`: the elements are the blob with this key."""

    type: Type
    key: str


class DenseArray(Attribute):
    """`array<i64: 1, 2>`: integers, or floats as bit patterns."""

    element: IntegerType | FloatType
    values: tuple[int, ...] = ()

    def __len__(self) -> int:
        return len(self.values)


class SparseElements(Attribute):
    """`sparse<indices, values> : tensor<…>`: the elements are zero except for `values` at `indices`."""

    type: RankedShapedType
    indices: DenseElements
    values: DenseElements | DenseStringElements


class StridedLayout(Attribute):
    """`strided<[s0, s1], offset: o>`: a memref layout; strides and offset count elements, or are DYNAMIC."""

    strides: tuple[int, ...]
    offset: int = 0


def dense(type: RankedShapedType, data: bytes) -> DenseElements:
    """The dense attribute of these bytes: those of all elements, or of one element of a splat."""
    size = element_size(type.element)
    # Most data differ in the first two elements; only other data are compared with a copy of all elements.
    if data.startswith(data[:size], size) and data == data[:size] * (len(data) // size):
        data = data[:size]
    return DenseElements(type, data)


def dense_array(element: IntegerType | FloatType, values: Iterable[int]) -> DenseArray:
    """The attribute `array<element: values>`."""
    return DenseArray(element, tuple(values))


def element_size(type: Type) -> int:
    """The number of bytes of an element of this type in a `DenseElements`."""
    if isinstance(type, ComplexType):
        return 2 * element_size(type.element)
    if isinstance(type, FloatType):
        return (type.width + 7) // 8
    assert isinstance(type, IntegerType | IndexType)
    return max(1, (integer_width(type) + 7) // 8)
