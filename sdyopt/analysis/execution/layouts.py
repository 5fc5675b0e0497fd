"""fft needs row-major operands and results, but XLA may lay them out otherwise, and then fails on the CPU.

A flat tensor has only one layout. The barrier keeps XLA from merging the reshapes around it.
"""

from __future__ import annotations

from sdyopt.mlir.dialects.builtin import ModuleOp
from sdyopt.mlir.dialects.stablehlo.control_flow import OptimizationBarrierOp
from sdyopt.mlir.dialects.stablehlo.numerics import FftOp
from sdyopt.mlir.dialects.stablehlo.shapes import ReshapeOp
from sdyopt.mlir.ir.rewrite import InsertionPoint, Rewriter
from sdyopt.mlir.ir.types import RankedTensor
from sdyopt.mlir.ir.value import Value


def make_row_major(module: ModuleOp) -> None:
    """Makes XLA use row-major layouts where it needs them, in place."""
    rewriter = Rewriter()
    for op in list(module.walk()):
        if isinstance(op, FftOp):
            rewriter.set_operands(op, [_row_major(op.operand, {"before": op}, rewriter)])
            after = op.next
            assert after is not None
            uses = list(op.result.uses)
            result = _row_major(op.result, {"before": after}, rewriter)
            for use in uses:
                rewriter.set_operand(use, result)


def _row_major(value: Value, insertion_point: InsertionPoint, rewriter: Rewriter) -> Value:
    type = value.type
    assert isinstance(type, RankedTensor)
    flat = RankedTensor((type.num_elements,), type.element)
    value = rewriter.create(ReshapeOp, [value], [flat], **insertion_point).result
    value = rewriter.create(OptimizationBarrierOp, [value], [flat], **insertion_point).results[0]
    return rewriter.create(ReshapeOp, [value], [type], **insertion_point).result
