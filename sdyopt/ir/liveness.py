"""Liveness: operations that may not be erased even if unused (`would_be_dead`), and all that they depend on.

A block argument is live if a live operation uses it; forwarding it to a dead block argument is no use. If a
terminator does not declare its successor operands, all arguments of its successors are live. As in MLIR, an
unregistered operation with successors forwards nothing, so the arguments of its successors may be dead.
"""

from __future__ import annotations

from sdyopt.ir.block import Block, Region
from sdyopt.ir.branch_interface import forwarded_operands, successor_operand_range
from sdyopt.ir.effects import would_be_dead
from sdyopt.ir.operation import Op
from sdyopt.ir.value import BlockArgument, OpResult, Value


class Liveness:
    """The live operations and block arguments of a region and of nested regions."""

    def __init__(self, region: Region) -> None:
        self.ops = [op for block in region.blocks for child in block.ops for op in child.walk()]
        self.live_ops: set[Op] = set()
        self.live_arguments: set[BlockArgument] = set()
        self._pending: list[Op | BlockArgument] = []
        self._predecessors: dict[Region, dict[Block, list[Block]]] = {}
        for op in self.ops:
            if not would_be_dead(op):
                self._add_op(op)
        while self._pending:
            live = self._pending.pop()
            if isinstance(live, BlockArgument):
                self._add_forwarded_operands(live)
            else:
                self._add_operands(live)

    @property
    def dead_ops(self) -> list[Op]:
        """The operations that are not live, in pre-order."""
        if len(self.live_ops) == len(self.ops):
            return []
        return [op for op in self.ops if op not in self.live_ops]

    def _add_operands(self, op: Op) -> None:
        if not op.successors:
            for use in op.operand_uses:
                self._add(use.value)
            return
        forwarded = forwarded_operands(op)
        for use in op.operand_uses:
            if use.index not in forwarded:
                self._add(use.value)
        if op.is_terminator and not op.successor_operands:
            for block in op.successors:
                for argument in block.arguments:
                    self._add(argument)

    def _add_forwarded_operands(self, argument: BlockArgument) -> None:
        for predecessor in dict.fromkeys(self._predecessors_of(argument.owner)):
            branch = predecessor.last
            assert branch is not None
            for successor_index in range(len(branch.successor_operands)):
                if branch.successors[successor_index] is argument.owner:
                    start, _ = successor_operand_range(branch, successor_index)
                    self._add(branch.operand_at(start + argument.index))

    def _predecessors_of(self, block: Block) -> list[Block]:
        region = block.parent
        assert region is not None
        predecessors = self._predecessors.get(region)
        if predecessors is None:
            predecessors = self._predecessors[region] = region.predecessors()
        return predecessors[block]

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
