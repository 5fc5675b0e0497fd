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

from collections.abc import Sequence

from sdyopt.mlir.dialects.chlo import elementwise as chlo
from sdyopt.mlir.dialects.chlo.broadcast import BroadcastBinaryOp, BroadcastSelectOp
from sdyopt.mlir.dialects.chlo.operations import RaggedDotOp, ScanOp, TopKOp
from sdyopt.mlir.dialects.stablehlo.nullary import ConstantOp
from sdyopt.mlir.dialects.stablehlo.type_compatibility import ranked
from sdyopt.mlir.ir.builtin_attributes import FloatAttr, IntegerAttr, element_size
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.types import IntegerType, RankedTensor
from sdyopt.mlir.ir.value import Value
from sdyopt.mlir.pipeline import FUNCTION, Pass, option
from sdyopt.mlir.registry import register

from .decompositions.broadcasts import broadcast_binary, broadcast_select
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
