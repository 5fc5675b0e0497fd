"""The subset of the cf dialect that programs of the mesh dialect use: br, cond_br, assert."""

from __future__ import annotations

from sdyopt.mlir.asm.format.assembly_format import assembly
from sdyopt.mlir.dialects.arith.compare import make_constant
from sdyopt.mlir.ir.builtin_attributes import IntegerAttr
from sdyopt.mlir.ir.constraints import ANY_TYPE, BOOLEAN_VALUE, STRING_ATTR
from sdyopt.mlir.ir.dialect import Dialect
from sdyopt.mlir.ir.folding import constant_value
from sdyopt.mlir.ir.op_fields import attr, operand, operands, successor
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.patterns import Pattern
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.traits import ATTR_SIZED_OPERANDS, PURE, TERMINATOR

cf = DIALECT = Dialect("cf", is_partial=True)
cf.is_inlinable = True
cf.materialize_constant = make_constant


def _merge_block(op: BranchOp, rewriter: Rewriter) -> bool:
    """Merges a block into its only predecessor."""
    target, block = op.dest, op.parent
    if target is block or target.uses > 1:
        return False
    values = list(op.dest_operands)
    for argument, value in zip(target.arguments, values, strict=True):
        rewriter.replace_all_uses(argument, value)
    assert block is not None
    rewriter.erase(op)
    for inner in list(target.ops):
        rewriter.move(inner, at_end_of=block)
    rewriter.erase_block(target)
    return True


@cf.op("br", PURE, TERMINATOR)
class BranchOp(Op):
    """Branches to a block."""

    dest_operands = operands(ANY_TYPE)
    dest = successor(dest_operands)

    assembly = assembly("$dest (`(` $dest_operands^ `:` type($dest_operands) `)`)? attr-dict")
    canonicalizations = (Pattern(_merge_block),)


def _fold_constant_condition(op: ConditionalBranchOp, rewriter: Rewriter) -> bool:
    """Replaces a conditional branch on a constant with a branch."""
    condition = constant_value(op.condition.defining_op)
    if not isinstance(condition, IntegerAttr):
        return False
    target = op.true_dest if condition.value else op.false_dest
    values = op.true_dest_operands if condition.value else op.false_dest_operands
    rewriter.create(BranchOp, values, before=op, location=op.location, successors=[target])
    rewriter.erase(op)
    return True


@cf.op("cond_br", PURE, TERMINATOR, ATTR_SIZED_OPERANDS)
class ConditionalBranchOp(Op):
    """Branches to one of two blocks."""

    condition = operand(BOOLEAN_VALUE)
    true_dest_operands = operands(ANY_TYPE)
    false_dest_operands = operands(ANY_TYPE)
    true_dest = successor(true_dest_operands)
    false_dest = successor(false_dest_operands)

    assembly = assembly(
        "$condition `,` $true_dest (`(` $true_dest_operands^ `:` type($true_dest_operands) `)`)? `,` "
        "$false_dest (`(` $false_dest_operands^ `:` type($false_dest_operands) `)`)? attr-dict"
    )
    canonicalizations = (Pattern(_fold_constant_condition),)


def _erase_if_true(op: AssertOp, rewriter: Rewriter) -> bool:
    """Erases an assertion whose condition is constant and true."""
    condition = constant_value(op.condition.defining_op)
    if not isinstance(condition, IntegerAttr) or not condition.value:
        return False
    rewriter.erase(op)
    return True


@cf.op("assert")
class AssertOp(Op):
    """Aborts the program with a message if the condition is false."""

    condition = operand(BOOLEAN_VALUE)
    msg = attr(STRING_ATTR)

    assembly = assembly("$condition `,` $msg attr-dict")
    canonicalizations = (Pattern(_erase_if_true),)
