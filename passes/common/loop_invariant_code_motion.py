"""loop-invariant-code-motion: hoist operations out of loops whose operands do not change.

    %0:2 = stablehlo.while(%i = %c, %y = %x) : tensor<i32>, tensor<4xf32>
    cond { … } do {
      %1 = stablehlo.tanh %w : tensor<4xf32>
      %2 = stablehlo.add %y, %1 : tensor<4xf32>
      …
becomes, with stablehlo-loops=true,
    %1 = stablehlo.tanh %w : tensor<4xf32>
    %0:2 = stablehlo.while(%i = %c, %y = %x) : tensor<i32>, tensor<4xf32>
    …

Operations that may have effects, or may be undefined if the loop runs zero times, stay. To MLIR,
`stablehlo.while` is not a loop, but `scf.for` and `scf.while` are: as in C++, the pass hoists only out of
these without `stablehlo-loops`. Collectives are hoisted by `sdy-hoist-collectives`.
"""

from __future__ import annotations

from sdyopt.mlir.dialects.scf import loops as scf_loops
from sdyopt.mlir.dialects.stablehlo.control_flow import WhileOp
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.traits import TERMINATOR
from sdyopt.mlir.ir.value import BlockArgument, OpResult, Value
from sdyopt.mlir.pipeline import Pass, option
from sdyopt.mlir.registry import register

from .support.constants import is_pure

_LOOPS: tuple[type[Op], ...] = (scf_loops.ForOp, scf_loops.WhileOp)


@register("loop-invariant-code-motion")
class LoopInvariantCodeMotion(Pass):
    anchor = None

    stablehlo_loops: bool = option(default=False, help="hoist out of stablehlo.while, too", is_addition=True)

    def run(self, op: Op) -> bool:
        rewriter = Rewriter()
        loops: tuple[type[Op], ...] = (*_LOOPS, WhileOp) if self.stablehlo_loops else _LOOPS
        for loop in [inner for inner in op.walk_post_order() if isinstance(inner, loops)]:
            _hoist_from(loop, rewriter)
        return rewriter.changed


def _hoist_from(loop: Op, rewriter: Rewriter) -> None:
    """Moves the invariant operations of all regions before the loop, in their order."""
    for region in loop.regions:
        pending = dict.fromkeys(op for block in region.blocks for op in block.ops)
        while pending:
            op = next(iter(pending))
            del pending[op]
            if op.parent_region is not region or not _can_hoist(op, loop):
                continue
            rewriter.move(op, before=loop)
            pending.update(dict.fromkeys(user for result in op.results for user in result.users))


def _can_hoist(op: Op, loop: Op) -> bool:
    """Whether an operation has no effects, and what it uses is defined outside of the loop or in itself."""
    if TERMINATOR in op.traits or not all(map(is_pure, op.walk())):
        return False
    used = (value for inner in op.walk() for value in inner.operands)
    return all(
        op.is_ancestor(definition) or not loop.is_ancestor(definition)
        for definition in map(_definition, used)
    )


def _definition(value: Value) -> Op:
    """The operation that defines a value, or the one whose block argument it is."""
    if isinstance(value, OpResult):
        return value.op
    assert isinstance(value, BlockArgument) and value.block.parent is not None
    parent = value.block.parent.parent
    assert parent is not None
    return parent
