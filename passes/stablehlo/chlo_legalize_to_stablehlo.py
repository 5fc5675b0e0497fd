"""chlo-legalize-to-stablehlo: decompose operations of CHLO into StableHLO.

    %0 = chlo.broadcast_add %x, %y : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
    %1 = chlo.square %0 : tensor<4x8xf32> -> tensor<4x8xf32>
becomes
    %2 = stablehlo.broadcast_in_dim %y, dims = [1] : (tensor<8xf32>) -> tensor<4x8xf32>
    %0 = stablehlo.add %x, %2 : tensor<4x8xf32>
    %1 = stablehlo.multiply %0, %0 : tensor<4x8xf32>

The pass decomposes what needs no table of coefficients: broadcasts, constants, predicates, inverse and
hyperbolic functions of real numbers, `next_after`, `mulhi`, `square`, `conj`, `tan` and `top_k`, of static
shape. As in C++, attributes of an operation, its sharding included, are lost. Other operations, such as `erf`
or `ragged_dot`, are an error; passes of sdy have sharding rules for them and do not need this pass. With
`leave-others`, they stay.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf, nan
from typing import Any

from sdyopt.mlir.dialects.arith.folding import encode
from sdyopt.mlir.dialects.chlo import elementwise as chlo
from sdyopt.mlir.dialects.chlo.broadcast import BroadcastBinaryOp, BroadcastCompareOp
from sdyopt.mlir.dialects.chlo.top_k import TopKOp
from sdyopt.mlir.dialects.stablehlo import elementwise as hlo
from sdyopt.mlir.dialects.stablehlo.broadcast import BroadcastInDimOp
from sdyopt.mlir.dialects.stablehlo.compare_select import (
    CompareOp,
    ComparisonDirection,
    ComparisonType,
    SelectOp,
)
from sdyopt.mlir.dialects.stablehlo.control_flow import ReturnOp
from sdyopt.mlir.dialects.stablehlo.conversion import AbsOp, BitcastConvertOp, ConvertOp, ImagOp, RealOp
from sdyopt.mlir.dialects.stablehlo.nullary import ConstantOp, IotaOp
from sdyopt.mlir.dialects.stablehlo.reduction import SortOp
from sdyopt.mlir.dialects.stablehlo.slicing import SliceOp
from sdyopt.mlir.ir.attribute import Attribute
from sdyopt.mlir.ir.block import Region
from sdyopt.mlir.ir.builtin_attributes import (
    TRUE,
    DenseElements,
    FloatAttr,
    IntegerAttr,
    dense_array,
    element_size,
)
from sdyopt.mlir.ir.floats import FloatFormat, Specials, extreme_bits
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.types import (
    BF16,
    F16,
    F32,
    F64,
    I1,
    I32,
    I64,
    ComplexType,
    FloatType,
    IntegerType,
    RankedTensor,
    Type,
)
from sdyopt.mlir.ir.value import Value
from sdyopt.mlir.pipeline import FUNCTION, Pass, option
from sdyopt.mlir.registry import register


@register("chlo-legalize-to-stablehlo")
class ChloLegalizeToStablehlo(Pass):
    anchor = FUNCTION

    leave_others: bool = option(
        default=False, help="leave operations that are not decomposed, instead of failing", is_addition=True
    )

    def run(self, function: Op) -> bool:
        rewriter = Rewriter()
        for op in [each for each in function.walk() if each.dialect_name == "chlo"]:
            values = _decomposed(op, rewriter)
            if values is not None:
                rewriter.replace(op, values)
            elif not self.leave_others:
                raise op.error(
                    f"failed to legalize operation '{op.signature.name}' that was explicitly marked illegal"
                ).help("leave-others=true leaves such operations; passes of sdy have rules for them")
        return rewriter.changed


def _decomposed(op: Op, rewriter: Rewriter) -> Sequence[Value] | None:
    """The values that replace the results of an operation; None if it is not decomposed."""
    types = (*op.signature.operand_types, *op.signature.result_types)
    has_constants = not isinstance(op, chlo.SquareOp | chlo.TanOp | chlo.ConjOp)
    if not all(isinstance(type, RankedTensor) for type in types) or (
        has_constants and not all(isinstance(t, RankedTensor) and t.has_static_shape for t in types)
    ):
        return None
    builder = _Builder(op, rewriter)
    if isinstance(op, TopKOp):
        return _top_k(op, builder)
    if isinstance(op, BroadcastBinaryOp):
        return _broadcast(op, builder)
    if isinstance(op, chlo.ConstantLikeOp):
        return _constant_like(op, builder)
    if isinstance(op, chlo.ConstantOp):
        return [builder.create(ConstantOp, (), op.results[0].type, value=op.signature.attributes["value"])]
    if isinstance(op, chlo.MulhiOp):
        return _mulhi(builder, *op.operands)
    decompose = _DECOMPOSITIONS.get(type(op))
    if decompose is None or not decompose.accepts(builder.type.element):
        return None
    return [decompose.compute(builder, *op.operands)]


class _Builder:
    """Creates operations before one, whose first operand has the type of most of their results."""

    def __init__(self, op: Op, rewriter: Rewriter) -> None:
        self._op = op
        self.rewriter = rewriter
        type = op.operand_at(0).type if op.operands else op.results[0].type
        assert isinstance(type, RankedTensor)
        self.type = type

    def create(
        self, op_class: type[Op], operands: Sequence[Value], type: Type, **attributes: Attribute
    ) -> Value:
        """The only result of a new operation."""
        location = self._op.lazy_location
        op = self.rewriter.create(op_class, operands, [type], attributes, before=self._op, location=location)
        return op.results[0]

    def __call__(self, op_class: type[Op], *operands: Value) -> Value:
        """The result of an operation whose result has the type of its first operand."""
        return self.create(op_class, operands, operands[0].type)

    def bits(self, bits: int, element: Type | None = None) -> Value:
        """A constant with the shape of the operand."""
        element = element or self.type.element
        data = bits.to_bytes(element_size(element), "little")
        type = RankedTensor(self.type.shape, element)
        return self.create(ConstantOp, (), type, value=DenseElements(type, data))

    def number(self, number: float) -> Value:
        """A constant float with the type of the operand."""
        return self.bits(encode(number, self.format))

    def integer(self, number: int, element: IntegerType) -> Value:
        return self.bits(number & ((1 << element.width) - 1), element)

    @property
    def format(self) -> FloatFormat:
        """The format of the operand's elements, which are floats."""
        element = self.type.element
        assert isinstance(element, FloatType)
        return element.format

    def largest(self) -> Value:
        """The largest finite float."""
        return self.bits(extreme_bits(False, self.format) - (self.format.specials is Specials.IEEE))

    def compare(self, direction: str, lhs: Value, rhs: Value) -> Value:
        return self.create(
            CompareOp, [lhs, rhs], self.with_element(I1), comparison_direction=ComparisonDirection(direction)
        )

    def select(self, predicate: Value, on_true: Value, on_false: Value) -> Value:
        return self.create(SelectOp, [predicate, on_true, on_false], on_true.type)

    def with_element(self, element: Type) -> RankedTensor:
        return RankedTensor(self.type.shape, element)

    def cast(self, op_class: type[Op], value: Value, element: Type) -> Value:
        return self.create(op_class, [value], self.with_element(element))


