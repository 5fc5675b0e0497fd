"""What is needed: operations with effects, terminators, and whatever these depend on.

An argument of a block is needed if somebody needed uses it; only then is what branches hand to it. Where
a terminator is registered but does not say which of its operands go to which block, all arguments of the
block are needed. Of what is not registered MLIR takes for granted that it hands over nothing.
"""

from __future__ import annotations

from sdyopt.ir.block import Region
from sdyopt.ir.branch_interface import handed_over, target_range
from sdyopt.ir.effects import would_be_dead
from sdyopt.ir.operation import Op
from sdyopt.ir.value import BlockArgument, OpResult, Value


class Liveness:
    """The operations and block arguments of a region, and of those inside it, that are needed."""

    def __init__(self, region: Region) -> None:
        self.ops = [op for block in region.blocks for child in block.ops for op in child.walk()]
        self.live_ops: set[Op] = set()
        self.live_arguments: set[BlockArgument] = set()
        self._pending: list[Op | BlockArgument] = []
        for op in self.ops:
            if not would_be_dead(op):
                self._add_op(op)
        while self._pending:
            found = self._pending.pop()
            if isinstance(found, BlockArgument):
                self._handed_to(found)
            else:
                self._used_by(found)

    @property
    def dead_ops(self) -> list[Op]:
        """The operations that nobody needs, in the order of the program."""
        if len(self.live_ops) == len(self.ops):
            return []
        return [op for op in self.ops if op not in self.live_ops]

    def _used_by(self, op: Op) -> None:
        if not op.successors:
            for use in op.operand_uses:
                self._add(use.value)
            return
        handed = handed_over(op)
        for use in op.operand_uses:
            if use.index not in handed:
                self._add(use.value)
        if op.is_terminator and not op.target_operands:
            for block in op.successors:
                for argument in block.arguments:
                    self._add(argument)

    def _handed_to(self, argument: BlockArgument) -> None:
        for before in dict.fromkeys(argument.owner.predecessors):
            branch = before.last
            assert branch is not None
            for number in range(len(branch.target_operands)):
                if branch.successors[number] is argument.owner:
                    start, _ = target_range(branch, number)
                    self._add(branch.operand_at(start + argument.index))

    def _add(self, value: Value) -> None:
        if isinstance(value, OpResult):
            self._add_op(value.op)
        elif isinstance(value, BlockArgument) and value not in self.live_arguments:
            self.live_arguments.add(value)
            self._pending.append(value)

    def _add_op(self, op: Op) -> None:
        if op not in self.live_ops:
            self.live_ops.add(op)
            self._pending.append(op)
