"""The cf dialect object, cf.br, cond_br and assert, and their canonicalizations."""

from __future__ import annotations

from sdyopt.mlir.asm.format.assembly_format import assembly
from sdyopt.mlir.dialects.arith.compare import SelectOp, make_constant
from sdyopt.mlir.ir.block import Block
from sdyopt.mlir.ir.builtin_attributes import DenseArray, IntegerAttr, integer
from sdyopt.mlir.ir.constraints import ANY_TYPE, BOOLEAN_VALUE, I32_ARRAY, STRING_ATTR
from sdyopt.mlir.ir.cse import constant_value
from sdyopt.mlir.ir.dialect import Dialect
from sdyopt.mlir.ir.op_fields import attr, operand, operands, optional_attr, successor
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.patterns import Pattern
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.traits import ATTR_SIZED_OPERANDS, PURE, TERMINATOR
from sdyopt.mlir.ir.types import I1, I32
from sdyopt.mlir.ir.value import Value

cf = Dialect("cf")
cf.is_inlinable = True
cf.materialize_constant = make_constant


def collapsed(block: Block, values: list[Value]) -> tuple[Block, list[Value]] | None:
    """Where a branch to a block goes that only branches on; None if it does not, or if that is a cycle.

    All blocks that only branch on are skipped at once: there may be many.
    """
    first = _only_branch(block)
    if first is None:
        return None
    visited = {block}
    next_branch: Op | None = first
    while isinstance(next_branch, BranchOp):
        (following,) = next_branch.successors
        if following in visited:
            return None
        visited.add(following)
        next_branch = following.last
    while first is not None:
        mapping: dict[Value, Value] = dict(zip(block.arguments, values, strict=True))
        (block,), values = first.successors, [mapping.get(value, value) for value in first.operands]
        first = _only_branch(block)
    return block, values


def _only_branch(block: Block) -> BranchOp | None:
    """The branch that is all that a block has, with the only uses of its arguments; else None."""
    first = block.last
    if not isinstance(first, BranchOp) or first is not block.first:
        return None
    if any(user is not first for argument in block.arguments for user in argument.users):
        return None
    return first


def branch(rewriter: Rewriter, op: Op, dest: Block, values: list[Value]) -> None:
    """Replaces a terminator with a branch."""
    rewriter.create(BranchOp, values, before=op, location=op.location, successors=[dest])
    rewriter.erase(op)


@cf.op("br", PURE, TERMINATOR)
class BranchOp(Op):
    """Branches to a block."""

    dest_operands = operands(ANY_TYPE)
    dest = successor(dest_operands)

    assembly = assembly("$dest (`(` $dest_operands^ `:` type($dest_operands) `)`)? attr-dict")

    def _simplify_branch(self, rewriter: Rewriter) -> bool:
        return self._merge_block(rewriter) or self._skip_block(rewriter)

    canonicalizations = (Pattern(_simplify_branch),)

    def _merge_block(self, rewriter: Rewriter) -> bool:
        """Merges a block into its only predecessor."""
        target, block = self.dest, self.parent
        if target is block or target.uses > 1:
            return False
        values = list(self.dest_operands)
        for argument, value in zip(target.arguments, values, strict=True):
            rewriter.replace_all_uses(argument, value)
        assert block is not None
        rewriter.erase(self)
        for inner in list(target.ops):
            rewriter.move(inner, at_end_of=block)
        rewriter.erase_block(target)
        return True

    def _skip_block(self, rewriter: Rewriter) -> bool:
        """Branches to where the destination branches."""
        target = None if self.dest is self.parent else collapsed(self.dest, self.dest_operands)
        if target is None:
            return False
        branch(rewriter, self, *target)
        return True