# --- Elementwise --------------------------------------------------------------------------


def _acos(b: _Builder, x: Value) -> Value:
    return b(hlo.Atan2Op, _root_of_square_difference(b, x), x)


def _asin(b: _Builder, x: Value) -> Value:
    return b(hlo.Atan2Op, x, _root_of_square_difference(b, x))


def _root_of_square_difference(b: _Builder, x: Value) -> Value:
    """The square root of 1 - x², as a product, which is more exact near 1."""
    one = b.number(1.0)
    return b(hlo.SqrtOp, b(hlo.MulOp, b(hlo.SubtractOp, one, x), b(hlo.AddOp, one, x)))


def _atan(b: _Builder, x: Value) -> Value:
    return b(hlo.Atan2Op, x, b.number(1.0))


def _acosh(b: _Builder, x: Value) -> Value:
    """log(2) + log(x) where x² would overflow; log1p(√(x-1) (√(x+1) + √(x-1))) elsewhere."""
    largest = b.largest()
    two = b.number(2.0)
    is_large = b.compare("GE", x, b(hlo.DivOp, largest, two))
    large = b(hlo.AddOp, b(hlo.LogOp, two), b(hlo.LogOp, x))
    one = b.number(1.0)
    below = b(hlo.SqrtOp, b(hlo.SubtractOp, x, one))
    above = b(hlo.SqrtOp, b(hlo.AddOp, x, one))
    product = b(hlo.MulOp, below, b(hlo.AddOp, above, below))
    return b.select(is_large, large, b(hlo.Log1pOp, product))


