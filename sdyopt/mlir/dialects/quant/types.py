"""Quantized types."""

from __future__ import annotations

from sdyopt.mlir.ir.types import FloatType, IntegerType, Type

MAX_STORAGE_WIDTH = 32

# The largest number of each floating-point storage type.
_FLOAT_RANGES = {"f8E5M2": 57344, "f8E4M3FN": 448, "f4E2M1FN": 6}


class QuantizedType(Type):
    """Base of the quantized types: numbers of type `expressed`, stored as numbers of type `storage`.

    Stored numbers are between `minimum` and `maximum`; integers among them are signed if `is_signed`.
    Scales are `f64` bit patterns unless the subclass states otherwise.
    """

    __slots__ = ()

    is_signed: bool
    storage: Type
    expressed: FloatType | None
    minimum: int
    maximum: int
    dialect = "quant"

    @property
    def all_zero_points(self) -> tuple[int, ...]:
        """The zero points; none if the type has no quantization parameters."""
        return ()


class AnyQuantized(QuantizedType):
    """`!quant.any<i8<-8:7>:f32>`: storage without quantization parameters."""

    is_signed: bool
    storage: Type
    expressed: FloatType | None
    minimum: int
    maximum: int


class UniformQuantized(QuantizedType):
    """`!quant.uniform<i8:f32, 2.0:3>`: the stored number x represents (x - zero_point) * scale."""

    is_signed: bool
    storage: Type
    expressed: FloatType
    minimum: int
    maximum: int
    scale: int
    zero_point: int

    @property
    def all_zero_points(self) -> tuple[int, ...]:
        return (self.zero_point,)


class UniformQuantizedPerAxis(QuantizedType):
    """`!quant.uniform<i8:f32:1, {2.0:3, 4.0}>`: a scale and a zero point per index along `axis`."""

    is_signed: bool
    storage: Type
    expressed: FloatType
    minimum: int
    maximum: int
    axis: int
    scales: tuple[int, ...]
    zero_points: tuple[int, ...]

    @property
    def all_zero_points(self) -> tuple[int, ...]:
        return self.zero_points


class UniformQuantizedSubChannel(QuantizedType):
    """`!quant.uniform<i8:f32:{0:2}, {{2.0:3}}>`: a scale and a zero point per block of a tensor.

    `blocks` are pairs of axis and block size. Scales are bit patterns of the expressed type; `shape` is
    the shape of the nested lists of scales and zero points.
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

    @property
    def all_zero_points(self) -> tuple[int, ...]:
        return self.zero_points


class CalibratedQuantized(Type):
    """`!quant.calibrated<f32<-1.0:1.0>>`: the observed range of values, as `f64` bit patterns."""

    expressed: FloatType
    minimum: int
    maximum: int
    dialect = "quant"


class QuantileType(Type):
    """`!quant.quantile<i1:f16, {-1.0,1.0}>`: a stored number is an index into a lookup table.

    `values` are the table, as `f64` bit patterns. `limits` are the minimum and maximum of stored numbers;
    None if they are not written, and then 0 and the largest unsigned number of the storage width.
    """

    storage: Type
    quantile: FloatType
    values: tuple[int, ...]
    limits: tuple[int, int] | None
    dialect = "quant"


def storage_width(type: Type) -> int | None:
    """The bit width of a storage type; None for other types."""
    if isinstance(type, QuantileType):
        return storage_width(type.storage)
    if isinstance(type, FloatType):
        return type.width if type.name in _FLOAT_RANGES else None
    return type.width if isinstance(type, IntegerType) else None


def default_range(type: Type, is_signed: bool) -> tuple[int, int]:
    """The minimum and maximum of stored numbers if the quantized type writes none."""
    if isinstance(type, QuantileType):
        return type.limits or (0, (1 << (storage_width(type) or 0)) - 1)
    if isinstance(type, FloatType):
        limit = _FLOAT_RANGES[type.name]
        return -limit, limit
    assert isinstance(type, IntegerType)
    if is_signed:
        return -(1 << (type.width - 1)), (1 << (type.width - 1)) - 1
    return 0, (1 << type.width) - 1
