"""Which values do not change in a loop, and out of which loops XLA moves a collective.

XLA moves each operation without side effects out of the body of a loop whose operands do not change in it:
loop-carried values that the body returns unchanged, and what is computed from them. Operations between such a
value and a collective move with it; collectives in conditionals and in the condition of a loop stay.
"""

from __future__ import annotations

from sdyopt.analysis.figures.execution_counts import ExecutionCounts, is_passed_on
from sdyopt.analysis.figures.product_collectives import COLLECTIVES
from sdyopt.mlir.dialects.func import FuncOp
from sdyopt.mlir.dialects.sdy.ops import ManualComputationOp, NamedComputationOp
from sdyopt.mlir.dialects.stablehlo.compare_select import ConvertOp
from sdyopt.mlir.dialects.stablehlo.control_flow import CaseOp, IfOp, OptimizationBarrierOp, WhileOp
from sdyopt.mlir.dialects.stablehlo.elementwise import AddOp
from sdyopt.mlir.dialects.stablehlo.shapes import ReshapeOp, TransposeOp
from sdyopt.mlir.dialects.stablehlo.slicing import DynamicSliceOp
from sdyopt.mlir.ir.interfaces import is_memory_effect_free
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.types import FloatType, element_of
from sdyopt.mlir.ir.value import BlockArgument, OpResult, Value

# Operations whose block arguments are their operands, and whose results are what their body returns.
BODIES = (ManualComputationOp, NamedComputationOp)
# Operations that compute no new values from the elements.
RELAYOUTS = (ConvertOp, ReshapeOp, TransposeOp)
# They may be between a slice and its conversion.
_PASSES = (OptimizationBarrierOp, ReshapeOp)
_CONTROL_FLOW = (IfOp, CaseOp, WhileOp)

# A value that depends on more values than this counts as changing.
MAX_SOURCES = 1000


def loop_left(op: Op, counts: ExecutionCounts) -> WhileOp | None:
    """The outermost loop that XLA moves a collective out of; None if it moves it out of none."""
    left, around = None, op
    while (loop := loop_around(around, counts, in_branches=False)) is not None:
        # A loop that never runs is removed with its collectives.
        is_run = counts.trip_count(loop) != 0
        if not is_run or not all(is_invariant(operand, loop, counts) for operand in op.operands):
            break
        left = around = loop
    return left


def loop_around(op: Op, counts: ExecutionCounts, in_branches: bool = True) -> WhileOp | None:
    """The innermost loop whose body runs an operation, also in a function with a single call.

    With `in_branches`, the operation may be in a conditional in the loop.
    """
    visited: set[FuncOp] = set()
    while True:
        inside = op
        for parent in op.ancestors():
            if isinstance(parent, WhileOp) and inside.parent_region is parent.body:
                return parent
            if not in_branches and isinstance(parent, _CONTROL_FLOW):
                return None
            inside = parent
            if isinstance(parent, FuncOp):
                call = _only_call(parent, counts)
                if call is None or parent in visited:
                    return None
                visited.add(parent)
                op = call
                break
        else:
            return None


def is_invariant(value: Value, loop: WhileOp, counts: ExecutionCounts) -> bool:
    """Whether a value in the body of a loop is the same in each iteration, as far as its sources show."""
    pending, visited = [value], {value}
    while pending:
        sources = _sources(pending.pop(), loop, counts)
        if sources is None or len(visited) > MAX_SOURCES:
            return False
        pending += [source for source in sources if source not in visited]
        visited.update(sources)
    return True