def _asinh(b: _Builder, x: Value) -> Value:
    """With the sign of x: log(2) + log|x| where x² would overflow, else log1p(|x| + x² / (1 + √(1+x²)))."""
    sign, size = b(hlo.SignOp, x), b(AbsOp, x)
    is_large = b.compare("GE", size, b(hlo.SqrtOp, b.largest()))
    large = b(hlo.AddOp, b(hlo.LogOp, b.number(2.0)), b(hlo.LogOp, size))
    square = b(hlo.MulOp, size, size)
    one = b.number(1.0)
    root = b(hlo.SqrtOp, b(hlo.AddOp, one, square))
    sum = b(hlo.AddOp, size, b(hlo.DivOp, square, b(hlo.AddOp, one, root)))
    return b(hlo.MulOp, sign, b.select(is_large, large, b(hlo.Log1pOp, sum)))


def _atanh(b: _Builder, x: Value) -> Value:
    """(log1p(x) - log1p(-x)) / 2; NaN outside of [-1, 1]."""
    size = b(AbsOp, x)
    is_outside = b.compare("GT", size, b.number(1.0))
    not_a_number = b.number(nan)
    plus = b(hlo.Log1pOp, x)
    difference = b(hlo.SubtractOp, plus, b(hlo.Log1pOp, b(hlo.NegOp, x)))
    return b.select(is_outside, not_a_number, b(hlo.MulOp, difference, b.number(0.5)))


def _halved_exponentials(b: _Builder, x: Value) -> tuple[Value, Value]:
    """exp(x) / 2 and exp(-x) / 2, which do not overflow before the sum does."""
    log_half = b(hlo.LogOp, b.number(0.5))
    plus = b(hlo.ExpOp, b(hlo.AddOp, x, log_half))
    return plus, b(hlo.ExpOp, b(hlo.SubtractOp, log_half, x))


def _cosh(b: _Builder, x: Value) -> Value:
    return b(hlo.AddOp, *_halved_exponentials(b, x))


def _sinh(b: _Builder, x: Value) -> Value:
    """The difference of exponentials; where |x| < 1, (e + e / (e + 1)) / 2 with e = expm1(x)."""
    large = b(hlo.SubtractOp, *_halved_exponentials(b, x))
    e = b(hlo.Expm1Op, x)
    one, half = b.number(1.0), b.number(0.5)
    quotient = b(hlo.DivOp, e, b(hlo.AddOp, e, one))
    small = b(hlo.MulOp, half, b(hlo.AddOp, e, quotient))
    is_small = b.compare("LT", b(AbsOp, x), one)
    return b.select(is_small, small, large)


def _square(b: _Builder, x: Value) -> Value:
    return b(hlo.MulOp, x, x)


def _tan(b: _Builder, x: Value) -> Value:
    return b(hlo.TanOp, x)


def _conj(b: _Builder, x: Value) -> Value:
    element = b.type.element
    if not isinstance(element, ComplexType):
        return x
    real, imag = b.cast(RealOp, x, element.element), b.cast(ImagOp, x, element.element)
    return b.create(hlo.ComplexOp, [real, b(hlo.NegOp, imag)], b.type)


def _is_inf(b: _Builder, x: Value) -> Value:
    return b.compare("EQ", b(AbsOp, x), b.number(inf))


def _is_pos_inf(b: _Builder, x: Value) -> Value:
    return b.compare("EQ", x, b.number(inf))


def _is_neg_inf(b: _Builder, x: Value) -> Value:
    return b.compare("EQ", x, b.number(-inf))


