"""sdy-simplify-hlo: simplify what XLA simplifies before it propagates shardings.

    %0 = stablehlo.broadcast_in_dim %a, dims = [1, 2] : (tensor<8x4xf32>) -> tensor<1x8x4xf32>
becomes
    %0 = stablehlo.reshape %a : (tensor<8x4xf32>) -> tensor<1x8x4xf32>

JAX adds dimensions of size 1 by such broadcasts, for example to append to the stack of what a scan carries.
Shardy propagates through reshapes first, and through broadcasts later, so the shardings of the stacks may
depend on it.

    %0 = stablehlo.constant dense<0.0> : tensor<8xf32>
    %1 = stablehlo.select %p, %0, %0 : tensor<8xi1>, tensor<8xf32>
becomes %0, also if both values are constants, or broadcasts of constants, with the same elements. The
derivative of `jnp.zeros(…).at[i].set(x)` has such a select of a scatter, which otherwise shards that of `x`.
"""

from __future__ import annotations

from sdyopt.mlir.dialects.builtin import ModuleOp
from sdyopt.mlir.dialects.stablehlo.broadcast import BroadcastInDimOp
from sdyopt.mlir.dialects.stablehlo.compare_select import SelectOp
from sdyopt.mlir.dialects.stablehlo.shapes import ReshapeOp
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.value import Value
from sdyopt.mlir.pipeline import Pass
from sdyopt.mlir.registry import register

from ..stablehlo.support.folds import splat_of
from ..stablehlo.support.replacement import replace_with_new, replace_with_value
from ..stablehlo.support.shape_simplifications import is_reshape


@register("sdy-simplify-hlo")
class SimplifyHlo(Pass):
    def run(self, module: ModuleOp) -> bool:
        rewriter = Rewriter()
        for op in module.nested(BroadcastInDimOp, SelectOp):
            if isinstance(op, SelectOp):
                if _selects_nothing(op):
                    replace_with_value(op, op.on_true, rewriter)
            elif op.signature.cached(is_reshape):
                replace_with_new(op, ReshapeOp, op.operands, rewriter)
        return rewriter.changed


def _selects_nothing(op: SelectOp) -> bool:
    """Whether both values of a select are equal, and it has no attribute, such as a sharding."""
    if op.attributes:
        return False
    element = _element(op.on_true)
    return op.on_true is op.on_false or (element is not None and element == _element(op.on_false))


def _element(value: Value) -> bytes | None:
    """The element of a constant, or of a broadcast of one, to which all others are equal."""
    op = value.defining_op
    if isinstance(op, BroadcastInDimOp):
        return _element(op.operand)
    splat = splat_of(value)
    return None if splat is None else splat.data
