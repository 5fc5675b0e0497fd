"""sdy-broadcast-to-reshape: replace broadcasts that repeat nothing by reshapes.

    %0 = stablehlo.broadcast_in_dim %a, dims = [1, 2] : (tensor<8x4xf32>) -> tensor<1x8x4xf32>
becomes
    %0 = stablehlo.reshape %a : (tensor<8x4xf32>) -> tensor<1x8x4xf32>

JAX adds dimensions of size 1 by such broadcasts, for example to append to the stack of what a scan carries.
XLA makes reshapes of them before it propagates shardings. Shardy propagates through reshapes first, and
through broadcasts later, so the shardings of the stacks may depend on it.
"""

from __future__ import annotations

from math import prod

from sdyopt.mlir.dialects.builtin import ModuleOp
from sdyopt.mlir.dialects.stablehlo.broadcast import BroadcastInDimOp
from sdyopt.mlir.dialects.stablehlo.shapes import ReshapeOp
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.types import RankedTensor
from sdyopt.mlir.pipeline import Pass
from sdyopt.mlir.registry import register


@register("sdy-broadcast-to-reshape")
class BroadcastToReshape(Pass):
    def run(self, module: ModuleOp) -> bool:
        rewriter = Rewriter()
        for op in module.nested(BroadcastInDimOp):
            if _repeats_nothing(op):
                reshape = rewriter.create(
                    ReshapeOp,
                    [op.operand],
                    [op.out.type],
                    dict(op.attributes),
                    before=op,
                    location=op.lazy_location,
                )
                rewriter.replace(op, reshape)
        return rewriter.changed


def _repeats_nothing(op: BroadcastInDimOp) -> bool:
    """Whether a broadcast only inserts dimensions of size 1."""
    before, after = op.operand.type, op.out.type
    if not isinstance(before, RankedTensor) or not isinstance(after, RankedTensor):
        return False
    if not before.has_static_shape or not after.has_static_shape:
        return False
    dimensions = list(op.broadcast_dimensions)
    return dimensions == sorted(dimensions) and prod(before.shape) == prod(after.shape)
