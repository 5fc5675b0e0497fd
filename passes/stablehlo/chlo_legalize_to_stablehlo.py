"""chlo-legalize-to-stablehlo: decompose operations of CHLO into StableHLO.

    %0 = chlo.broadcast_add %x, %y : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
    %1 = chlo.square %0 : tensor<4x8xf32> -> tensor<4x8xf32>
becomes
    %2 = stablehlo.broadcast_in_dim %y, dims = [1] : (tensor<8xf32>) -> tensor<4x8xf32>
    %0 = stablehlo.add %x, %2 : tensor<4x8xf32>
    %1 = stablehlo.multiply %0, %0 : tensor<4x8xf32>

Functions such as `erf` or `lgamma` become the polynomials that approximate them, inverse functions of
complex numbers become formulas that neither overflow nor lose digits, and `top_k` becomes a sort. Dynamic
shapes are computed with the shape dialect. As in C++, attributes of an operation, its sharding included,
are lost; passes of sdy have sharding rules for operations of CHLO and do not need this pass. An operation
that is not decomposed is an error: most of these are of element types for which there is no approximation,
such as `erf` of `f8E5M2`. With `leave-others`, they stay.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sdyopt.mlir.dialects.chlo import elementwise as chlo
from sdyopt.mlir.dialects.chlo.broadcast import BroadcastBinaryOp, BroadcastCompareOp, BroadcastSelectOp
from sdyopt.mlir.dialects.chlo.operations import RaggedDotOp, ScanOp, TopKOp
from sdyopt.mlir.dialects.shape import (
    AssumingOp,
    AssumingYieldOp,
    BroadcastOp,
    ConstWitnessOp,
    CstrBroadcastableOp,
    ShapeOfOp,
    WitnessType,
)
from sdyopt.mlir.dialects.stablehlo import elementwise as hlo
from sdyopt.mlir.dialects.stablehlo.compare_select import (
    CompareOp,
    ComparisonDirection,
    ComparisonType,
    SelectOp,
)
from sdyopt.mlir.dialects.stablehlo.nullary import ConstantOp
from sdyopt.mlir.dialects.stablehlo.shapes import BroadcastInDimOp, DynamicBroadcastInDimOp
from sdyopt.mlir.dialects.stablehlo.type_compatibility import ranked
from sdyopt.mlir.dialects.tensor.values import CastOp
from sdyopt.mlir.ir.attribute import Attribute
from sdyopt.mlir.ir.block import Region
from sdyopt.mlir.ir.builtin_attributes import TRUE, FloatAttr, IntegerAttr, dense_array, element_size
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.types import DYNAMIC, I64, INDEX, IntegerType, RankedTensor
from sdyopt.mlir.ir.value import Value
from sdyopt.mlir.pipeline import FUNCTION, Pass, option
from sdyopt.mlir.registry import register

from .decompositions.elementwise import ELEMENTWISE
from .decompositions.numbers import Number, OpBuilder
from .decompositions.operations import ragged_dot, scan, top_k


@register("chlo-legalize-to-stablehlo")
class ChloLegalizeToStablehlo(Pass):
    anchor = FUNCTION

    leave_others: bool = option(
        default=False, help="leave operations that are not decomposed, instead of failing", is_addition=True
    )

    def run(self, function: Op) -> bool:
        rewriter = Rewriter()
        for op in [op for op in function.walk_post_order() if op.dialect_name == "chlo"]:
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
    if not all(isinstance(type, RankedTensor) for type in types):
        return None
    if isinstance(op, TopKOp):
        return top_k(op, rewriter)
    if isinstance(op, BroadcastBinaryOp):
        return broadcast_binary(op, rewriter)
    if isinstance(op, BroadcastSelectOp):
        return broadcast_select(op, rewriter)
    if isinstance(op, RaggedDotOp):
        return ragged_dot(op, rewriter)
    if isinstance(op, ScanOp):
        return scan(op, rewriter)
    builder = OpBuilder(op, rewriter)
    if isinstance(op, chlo.ConstantLikeOp):
        return _constant_like(op, builder)
    if isinstance(op, chlo.ConstantOp):
        value = op.signature.attributes["value"]
        return [builder.create(ConstantOp, (), op.results[0].type, value=value)]
    decomposition = ELEMENTWISE.get(type(op))
    compute = decomposition and decomposition.for_element(ranked(op.operand_at(0)).element)
    return [compute(*[Number(value, builder) for value in op.operands]).value] if compute else None


def _constant_like(op: chlo.ConstantLikeOp, builder: OpBuilder) -> list[Value] | None:
    value = op.value
    if isinstance(value, FloatAttr):
        number = value.bits
    elif isinstance(value, IntegerAttr) and isinstance(value.type, IntegerType):
        number = value.value & ((1 << value.type.width) - 1)
    else:
        return None
    data = number.to_bytes(element_size(value.type), "little")
    return [builder.constant_like(op.operand_at(0), data, value.type)]


# Computes an elementwise operation on operands that have the shape of the result; None if it cannot.
Compute = Callable[[OpBuilder, Sequence[Value]], Value | None]
_WITNESS = WitnessType()


# Static shapes are broadcast as they are. Dynamic ones are computed with operations of the shape dialect, in
# a region that assumes that they can be broadcast.
def broadcast_binary(op: BroadcastBinaryOp, rewriter: Rewriter) -> list[Value] | None:
    """The result of a broadcasting operation of two operands; None if it is not decomposed."""
    builder, (left, right) = OpBuilder(op, rewriter), op.operands
    result, types = ranked(op.results[0]), [ranked(left), ranked(right)]
    compute = _computation(op, result)
    dimensions = op.broadcast_dimensions
    if compute is None:
        return None
    if all(type.has_static_shape for type in types):
        value = compute(builder, [_broadcast_static(op, index, result, builder) for index in (0, 1)])
        return None if value is None else [value]
    narrow, wide = sorted(type.rank for type in types)
    if dimensions is not None and tuple(dimensions) != tuple(range(wide - narrow, wide)):
        return None
    shapes = [_shape_of(value, builder) for value in op.operands]
    witness = builder.create(CstrBroadcastableOp, shapes, _WITNESS)
    inner, yield_value = _assume(witness, result, builder)
    shapes = [_shape_of(value, inner) for value in op.operands]
    shape = inner.create(BroadcastOp, shapes, RankedTensor((wide,), INDEX))
    operands = [_broadcast_dynamic(value, shape, result, inner) for value in op.operands]
    value = compute(inner, operands)
    return None if value is None else [yield_value(value)]


def broadcast_select(op: BroadcastSelectOp, rewriter: Rewriter) -> list[Value]:
    """The result of a select that broadcasts its operands; a scalar condition stays."""
    builder = OpBuilder(op, rewriter)
    predicate, result = op.operand_at(0), ranked(op.results[0])
    shapes = [_shape_of(value, builder) for value in op.operands]
    if _is_known_broadcastable([ranked(value).shape for value in op.operands]):
        witness = builder.create(ConstWitnessOp, (), _WITNESS, passing=TRUE)
    else:
        witness = builder.create(CstrBroadcastableOp, shapes, _WITNESS)
    inner, yield_value = _assume(witness, result, builder)
    shape = inner.create(BroadcastOp, shapes, RankedTensor((DYNAMIC,), INDEX))
    shape = inner.create(CastOp, [shape], RankedTensor((result.rank,), INDEX))
    operands = [
        value
        if value is predicate and ranked(value).rank == 0
        else _broadcast_dynamic(value, shape, result, inner)
        for value in op.operands
    ]
    return [yield_value(inner.create(SelectOp, operands, result))]


def _computation(op: BroadcastBinaryOp, result: RankedTensor) -> Compute | None:
    name = op.signature.name.removeprefix("chlo.broadcast_")
    decomposition = ELEMENTWISE.get(_DECOMPOSED.get(name, Op))
    if decomposition is not None:
        compute = decomposition.for_element(result.element)
        if compute is None:
            return None
        return lambda builder, values: compute(*[Number(value, builder) for value in values]).value
    op_class = _ELEMENTWISE.get(name)
    if op_class is None:
        return None
    attributes: dict[str, Attribute] = {}
    if isinstance(op, BroadcastCompareOp):
        attributes["comparison_direction"] = ComparisonDirection(op.comparison_direction.value)
        if op.compare_type is not None:
            attributes["compare_type"] = ComparisonType(op.compare_type.value)
    return lambda builder, values: builder.create(op_class, values, result, **attributes)


def _broadcast_static(op: BroadcastBinaryOp, index: int, result: RankedTensor, builder: OpBuilder) -> Value:
    value, given = op.operand_at(index), op.broadcast_dimensions
    type, other = ranked(value), ranked(op.operand_at(1 - index))
    if type.shape == result.shape:
        return value
    dimensions: Sequence[int] = range(result.rank - type.rank, result.rank)
    if given is not None and type.rank <= other.rank and len(given) == type.rank:
        dimensions = given
    target = RankedTensor(result.shape, type.element)
    return builder.create(
        BroadcastInDimOp, [value], target, broadcast_dimensions=dense_array(I64, dimensions)
    )


def _broadcast_dynamic(value: Value, shape: Value, result: RankedTensor, builder: OpBuilder) -> Value:
    type = ranked(value)
    dimensions = dense_array(I64, range(result.rank - type.rank, result.rank))
    target = RankedTensor(result.shape, type.element)
    operands = [value, shape]
    return builder.create(DynamicBroadcastInDimOp, operands, target, broadcast_dimensions=dimensions)


def _shape_of(value: Value, builder: OpBuilder) -> Value:
    return builder.create(ShapeOfOp, [value], RankedTensor((ranked(value).rank,), INDEX))


def _assume(
    witness: Value, result: RankedTensor, builder: OpBuilder
) -> tuple[OpBuilder, Callable[[Value], Value]]:
    """A builder in a region that assumes a constraint, and a function by which the region yields a value."""
    op, rewriter, region = builder.op, builder.rewriter, Region()
    block = region.add_block()
    location = op.lazy_location
    assuming = rewriter.create(
        AssumingOp, [witness], [result], before=op, location=location, regions=[region]
    )

    def yield_value(value: Value) -> Value:
        rewriter.create(AssumingYieldOp, [value], at_end_of=block, location=location)
        return assuming.results[0]

    return OpBuilder(op, rewriter, {"at_end_of": block}), yield_value


def _is_known_broadcastable(shapes: Sequence[Sequence[int]]) -> bool:
    """Whether in each dimension, the sizes other than 1 are equal, and there is one if it is dynamic."""
    for position in range(1, max(map(len, shapes)) + 1):
        sizes = [shape[-position] for shape in shapes if len(shape) >= position and shape[-position] != 1]
        if len(set(sizes)) > 1 or (DYNAMIC in sizes and len(sizes) > 1):
            return False
    return True


_DECOMPOSED: dict[str, type[Op]] = {
    "next_after": chlo.NextAfterOp,
    "polygamma": chlo.PolygammaOp,
    "zeta": chlo.ZetaOp,
}
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
