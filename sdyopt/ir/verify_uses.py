"""Verification of uses: definitions dominate uses, and isolated operations use no values from outside."""

from __future__ import annotations

from sdyopt.diagnostics.diagnostic import DiagnosticError
from sdyopt.ir.block import Block
from sdyopt.ir.dominance import Dominance
from sdyopt.ir.operation import Op
from sdyopt.ir.traits import ISOLATED
from sdyopt.ir.value import BlockArgument, OpResult, Value


def check_uses_in(block: Block, dominance: Dominance) -> list[Op]:
    """Checks the operands of all operations in a block; raises DiagnosticError.

    Returns the operations with regions. Programs have many operations, so this calls few functions.
    """
    if not block.is_ordered:
        block.number()
    is_reachable = dominance.is_reachable(block)
    with_regions = []
    op = block.first
    while op is not None:
        for use in op._operands:
            value = use.value
            # The fast path of `check_uses`.
            if type(value) is OpResult:
                definition = value.op
                if definition.parent is block and definition.order < op.order:
                    continue
            elif type(value) is BlockArgument and value.owner is block:
                continue
            check_uses(op, dominance, is_reachable)
            break
        if op.regions:
            with_regions.append(op)
        op = op.next
    return with_regions


def check_uses(op: Op, dominance: Dominance, is_reachable: bool) -> None:
    """Checks the operands of an operation, whose block must be ordered; raises DiagnosticError.

    Dominance is checked only if the block `is_reachable`.
    """
    block = op.parent
    for use in op._operands:
        value = use.value
        # Fast path: defined earlier in the same block, or an argument of it.
        if type(value) is OpResult:
            if value.op.parent is block and value.op.order < op.order:
                continue
        elif type(value) is BlockArgument and value.owner is block:
            continue
        isolated = _isolating_op(value, op)
        if isolated is not None:
            raise op.op_error("using value defined outside the region").note(
                "required by region isolation constraints", isolated.location
            )
        if is_reachable and not dominance.value_dominates(value, op):
            raise _dominance_error(op, use.index)


def _isolating_op(value: Value, op: Op) -> Op | None:
    """The isolated operation that encloses `op` but not the definition of `value`; None if there is none."""
    region = op.parent_region
    while region is not None and region.parent is not None:
        if ISOLATED in region.parent.traits:
            block = value.block
            return None if block is None or region.is_ancestor(block.parent) else region.parent
        region = region.parent.parent_region
    return None


def _dominance_error(op: Op, index: int) -> DiagnosticError:
    error = op.error(f"operand #{index} does not dominate this use")
    error.diagnostic.operation = op
    value = op.operand_at(index)
    block, other = op.parent, value.block
    assert block is not None
    definition = value.defining_op
    if definition is not None:
        if other is block:
            where = "op in the same block"
        else:
            where = "op " + _relation(block, other, "is neither in a parent nor in a child region")
        return error.note(f"operand defined here ({where})", definition.location)
    assert other is not None and other.parent is not None
    number = other.parent.blocks.index(other)
    owner = other.parent_op
    where = _relation(block, other, "neither in a parent nor in a child region")
    return error.note(
        f"operand defined as a block argument (block #{number} {where})",
        owner.location if owner is not None else op.location,
    )


def _relation(block: Block, other: Block | None, otherwise: str) -> str:
    region, defining = block.parent, other.parent if other is not None else None
    assert region is not None
    if defining is region:
        return "in the same region"
    if defining is not None and defining.is_ancestor(region):
        return "in a parent region"
    if region.is_ancestor(defining):
        return "in a child region"
    return otherwise
