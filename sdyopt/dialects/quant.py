"""The dialect quant: types of numbers that are stored as integers and stand for others."""

from __future__ import annotations

from dataclasses import dataclass

from sdyopt.ir.dialect import Dialect
from sdyopt.ir.types import FloatType, Type

quant = DIALECT = Dialect("quant")


class QuantizedType(Type):
    """Base of the types whose numbers are kept as `storage` between `minimum` and `maximum`.

    Scales are the bit patterns of `f64` numbers.
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


@dataclass(frozen=True, slots=True, eq=False)
class AnyQuantized(QuantizedType):
    """`!quant.any<i8<-8:7>:f32>`: how numbers are stored, not what they stand for."""

    is_signed: bool
    storage: Type
    expressed: FloatType | None
    minimum: int
    maximum: int


@dataclass(frozen=True, slots=True, eq=False)
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


@dataclass(frozen=True, slots=True, eq=False)
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
