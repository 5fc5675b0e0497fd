"""Types of numbers that are stored as integers and stand for others."""

from __future__ import annotations

from sdyopt.ir.types import FloatType, IntegerType, Type

MAX_STORAGE_WIDTH = 32

# What fits into storage types that are no integers.
_FLOAT_RANGES = {"f8E5M2": 57344, "f8E4M3FN": 448, "f4E2M1FN": 6}


class QuantizedType(Type):
    """Base of the types whose numbers are kept as `storage` between `minimum` and `maximum`.

    The bits of an integer are read as `is_signed` says. Scales are bit patterns, of `f64` numbers
    where nothing else is said.
    """

    __slots__ = ()

    is_signed: bool
    storage: Type
    expressed: FloatType | None
    minimum: int
    maximum: int
    dialect = "quant"

    @property
    def zeros(self) -> tuple[int, ...]:
        """The stored numbers that stand for zero."""
        return ()


class AnyQuantized(QuantizedType):
    """`!quant.any<i8<-8:7>:f32>`: how numbers are stored, not what they stand for."""

    is_signed: bool
    storage: Type
    expressed: FloatType | None
    minimum: int
    maximum: int


class UniformQuantized(QuantizedType):
    """`!quant.uniform<i8:f32, 2.0:3>`: a stored number x stands for (x - zero) * scale."""

    is_signed: bool
    storage: Type
    expressed: FloatType
    minimum: int
    maximum: int
    scale: int
    zero: int

    @property
    def zeros(self) -> tuple[int, ...]:
        return (self.zero,)


class UniformQuantizedPerAxis(QuantizedType):
    """`!quant.uniform<i8:f32:1, {2.0:3, 4.0}>`: a scale and a zero for each index of an axis."""

    is_signed: bool
    storage: Type
    expressed: FloatType
    minimum: int
    maximum: int
    axis: int
    scales: tuple[int, ...]
    zero_points: tuple[int, ...]

    @property
    def zeros(self) -> tuple[int, ...]:
        return self.zero_points


class UniformQuantizedSubChannel(QuantizedType):
    """`!quant.uniform<i8:f32:{0:2}, {{2.0:3}}>`: a scale and a zero for each block of a tensor.

    `blocks` are (axis, size of a block). Scales are bit patterns of the expressed type; `shape` is
    how they and the zeros are nested.
    """

    is_signed: bool
    storage: Type
    expressed: FloatType
    minimum: int
    maximum: int
    blocks: tuple[tuple[int, int], ...]
    shape: tuple[int, ...]
    scales: tuple[int, ...]
    zero_points: tuple[int, ...]


class CalibratedQuantized(Type):
    """`!quant.calibrated<f32<-1.0:1.0>>`: the range in which numbers were seen, as `f64` bit patterns."""

    expressed: FloatType
    minimum: int
    maximum: int
    dialect = "quant"


class QuantileType(Type):
    """`!quant.quantile<i1:f16, {-1.0,1.0}>`: a stored number is an index into a list of others.

    `values` are `f64` bit patterns. `limits` are the least and the greatest index, where they are not
    all that the storage has room for.
    """

    storage: Type
    quantile: FloatType
    values: tuple[int, ...]
    limits: tuple[int, int] | None
    dialect = "quant"


def storage_width(type: Type) -> int | None:
    """The width of a type that numbers can be stored in; None if it is none of these."""
    if isinstance(type, QuantileType):
        return storage_width(type.storage)
    if isinstance(type, FloatType):
        return type.width if type.name in _FLOAT_RANGES else None
    return type.width if isinstance(type, IntegerType) else None


def default_range(type: Type, is_signed: bool) -> tuple[int, int]:
    """The least and the greatest number that a storage type has room for."""
    if isinstance(type, QuantileType):
        return type.limits or (0, (1 << (storage_width(type) or 0)) - 1)
    if isinstance(type, FloatType):
        limit = _FLOAT_RANGES[type.name]
        return -limit, limit
    assert isinstance(type, IntegerType)
    if is_signed:
        return -(1 << (type.width - 1)), (1 << (type.width - 1)) - 1
    return 0, (1 << type.width) - 1
