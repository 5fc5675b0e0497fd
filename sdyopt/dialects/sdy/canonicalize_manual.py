"""Simplifications of manual computations: arguments that nobody uses, and bodies that need none.

Both edit by a rewriter that nobody listens to, so that what they touched is looked at in the next round
only, as in the C++ passes: that decides in which order the constants of a body end.
"""

from __future__ import annotations

from typing import Any

from sdyopt.dialects.sdy.mesh_op import common_mesh
from sdyopt.dialects.sdy.sharding import ShardingPerValue
from sdyopt.ir.patterns import Pattern
from sdyopt.ir.region_traits import terminator_of
from sdyopt.ir.rewrite import Rewriter
from sdyopt.ir.value import Value


def _drop_unused_inputs(op: Any, rewriter: Rewriter) -> bool:
    """Arguments that nobody uses go, with their operands and shardings."""
    unused = [argument for argument in op.block.arguments if not argument.has_uses]
    if not unused:
        return False
    indices = {argument.index for argument in unused}
    kept = [sharding for index, sharding in enumerate(op.in_shardings) if index not in indices]
    unheard = Rewriter()
    unheard.erase_operands(op, indices)
    for argument in unused:
        unheard.erase_argument(argument)
    unheard.set_attribute(op, "in_shardings", ShardingPerValue(tuple(kept)))
    return True


def _inline_redundant(op: Any, rewriter: Rewriter) -> bool:
    """A body over axes of size 1 in all is put in place of the operation; one that does nothing goes."""
    shardings = [*op.in_shardings, *op.out_shardings]
    end = terminator_of(op.body)
    if not shardings and op.block.first is end:
        rewriter.erase(op)
        return True
    if shardings and op.manual_axes:
        mesh = common_mesh(shardings, op)
        if mesh is None or any(mesh.axis_size(name) != 1 for name in op.manual_axes):
            return False
    # Copied, not moved: uses then are in the order of the body.
    values: dict[Value, Value] = dict(zip(op.block.arguments, op.tensors, strict=True))
    unheard = Rewriter()
    for inner in op.block.ops:
        if inner is not end:
            unheard.insert(unheard.clone(inner, values), before=op)
    for result, value in zip(op.results, end.operands, strict=True):
        unheard.replace_all_uses(result, values[value])
    rewriter.erase(op)
    return True


DROP_UNUSED_INPUTS = Pattern(
    _drop_unused_inputs, "mlir::sdy::(anonymous namespace)::ManualComputationUnusedInputsPattern"
)
INLINE_REDUNDANT = Pattern(
    _inline_redundant, "mlir::sdy::(anonymous namespace)::RedundantManualComputationPattern"
)
