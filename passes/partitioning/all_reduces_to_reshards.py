"""sdy-all-reduces-to-reshards: replace all-reduces of unreduced values with reshards.

    %1 = sdy.all_reduce {"x"} %0 out_sharding=<@mesh, [{}]>
becomes, if %0 is unreduced along "x",
    %1 = sdy.reshard %0 <@mesh, [{}]>

A `sdy.reduce_scatter` is replaced in the same way. `sdy-insert-explicit-reshards` all-reduces an unreduced
value before every use that is not unreduced. These collectives are such uses, so the value would be reduced
twice. The reshard is lowered to the collective again, or to a better one. `sdy-partition-pipeline` runs this
pass, so that programs with collectives can be partitioned.

An all-reduce of a value that is not unreduced along all axes of the all-reduce is kept: the devices have
partial results that the sharding does not show, or copies, which the all-reduce adds.
"""

from __future__ import annotations

from collections.abc import Iterable

from sdyopt.mlir.dialects.func import FuncOp
from sdyopt.mlir.dialects.sdy.axes import AxisRef, difference
from sdyopt.mlir.dialects.sdy.collectives import AllReduceOp, ReduceScatterOp
from sdyopt.mlir.dialects.sdy.ops import ReshardOp
from sdyopt.mlir.dialects.sdy.value_shardings import sharding_of
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.pipeline import FUNCTION, Pass
from sdyopt.mlir.registry import register


@register("sdy-all-reduces-to-reshards")
class AllReducesToReshards(Pass):
    anchor = FUNCTION

    def run(self, function: FuncOp) -> bool:
        rewriter = Rewriter()
        for op in list(function.walk()):
            if isinstance(op, AllReduceOp):
                _replace(op, op.reduction_axes, rewriter)
            elif isinstance(op, ReduceScatterOp):
                _replace(op, op.reduce_scatter_axes.axes, rewriter)
        return rewriter.changed


def _replace(op: AllReduceOp | ReduceScatterOp, axes: Iterable[AxisRef], rewriter: Rewriter) -> None:
    operand = sharding_of(op.tensor)
    if operand is None or difference(axes, operand.unreduced_axes, op.mesh):
        return
    reshard = rewriter.create(
        ReshardOp,
        [op.tensor],
        [op.output.type],
        {"sharding": op.out_sharding},
        before=op,
        location=op.lazy_location,
    )
    rewriter.replace(op, reshard)