def _next_after(b: _Builder, x: Value, y: Value) -> Value:
    """The neighbour of x in the direction of y, whose bits, read as an integer, are one more or one less."""
    width = b.format.width
    integer = IntegerType(width)
    x_bits, y_bits = b.cast(BitcastConvertOp, x, integer), b.cast(BitcastConvertOp, y, integer)
    x_is_nan = b.compare("NE", x, x)
    is_nan = b(hlo.OrOp, x_is_nan, b.compare("NE", y, y))
    nan_bits = b.cast(BitcastConvertOp, b.number(nan), integer)
    sign_mask, size_mask = b.integer(1 << (width - 1), integer), b.integer((1 << (width - 1)) - 1, integer)
    x_size, y_size = b(hlo.AndOp, x_bits, size_mask), b(hlo.AndOp, y_bits, size_mask)
    are_equal = b.compare("EQ", x, y)
    zero = b.integer(0, integer)
    x_is_zero, y_is_zero = b.compare("EQ", x_size, zero), b.compare("EQ", y_size, zero)
    x_sign, y_sign = b(hlo.AndOp, x_bits, sign_mask), b(hlo.AndOp, y_bits, sign_mask)
    one = b.integer(1, integer)
    smallest = b(hlo.OrOp, y_sign, one)
    signs_differ = b.compare("NE", x_sign, y_sign)
    shrinks = b(hlo.OrOp, b.compare("GT", x_size, y_size), signs_differ)
    step = b.select(shrinks, b.integer(-1, integer), one)
    moved = b(hlo.AddOp, x_bits, step)
    from_zero = b.select(y_is_zero, y_bits, smallest)
    result = b.select(are_equal, y_bits, b.select(x_is_zero, from_zero, moved))
    return b.cast(BitcastConvertOp, b.select(is_nan, nan_bits, result), b.type.element)


def _mulhi(b: _Builder, x: Value, y: Value) -> list[Value] | None:
    """The upper half of the bits of a product, which is computed with twice the width."""
    element = b.type.element
    if not isinstance(element, IntegerType) or element.width > 32:
        return None
    wide = IntegerType(2 * element.width, element.signedness)
    left, right = b.cast(ConvertOp, x, wide), b.cast(ConvertOp, y, wide)
    product = b(hlo.MulOp, left, right)
    shift = hlo.ShiftRightLogicalOp if element.is_unsigned else hlo.ShiftRightArithmeticOp
    return [b.cast(ConvertOp, b(shift, product, b.integer(element.width, wide)), element)]


class _Decomposition:
    """The computation of an elementwise operation, and the element types that it is for."""

    def __init__(self, compute: Callable[..., Value], accepts: Callable[[Type], bool]) -> None:
        self.compute = compute
        self.accepts = accepts


def _real(compute: Callable[..., Value]) -> _Decomposition:
    return _Decomposition(compute, lambda element: element in (F16, BF16, F32, F64))


def _in_f32(compute: Callable[..., Value]) -> _Decomposition:
    """Computes numbers of less than 32 bits with 32 bits."""

    def wide(b: _Builder, x: Value) -> Value:
        element = b.type.element
        if element in (F32, F64):
            return compute(b, x)
        converted = b.cast(ConvertOp, x, F32)
        b.type = b.with_element(F32)
        return b.cast(ConvertOp, compute(b, converted), element)

    return _real(wide)


def _float(compute: Callable[..., Value]) -> _Decomposition:
    return _Decomposition(compute, lambda element: isinstance(element, FloatType))


def _any(compute: Callable[..., Value]) -> _Decomposition:
    return _Decomposition(compute, lambda element: True)


_DECOMPOSITIONS: dict[type[Op], _Decomposition] = {
    chlo.AcosOp: _real(_acos),
    chlo.AcoshOp: _real(_acosh),
    chlo.AsinOp: _real(_asin),
    chlo.AsinhOp: _real(_asinh),
    chlo.AtanOp: _float(_atan),
    chlo.AtanhOp: _real(_atanh),
    chlo.ConjOp: _any(_conj),
    chlo.CoshOp: _in_f32(_cosh),
    chlo.IsInfOp: _float(_is_inf),
    chlo.IsNegInfOp: _float(_is_neg_inf),
    chlo.IsPosInfOp: _float(_is_pos_inf),
    chlo.NextAfterOp: _real(_next_after),
    chlo.SinhOp: _in_f32(_sinh),
    chlo.SquareOp: _Decomposition(_square, lambda element: not isinstance(element, ComplexType)),
    chlo.TanOp: _any(_tan),
}


# --- Others -------------------------------------------------------------------------------


def _constant_like(op: chlo.ConstantLikeOp, b: _Builder) -> list[Value] | None:
    value = op.value
    if isinstance(value, FloatAttr):
        return [b.bits(value.bits, value.type)]
    if isinstance(value, IntegerAttr) and isinstance(value.type, IntegerType):
        return [b.integer(value.value, value.type)]
    return None


