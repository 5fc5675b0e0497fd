"""xla-sdy-open-while-free-vars-sharding: let the uses of sharded values in loops be sharded further.

    %0 = stablehlo.while(%iterArg = %a) … { … stablehlo.add %iterArg, %b … }
becomes, if %b is sharded
    %1 = sdy.sharding_constraint %b <@mesh, [{?}]> : tensor<8xf32>
    %0 = stablehlo.while(%iterArg = %a) … { … stablehlo.add %iterArg, %1 … }

HLO has no free variables in loops: they are operands and results of the loop that it passes through. The
fully open constraint stands for such an operand, which may be sharded otherwise than the value outside. A
scalar, or a value whose sharding is fully open, gets none.
"""

from __future__ import annotations

from sdyopt.mlir.dialects.func import FuncOp
from sdyopt.mlir.dialects.sdy.ops import ShardingConstraintOp
from sdyopt.mlir.dialects.sdy.sharding import fully_replicated
from sdyopt.mlir.dialects.sdy.value_shardings import sharding_of
from sdyopt.mlir.dialects.stablehlo.control_flow import WhileOp
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.value import BlockArgument, OpResult, Value
from sdyopt.mlir.pipeline import FUNCTION, Pass
from sdyopt.mlir.registry import register


@register("xla-sdy-open-while-free-vars-sharding")
class OpenWhileFreeVarsSharding(Pass):
    anchor = FUNCTION

    def run(self, function: FuncOp) -> bool:
        rewriter = Rewriter()
        if not function.nested(WhileOp):
            return False
        for loop in [op for op in function.walk_post_order() if isinstance(op, WhileOp)]:
            for value in _free_variables(loop):
                _open(value, loop, rewriter)
        return rewriter.changed


def _free_variables(op: Op) -> list[Value]:
    """The values that the regions of an operation use and that are defined outside of it, by first use."""
    free: dict[Value, None] = {}
    for region in op.regions:
        for block in region.blocks:
            for child in block.ops:
                for inner in child.walk_post_order():
                    for value in inner.operands:
                        if value not in free and not _is_defined_in(value, op):
                            free[value] = None
    return list(free)


def _is_defined_in(value: Value, op: Op) -> bool:
    if isinstance(value, OpResult):
        return op.is_ancestor(value.op) and value.op is not op
    assert isinstance(value, BlockArgument)
    parent = value.block.parent_op
    return parent is not None and op.is_ancestor(parent)


def _open(value: Value, loop: WhileOp, rewriter: Rewriter) -> None:
    sharding = sharding_of(value)
    if sharding is None or not sharding.rank:
        return
    opened = fully_replicated(sharding.rank, sharding.mesh_or_ref, is_closed=False)
    if opened is sharding:
        return
    uses = [use for use in value.uses if loop.is_ancestor(use.owner) and use.owner is not loop]
    constraint = rewriter.create(
        ShardingConstraintOp,
        [value],
        [value.type],
        {"sharding": opened},
        before=loop,
        location=value.lazy_location,
    )
    for use in uses:
        rewriter.set_operand(use, constraint.results[0])
