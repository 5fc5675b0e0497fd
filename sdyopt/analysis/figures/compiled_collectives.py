"""What the compiler of a machine makes of the collectives that XLA's partitioner inserts.

The partitioner is the same for all devices. Which compiler does what is in the table of `base/compilers.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fractions import Fraction

from sdyopt.analysis.figures.execution_counts import ExecutionCounts
from sdyopt.analysis.figures.figures import Collective
from sdyopt.analysis.figures.loop_invariants import loop_around
from sdyopt.base.compilers import CompilerBehavior
from sdyopt.base.dataclasses import replace
from sdyopt.mlir.dialects.sdy.collectives import AllReduceOp, CollectiveOp, ReduceScatterOp
from sdyopt.mlir.dialects.stablehlo import collectives as stablehlo
from sdyopt.mlir.dialects.stablehlo.contraction import DotGeneralOp, DotOp
from sdyopt.mlir.dialects.stablehlo.control_flow import WhileOp
from sdyopt.mlir.dialects.stablehlo.conversion import ConvertOp
from sdyopt.mlir.dialects.stablehlo.convolution import ConvolutionOp
from sdyopt.mlir.dialects.stablehlo.elementwise import AddOp
from sdyopt.mlir.dialects.stablehlo.precision import Precision
from sdyopt.mlir.dialects.stablehlo.shapes import ReshapeOp, TransposeOp
from sdyopt.mlir.ir.attribute import ArrayAttr
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.types import FloatType, element_of
from sdyopt.mlir.ir.value import BlockArgument, Value

_ALL_REDUCES = (AllReduceOp, stablehlo.AllReduceOp, stablehlo.CrossReplicaSumOp)
_SUMS = (*_ALL_REDUCES, ReduceScatterOp, stablehlo.ReduceScatterOp)
_COLLECTIVES = (
    *(CollectiveOp, stablehlo.AllGatherOp, stablehlo.AllReduceOp, stablehlo.AllToAllOp),
    *(stablehlo.CollectivePermuteOp, stablehlo.ReduceScatterOp),
)
_PRODUCTS = (DotGeneralOp, DotOp, ConvolutionOp)
# Operations that compute no new values from the elements.
_RELAYOUTS = (ConvertOp, ReshapeOp, TransposeOp)
# The bits of the floats that are sent to products of default precision.
_DEFAULT_WIDTH = 16

# Changes what is reported of a collective; None if a compiler leaves it as it is.
_Change = Callable[[Op, Collective, ExecutionCounts], "Collective | None"]


def compiled(
    pairs: Iterable[tuple[Op, Collective]], compiler: str, counts: ExecutionCounts
) -> list[Collective]:
    """The collectives as a compiler does them; for "", as those for TPU and GPU both do."""
    changes = [change for behavior, change in _CHANGES if behavior.holds(compiler)]
    found = []
    for op, collective in pairs:
        for change in changes:
            collective = change(op, collective, counts) or collective
        found.append(collective)
    return found


def _after_loops(op: Op, collective: Collective, counts: ExecutionCounts) -> Collective | None:
    """An all-reduce behind the loops in which its results are summed up."""
    if not isinstance(op, _ALL_REDUCES) or len(op.results) != 1:
        return None
    value: Value = op.results[0]
    around: Op = op
    left: WhileOp | None = None
    while (loop := loop_around(around, counts, in_branches=False)) is not None:
        total = _sum_over_iterations(value, loop)
        if total is None:
            break
        left = around = loop
        value = total
    if left is None:
        return None
    return replace(
        collective,
        times=counts.times(left),
        per_iteration=None if counts.times(left) is not None else counts.per_iteration(left),
        compiled="done once, after the loop that sums up its results",
    )


def _sum_over_iterations(value: Value, loop: WhileOp) -> Value | None:
    """The result of a loop that sums up a value over its iterations, if nothing else needs the value."""
    while (user := _only_user(value)) is not None and isinstance(user, _RELAYOUTS):
        value = user.results[0]
    if not isinstance(user, AddOp) or user.parent is not loop.body.blocks[0]:
        return None
    other = next((each for each in user.operands if each is not value), None)
    if not isinstance(other, BlockArgument) or other.owner is not loop.body.blocks[0]:
        return None
    if _only_user(other) is not user:
        return None
    returned = _only_user(user.result)
    index = other.index
    if returned is None or returned is not loop.body.blocks[0].last:
        return None
    is_carried = returned.operand_at(index) is user.result
    return loop.results[index] if is_carried else None


def _only_user(value: Value) -> Op | None:
    """The operation with the only use of a value; None if there are several uses or none."""
    uses = iter(value.uses)
    use = next(uses, None)
    return None if use is None or next(uses, None) is not None else use.owner


def _as_bf16(op: Op, collective: Collective, counts: ExecutionCounts) -> Collective | None:
    """A collective of 32-bit floats whose result only products of default precision use."""
    if collective.wire_bytes is None or not collective.wire_bytes or len(op.results) != 1:
        return None
    element = element_of(op.results[0].type)
    if not isinstance(element, FloatType) or element.width != 2 * _DEFAULT_WIDTH:
        return None
    if not _is_for_products(op.results[0]):
        return None
    # Sums are computed with 32 bits. Then an all-reduce sends what it has summed up as bf16.
    if isinstance(op, _SUMS):
        if not isinstance(op, _ALL_REDUCES):
            return None
        share = Fraction(3, 4)
    else:
        share = Fraction(1, 2)
    return replace(
        collective,
        wire_bytes=collective.wire_bytes * share,
        compiled="sent as bf16, because only products of default precision use it",
    )


def _is_for_products(value: Value) -> bool:
    """Whether only products of default precision use a value, maybe after relayouts and collectives."""
    pending, visited = [value], {value}
    is_used = False
    while pending:
        for use in pending.pop().uses:
            user = use.owner
            if isinstance(user, _PRODUCTS):
                if not _is_of_default_precision(user):
                    return False
                is_used = True
            elif isinstance(user, (*_RELAYOUTS, *_COLLECTIVES)) and not isinstance(user, _SUMS):
                for result in user.results:
                    if result not in visited:
                        visited.add(result)
                        pending.append(result)
            else:
                return False
    return is_used


def _is_of_default_precision(product: Op) -> bool:
    config = product.signature.attributes.get("precision_config")
    if product.signature.attributes.get("algorithm") is not None:
        return False
    parts = config.elements if isinstance(config, ArrayAttr) else ()
    return all(isinstance(each, Precision) and each.value == "DEFAULT" for each in parts)


_CHANGES: tuple[tuple[CompilerBehavior, _Change], ...] = (
    (CompilerBehavior.SUMS_AFTER_LOOPS, _after_loops),
    (CompilerBehavior.PRODUCTS_OF_BF16, _as_bf16),
)
