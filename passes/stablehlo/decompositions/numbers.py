"""Tensors whose Python operators create operations, so that computations read as formulas, and sizes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import isnan

from sdyopt.mlir.dialects.arith.dialect import encode
from sdyopt.mlir.dialects.shape import ShapeOfOp
from sdyopt.mlir.dialects.stablehlo import elementwise as hlo
from sdyopt.mlir.dialects.stablehlo.compare_select import (
    AbsOp,
    BitcastConvertOp,
    ClampOp,
    CompareOp,
    ComparisonDirection,
    ConvertOp,
    ImagOp,
    IsFiniteOp,
    RealOp,
    SelectOp,
)
from sdyopt.mlir.dialects.stablehlo.nullary import ConstantOp
from sdyopt.mlir.dialects.stablehlo.shapes import DynamicBroadcastInDimOp, GetDimensionSizeOp, ReshapeOp
from sdyopt.mlir.dialects.stablehlo.slicing import ConcatenateOp
from sdyopt.mlir.dialects.stablehlo.type_compatibility import ranked
from sdyopt.mlir.ir.attribute import Attribute
from sdyopt.mlir.ir.builtin_attributes import DenseElements, IntegerAttr, dense_array, element_size, wrapped
from sdyopt.mlir.ir.floats import FloatFormat, Specials, extreme_bits, nan_bits
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.rewrite import InsertionPoint, Rewriter
from sdyopt.mlir.ir.types import (
    F32,
    I1,
    I32,
    I64,
    INDEX,
    ComplexType,
    FloatType,
    IntegerType,
    RankedTensor,
    Type,
)
from sdyopt.mlir.ir.value import Value


class OpBuilder:
    """Creates operations with the location of one, before it or where `point` says."""

    def __init__(self, op: Op, rewriter: Rewriter, point: InsertionPoint | None = None) -> None:
        self.op = op
        self.rewriter = rewriter
        self._point: InsertionPoint = {"before": op} if point is None else point

    def create(
        self, op_class: type[Op], operands: Sequence[Value], type: Type, **attributes: Attribute
    ) -> Value:
        """The only result of a new operation."""
        location = self.op.lazy_location
        op = self.rewriter.create(op_class, operands, [type], attributes, location=location, **self._point)
        return op.results[0]

    def constant(self, type: RankedTensor, data: bytes) -> Value:
        """A constant whose elements all have these bytes."""
        return self.create(ConstantOp, (), type, value=DenseElements(type, data))

    def constant_like(self, like: Value, data: bytes, element: Type | None = None) -> Value:
        """A constant with the shape of a value, which is broadcast to it if it is dynamic."""
        type = ranked(like)
        target = RankedTensor(type.shape, type.element if element is None else element, type.encoding)
        if target.has_static_shape:
            return self.constant(target, data)
        scalar = self.constant(RankedTensor((), target.element), data)
        shape = self.create(ShapeOfOp, [like], RankedTensor((type.rank,), INDEX))
        dims = dense_array(I64, ())
        return self.create(DynamicBroadcastInDimOp, [scalar, shape], target, broadcast_dimensions=dims)


class Number:
    """A tensor of numbers, and the builder of the operations on it.

    A Python number in a formula becomes a constant with the type of the tensor on its other side.
    """

    __slots__ = ("builder", "value")

    def __init__(self, value: Value, builder: OpBuilder) -> None:
        self.value = value
        self.builder = builder

    @property
    def tensor_type(self) -> RankedTensor:
        return ranked(self.value)

    @property
    def format(self) -> FloatFormat:
        """The format of the elements, or of their parts, which are floats."""
        element = self.tensor_type.element
        element = element.element if isinstance(element, ComplexType) else element
        assert isinstance(element, FloatType)
        return element.format

    def with_element(self, element: Type) -> RankedTensor:
        return RankedTensor(self.tensor_type.shape, element, self.tensor_type.encoding)

    # --- Constants --------------------------------------------------------------------------

    def like(self, number: float) -> Number:
        """A constant of this type."""
        return Number(
            self.builder.constant_like(self.value, _data(number, self.tensor_type.element)), self.builder
        )

    def like_bits(self, bits: int) -> Number:
        """The constant of this type whose elements have these bits."""
        data = bits.to_bytes(element_size(self.tensor_type.element), "little")
        return Number(self.builder.constant_like(self.value, data), self.builder)

    def largest(self) -> Number:
        """The largest finite number of this type."""
        return self.like_bits(extreme_bits(False, self.format) - (self.format.specials is Specials.IEEE))

    def smallest_normalized(self) -> Number:
        """The smallest positive number of this type that is not subnormal."""
        return self.like_bits(1 << self.format.mantissa_bits)

    def smallest(self) -> Number:
        """The smallest positive number of this type."""
        return self.like_bits(1)

    # --- Operations -------------------------------------------------------------------------

    def __call__(self, op_class: type[Op], *others: Number) -> Number:
        """The result, of this type, of an operation on this and other tensors."""
        return self.create(op_class, self.tensor_type, *others)

    def create(self, op_class: type[Op], type: Type, *others: Number, **attributes: Attribute) -> Number:
        operands = [self.value, *(other.value for other in others)]
        return Number(self.builder.create(op_class, operands, type, **attributes), self.builder)

    def cast(self, op_class: type[Op], element: Type) -> Number:
        return self.create(op_class, self.with_element(element))

    def convert(self, element: Type) -> Number:
        return self.cast(ConvertOp, element)

    def _number(self, other: Number | float) -> Number:
        return other if isinstance(other, Number) else self.like(other)

    def __add__(self, other: Number | float) -> Number:
        return self(hlo.AddOp, self._number(other))

    def __radd__(self, other: float) -> Number:
        return self.like(other) + self

    def __sub__(self, other: Number | float) -> Number:
        return self(hlo.SubtractOp, self._number(other))

    def __rsub__(self, other: float) -> Number:
        return self.like(other) - self

    def __mul__(self, other: Number | float) -> Number:
        return self(hlo.MulOp, self._number(other))

    def __rmul__(self, other: float) -> Number:
        return self.like(other) * self

    def __truediv__(self, other: Number | float) -> Number:
        return self(hlo.DivOp, self._number(other))

    def __rtruediv__(self, other: float) -> Number:
        return self.like(other) / self

    def __neg__(self) -> Number:
        return self(hlo.NegOp)

    def __abs__(self) -> Number:
        return self(AbsOp)

    def __and__(self, other: Number) -> Number:
        return self(hlo.AndOp, other)

    def __or__(self, other: Number) -> Number:
        return self(hlo.OrOp, other)

    def __invert__(self) -> Number:
        return self(hlo.NotOp)

    def compare(self, direction: str, other: Number | float) -> Number:
        attribute = ComparisonDirection(direction)
        return self.create(
            CompareOp, self.with_element(I1), self._number(other), comparison_direction=attribute
        )

    def __lt__(self, other: Number | float) -> Number:
        return self.compare("LT", other)

    def __le__(self, other: Number | float) -> Number:
        return self.compare("LE", other)

    def __gt__(self, other: Number | float) -> Number:
        return self.compare("GT", other)

    def __ge__(self, other: Number | float) -> Number:
        return self.compare("GE", other)

    def equals(self, other: Number | float) -> Number:
        return self.compare("EQ", other)

    def differs(self, other: Number | float) -> Number:
        return self.compare("NE", other)

    def select(self, on_true: Number, on_false: Number) -> Number:
        """One or the other number, where this one is true or false."""
        return self.create(SelectOp, on_true.tensor_type, on_true, on_false)

    def clamp(self, low: float, high: float, like: Number | None = None) -> Number:
        like = like or self
        bounds = like.like(low), like.like(high)
        return bounds[0].create(ClampOp, self.tensor_type, self, bounds[1])

    def real(self) -> Number:
        return self._part(RealOp)

    def imag(self) -> Number:
        return self._part(ImagOp)

    def _part(self, op_class: type[Op]) -> Number:
        element = self.tensor_type.element
        assert isinstance(element, ComplexType)
        return self.cast(op_class, element.element)

    def is_finite(self) -> Number:
        return self.cast(IsFiniteOp, I1)

    def bits_as(self, element: Type) -> Number:
        return self.cast(BitcastConvertOp, element)


def complex_number(real: Number, imag: Number) -> Number:
    return real.create(hlo.ComplexOp, real.with_element(ComplexType(real.tensor_type.element)), imag)


def _function(op_class: type[Op]) -> Callable[[Number], Number]:
    return lambda x: x(op_class)


sqrt, exp, log = _function(hlo.SqrtOp), _function(hlo.ExpOp), _function(hlo.LogOp)
log1p, expm1, sign = _function(hlo.Log1pOp), _function(hlo.Expm1Op), _function(hlo.SignOp)
sin, cos, floor = _function(hlo.SineOp), _function(hlo.CosineOp), _function(hlo.FloorOp)


def atan2(y: Number, x: Number) -> Number:
    return y(hlo.Atan2Op, x)


def maximum(x: Number, y: Number) -> Number:
    return x(hlo.MaxOp, y)


def minimum(x: Number, y: Number) -> Number:
    return x(hlo.MinOp, y)


def power(x: Number, y: Number) -> Number:
    return x(hlo.PowOp, y)


def remainder(x: Number, y: Number) -> Number:
    return x(hlo.RemOp, y)


def polynomial(x: Number, coefficients: Sequence[float]) -> Number:
    """The polynomial with these coefficients, highest degree first, by Horner's method."""
    sum = x.like(coefficients[0])
    for coefficient in coefficients[1:]:
        product = sum * x
        sum = product + x.like(coefficient)
    return sum