@cf.op("cond_br", PURE, TERMINATOR, ATTR_SIZED_OPERANDS)
class ConditionalBranchOp(Op):
    """Branches to one of two blocks."""

    condition = operand(BOOLEAN_VALUE)
    true_dest_operands = operands(ANY_TYPE)
    false_dest_operands = operands(ANY_TYPE)
    branch_weights = optional_attr(I32_ARRAY)
    true_dest = successor(true_dest_operands)
    false_dest = successor(false_dest_operands)

    assembly = assembly(
        "$condition (`weights` `(` $branch_weights^ `)`)? `,` "
        "$true_dest (`(` $true_dest_operands^ `:` type($true_dest_operands) `)`)? `,` "
        "$false_dest (`(` $false_dest_operands^ `:` type($false_dest_operands) `)`)? attr-dict"
    )

    def _fold_constant_condition(self, rewriter: Rewriter) -> bool:
        """Replaces a conditional branch on a constant with a branch."""
        condition = constant_value(self.condition.defining_op)
        if not isinstance(condition, IntegerAttr):
            return False
        target = self.true_dest if condition.value else self.false_dest
        values = self.true_dest_operands if condition.value else self.false_dest_operands
        branch(rewriter, self, target, values)
        return True

    def _skip_blocks(self, rewriter: Rewriter) -> bool:
        """Branches to where the destinations branch."""
        true_target = collapsed(self.true_dest, self.true_dest_operands)
        false_target = collapsed(self.false_dest, self.false_dest_operands)
        if true_target is None and false_target is None:
            return False
        true_dest, true_values = true_target or (self.true_dest, self.true_dest_operands)
        false_dest, false_values = false_target or (self.false_dest, self.false_dest_operands)
        weights = (
            {} if self.branch_weights is None else {"branch_weights": DenseArray(I32, self.branch_weights)}
        )
        rewriter.create(
            ConditionalBranchOp,
            [self.condition, *true_values, *false_values],
            (),
            {**weights, "operandSegmentSizes": DenseArray(I32, (1, len(true_values), len(false_values)))},
            before=self,
            location=self.location,
            successors=[true_dest, false_dest],
        )
        rewriter.erase(self)
        return True

    def _merge_destinations(self, rewriter: Rewriter) -> bool:
        """Branches unconditionally if both destinations are one block; arguments that differ are selected."""
        dest, true_values, false_values = self.true_dest, self.true_dest_operands, self.false_dest_operands
        if dest is not self.false_dest:
            return False
        if true_values != false_values and any(block is not self.parent for block in dest.predecessors):
            return False
        values = [
            true_value
            if true_value is false_value
            else rewriter.create(
                SelectOp,
                [self.condition, true_value, false_value],
                [true_value.type],
                before=self,
                location=self.location,
            ).results[0]
            for true_value, false_value in zip(true_values, false_values, strict=True)
        ]
        branch(rewriter, self, dest, values)
        return True

    def _reuse_condition(self, rewriter: Rewriter) -> bool:
        """Branches unconditionally if the only predecessor has branched on the same condition."""
        block = self.parent
        assert block is not None
        if block.uses != 1 or self.condition.has_one_use:
            return False
        before = block.predecessors[0].last
        if not isinstance(before, ConditionalBranchOp) or before.condition is not self.condition:
            return False
        if before.true_dest is block:
            branch(rewriter, self, self.true_dest, self.true_dest_operands)
        else:
            branch(rewriter, self, self.false_dest, self.false_dest_operands)
        return True

    def _propagate_condition(self, rewriter: Rewriter) -> bool:
        """Replaces the condition in a destination that has no other predecessor with a constant."""
        has_changed = False
        for dest, value in ((self.true_dest, 1), (self.false_dest, 0)):
            uses = [use for use in self.condition.uses if use.owner.parent is dest] if dest.uses == 1 else []
            if not uses:
                continue
            constant = make_constant(integer(value, I1), I1, self.location)
            assert constant is not None
            rewriter.insert(constant, before=self)
            for use in uses:
                rewriter.set_operand(use, constant.results[0])
            has_changed = True
        return has_changed

    canonicalizations = (
        Pattern(_fold_constant_condition),
        Pattern(_skip_blocks),
        Pattern(_merge_destinations),
        Pattern(_reuse_condition),
        Pattern(_propagate_condition),
    )

    @staticmethod
    def verify_signature(signature: OpSignature) -> None:
        weights = signature[ConditionalBranchOp.branch_weights]
        if not weights:
            return
        if len(weights) != 2:
            raise signature.error(
                f"expects number of branch weights to match number of successors: {len(weights)} vs 2"
            )
        if not any(weights):
            raise signature.error("branch weights cannot all be zero")


@cf.op("assert")
class AssertOp(Op):
    """Aborts the program with a message if the condition is false."""

    condition = operand(BOOLEAN_VALUE)
    msg = attr(STRING_ATTR)

    assembly = assembly("$condition `,` $msg attr-dict")

    def _erase_if_true(self, rewriter: Rewriter) -> bool:
        """Erases an assertion whose condition is constant and true."""
        condition = constant_value(self.condition.defining_op)
        if not isinstance(condition, IntegerAttr) or not condition.value:
            return False
        rewriter.erase(self)
        return True

    canonicalizations = (Pattern(_erase_if_true),)