_BROADCAST = "broadcast_"


def _broadcast(op: BroadcastBinaryOp, b: _Builder) -> Sequence[Value] | None:
    """Broadcasts both operands to the shape of the result; then the operation is elementwise."""
    result = op.results[0].type
    assert isinstance(result, RankedTensor)
    name = op.signature.name.partition(".")[2].removeprefix(_BROADCAST)
    op_class: Any = _ELEMENTWISE.get(name)
    if op_class is None:
        return None
    ranks = [type.rank for type in op.signature.operand_types if isinstance(type, RankedTensor)]
    given = op.broadcast_dimensions
    operands = []
    for index, operand in enumerate(op.operands):
        rank, offset = ranks[index], result.rank - ranks[index]
        is_mapped = given is not None and ranks[index] <= ranks[1 - index]
        dimensions = given if is_mapped and len(given or ()) == rank else range(offset, result.rank)
        operands.append(_broadcast_to(b, operand, result, tuple(dimensions or ())))
    attributes: dict[str, Attribute] = {}
    if isinstance(op, BroadcastCompareOp):
        attributes["comparison_direction"] = ComparisonDirection(op.comparison_direction.value)
        if op.compare_type is not None:
            attributes["compare_type"] = ComparisonType(op.compare_type.value)
    return [b.create(op_class, operands, result, **attributes)]


def _broadcast_to(b: _Builder, value: Value, result: RankedTensor, dimensions: tuple[int, ...]) -> Value:
    type = value.type
    assert isinstance(type, RankedTensor)
    if type.shape == result.shape:
        return value
    target = RankedTensor(result.shape, type.element)
    return b.create(BroadcastInDimOp, [value], target, broadcast_dimensions=dense_array(I64, dimensions))


_ELEMENTWISE: dict[str, type[Op]] = {
    "add": hlo.AddOp,
    "and": hlo.AndOp,
    "atan2": hlo.Atan2Op,
    "compare": CompareOp,
    "complex": hlo.ComplexOp,
    "divide": hlo.DivOp,
    "maximum": hlo.MaxOp,
    "minimum": hlo.MinOp,
    "multiply": hlo.MulOp,
    "or": hlo.OrOp,
    "power": hlo.PowOp,
    "remainder": hlo.RemOp,
    "shift_left": hlo.ShiftLeftOp,
    "shift_right_arithmetic": hlo.ShiftRightArithmeticOp,
    "shift_right_logical": hlo.ShiftRightLogicalOp,
    "subtract": hlo.SubtractOp,
    "xor": hlo.XorOp,
}


def _top_k(op: TopKOp, b: _Builder) -> list[Value]:
    """Sorts the operand with its indices, and slices the first k of both."""
    type, last = b.type, b.type.rank - 1
    indices = b.create(IotaOp, (), b.with_element(I32), iota_dimension=IntegerAttr(last, I64))
    sort = b.rewriter.create(
        SortOp,
        [op.operand, indices],
        [type, indices.type],
        {"dimension": IntegerAttr(last, I64), "is_stable": TRUE},
        before=op,
        location=op.lazy_location,
        regions=[_comparator(op, b, type.element)],
    )
    limits = (*type.shape[:-1], op.k)
    return [
        b.create(
            SliceOp,
            [sorted],
            result.type,
            start_indices=dense_array(I64, [0] * type.rank),
            limit_indices=dense_array(I64, limits),
            strides=dense_array(I64, [1] * type.rank),
        )
        for sorted, result in zip(sort.results, op.results, strict=True)
    ]


def _comparator(op: TopKOp, b: _Builder, element: Type) -> Region:
    """Whether an element comes before another one, in descending order; NaN is the largest."""
    region = Region()
    block = region.add_block()
    for scalar in (element, element, I32, I32):
        block.add_argument(RankedTensor((), scalar), op.lazy_location)
    attributes: dict[str, Attribute] = {"comparison_direction": ComparisonDirection("GT")}
    if isinstance(element, FloatType):
        attributes["compare_type"] = ComparisonType("TOTALORDER")
    comparison = b.rewriter.create(
        CompareOp,
        block.arguments[:2],
        [RankedTensor((), I1)],
        attributes,
        at_end_of=block,
        location=op.lazy_location,
    )
    b.rewriter.create(ReturnOp, comparison.results, at_end_of=block, location=op.lazy_location)
    return region
