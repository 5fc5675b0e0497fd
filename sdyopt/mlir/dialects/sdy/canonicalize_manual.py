"""Canonicalization patterns of manual computations: erase unused inputs, inline redundant bodies.

Both edit operands and bodies with a separate rewriter, which adds nothing to the driver's worklist. So the
driver visits the edited operations only in its next iteration, as in the C++ passes. This determines the
final order of the constants in a body.
"""

from __future__ import annotations

from sdyopt.mlir.dialects.sdy.computation_ops import ManualComputationOp
from sdyopt.mlir.dialects.sdy.mesh_op import common_mesh
from sdyopt.mlir.dialects.sdy.sharding import ShardingPerValue
from sdyopt.mlir.ir.interfaces import terminator_of
from sdyopt.mlir.ir.patterns import Pattern
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.value import Value


def _erase_unused_inputs(op: ManualComputationOp, rewriter: Rewriter) -> bool:
    """Erases unused block arguments with their operands and shardings."""
    unused = [argument for argument in op.block.arguments if not argument.has_uses]
    if not unused:
        return False
    indices = {argument.index for argument in unused}
    kept = [sharding for index, sharding in enumerate(op.in_shardings) if index not in indices]
    unlogged = Rewriter()
    unlogged.erase_operands(op, indices)
    for argument in unused:
        unlogged.erase_argument(argument)
    unlogged.set_attribute(op, "in_shardings", ShardingPerValue(tuple(kept)))
    return True


def _inline_redundant(op: ManualComputationOp, rewriter: Rewriter) -> bool:
    """Inlines the body of an operation without inputs and outputs, or whose manual axes all have size 1."""
    shardings = [*op.in_shardings, *op.out_shardings]
    terminator = terminator_of(op.body)
    if not shardings and op.block.first is terminator:
        rewriter.erase(op)
        return True
    if shardings and op.manual_axes:
        mesh = common_mesh(shardings, op)
        if mesh is None or any(mesh.axis_size(name) != 1 for name in op.manual_axes):
            return False
    # The operations are cloned, not moved, so that use lists are in the order of the body.
    values: dict[Value, Value] = dict(zip(op.block.arguments, op.tensors, strict=True))
    unlogged = Rewriter()
    for inner in op.block.ops:
        if inner is not terminator:
            unlogged.insert(unlogged.clone(inner, values), before=op)
    for result, value in zip(op.results, terminator.operands, strict=True):
        unlogged.replace_all_uses(result, values[value])
    rewriter.erase(op)
    return True


ManualComputationOp.canonicalizations = (
    Pattern(_erase_unused_inputs, "mlir::sdy::(anonymous namespace)::ManualComputationUnusedInputsPattern"),
    Pattern(_inline_redundant, "mlir::sdy::(anonymous namespace)::RedundantManualComputationPattern"),
)