def wide(compute: Callable[..., Number]) -> Callable[..., Number]:
    """The computation of numbers of less than 32 bits with 32 bits."""

    def converted(*numbers: Number) -> Number:
        element = numbers[0].tensor_type.element
        if not isinstance(element, FloatType) or element.width >= 32:
            return compute(*numbers)
        return compute(*[number.convert(F32) for number in numbers]).convert(element)

    return converted


def _data(number: float, element: Type) -> bytes:
    if isinstance(element, ComplexType):
        return _data(number, element.element) + _data(0.0, element.element)
    if isinstance(element, FloatType):
        bits = nan_bits(element.format) if isnan(number) else encode(number, element.format)
        return bits.to_bytes(element_size(element), "little")
    assert isinstance(element, IntegerType)
    size = element_size(element)
    return (wrapped(int(number), element) & ((1 << 8 * size) - 1)).to_bytes(size, "little")


# --- Sizes of dimensions ---------------------------------------------------------------------

SCALAR, ROW = RankedTensor((), I64), RankedTensor((1,), I64)


def constant_integers(value: int, shape: tuple[int, ...], builder: OpBuilder) -> Value:
    """A constant of this shape whose elements are a number."""
    return builder.constant(RankedTensor(shape, I64), value.to_bytes(8, "little", signed=True))


def dimension_size(operand: Value, dimension: int, builder: OpBuilder) -> Value:
    """The size of a dimension at run time, as a scalar."""
    attribute = IntegerAttr(dimension, I64)
    scalar = builder.create(GetDimensionSizeOp, [operand], RankedTensor((), I32), dimension=attribute)
    return builder.create(ConvertOp, [scalar], SCALAR)


def as_row(scalar: Value, builder: OpBuilder) -> Value:
    """A scalar as a tensor of one element."""
    return builder.create(ReshapeOp, [scalar], ROW)


def concatenated(rows: Sequence[Value], builder: OpBuilder) -> Value:
    """A tensor of the elements of tensors of one element."""
    type = RankedTensor((len(rows),), I64)
    return builder.create(ConcatenateOp, rows, type, dimension=IntegerAttr(0, I64))