def sum_over_iterations(value: Value, loop: WhileOp) -> Value | None:
    """The result of a loop that sums up a value over its iterations, if nothing else needs the value."""
    while (user := only_user(value)) is not None and isinstance(user, RELAYOUTS):
        value = user.results[0]
    if not isinstance(user, AddOp) or user.parent is not loop.body.blocks[0]:
        return None
    other = next((operand for operand in user.operands if operand is not value), None)
    if not isinstance(other, BlockArgument) or other.block is not loop.body.blocks[0]:
        return None
    if only_user(other) is not user:
        return None
    returned = only_user(user.result)
    index = other.index
    if returned is None or returned is not loop.body.blocks[0].last:
        return None
    is_carried = returned.operand_at(index) is user.result
    return loop.results[index] if is_carried else None


def converted_slice(loop: WhileOp, index: int) -> OpResult | None:
    """What a loop converts each slice of an operand to, in a narrower type, and does nothing else with it.

    A scan over layers does with their parameters: compilers may convert all layers before the loop.
    """
    if not is_passed_on(loop, index):
        return None
    body, slice = loop.body.blocks[0], None
    for use in body.arguments[index].uses:
        if use.owner is body.last:
            continue
        if slice is not None or not isinstance(use.owner, DynamicSliceOp) or use.index:
            return None
        value: Value = use.owner.result
        while (user := only_user(value)) is not None and isinstance(user, _PASSES):
            value = user.results[next(iter(value.uses)).index]
        if not isinstance(user, ConvertOp) or not _is_narrower(user.result, value):
            return None
        slice = user.result
    return slice


def _is_narrower(value: Value, other: Value) -> bool:
    types = element_of(value.type), element_of(other.type)
    widths = [type.width for type in types if isinstance(type, FloatType)]
    return len(widths) == 2 and widths[0] < widths[1]


def only_user(value: Value) -> Op | None:
    """The operation with the only use of a value; None if there are several uses or none."""
    uses = iter(value.uses)
    use = next(uses, None)
    return None if use is None or next(uses, None) is not None else use.owner


def _sources(value: Value, loop: WhileOp, counts: ExecutionCounts) -> list[Value] | None:
    """The values that a value is computed from in the loop; None if it may change."""
    owner = owner_of(value)
    if owner is loop:
        is_carried = isinstance(value, BlockArgument) and is_passed_on(loop, value.index)
        return [] if is_carried else None
    if not _is_in_loop(owner, loop, counts):
        return []
    assert isinstance(value, BlockArgument | OpResult)
    if isinstance(value, BlockArgument):
        if isinstance(owner, WhileOp) and is_passed_on(owner, value.index):
            return [owner.operand_at(value.index)]
        if isinstance(owner, BODIES):
            return [owner.operand_at(value.index)]
        if isinstance(owner, FuncOp) and (call := _only_call(owner, counts)) is not None:
            return [call.operand_at(value.index)]
        return None
    if isinstance(owner, BODIES):
        last = owner.regions[0].blocks[0].last
        return None if last is None else [last.operand_at(value.index)]
    is_pure = is_memory_effect_free(owner) or isinstance(owner, COLLECTIVES)
    return owner.operands if is_pure and not isinstance(owner, _CONTROL_FLOW) else None


def _is_in_loop(op: Op, loop: WhileOp, counts: ExecutionCounts) -> bool:
    """Whether the body of a loop runs an operation, itself or in a function that it calls."""
    function, outside = counts.nesting(loop)
    around, depth = (op, 0) if isinstance(op, FuncOp) else counts.nesting(op)
    if around is not function:
        return True
    ancestor: Op | None = op
    for _ in range(depth - outside):
        ancestor = None if ancestor is None else ancestor.parent_op
    return ancestor is loop


def _only_call(function: FuncOp, counts: ExecutionCounts) -> Op | None:
    sites = counts.call_sites(function)
    return sites[0] if len(sites) == 1 and not counts.is_entry(function) else None


def owner_of(value: Value) -> Op:
    """The operation that defines a value, or that has it as an argument of its region."""
    assert isinstance(value, OpResult | BlockArgument)
    op = value.op if isinstance(value, OpResult) else value.block.parent_op
    assert op is not None
    return op
