"""Data-flow edges: values that are the same data at different places of one operation.

An edge joins sources (operands of the operation, or of a terminator of its regions) with targets
(results, or block arguments of its regions); one of the targets owns the edge. What holds for one
end holds for all, which is how shardings get into loops and out of them.

    class WhileOp(Op):
        data_flow = LOOP
"""

from __future__ import annotations

from collections.abc import Sequence

from sdyopt.ir.operation import Op
from sdyopt.ir.region_traits import terminator_of
from sdyopt.ir.value import BlockArgument, OpOperand, OpResult, Value


class DataFlow:
    """The edges of a kind of operation. Edge number i belongs to result number i, unless said otherwise."""

    def owners(self, op: Op) -> Sequence[Value]:
        """The owner of each edge."""
        return op.results

    def owner_of_target(self, op: Op, target: Value) -> Value | None:
        """The owner of the edge that `target` is on; None if there is none, which is an error elsewhere."""
        assert isinstance(target, OpResult | BlockArgument)
        return op.results[target.index] if target.index < len(op.results) else None

    def owner_of_source(self, op: Op, source: OpOperand) -> Value:
        """The owner of the edge that `source` is on."""
        return op.results[source.index]

    def sources(self, op: Op, owner: Value) -> list[OpOperand]:
        """The sources of an edge."""
        raise NotImplementedError

    def other_targets(self, op: Op, owner: Value) -> list[Value]:
        """The targets of an edge but its owner."""
        return []


class _Inlined(DataFlow):
    """Operands go to the arguments of the only block, and what it returns to the results: two edges each."""

    def owners(self, op: Op) -> Sequence[Value]:
        return (*op.regions[0].blocks[0].arguments, *op.results)

    def owner_of_target(self, op: Op, target: Value) -> Value | None:
        return target

    def owner_of_source(self, op: Op, source: OpOperand) -> Value:
        if source.owner is op:
            return op.regions[0].blocks[0].arguments[source.index]
        return op.results[source.index]

    def sources(self, op: Op, owner: Value) -> list[OpOperand]:
        if isinstance(owner, BlockArgument):
            return [op.operand_uses[owner.index]]
        assert isinstance(owner, OpResult)
        return [terminator_of(op.regions[0]).operand_uses[owner.index]]


class _Loop(DataFlow):
    """Operands and what the last region returns go to the arguments of all regions and to the results."""

    def sources(self, op: Op, owner: Value) -> list[OpOperand]:
        assert isinstance(owner, OpResult)
        body = terminator_of(op.regions[-1])
        return [op.operand_uses[owner.index], body.operand_uses[owner.index]]

    def other_targets(self, op: Op, owner: Value) -> list[Value]:
        assert isinstance(owner, OpResult)
        return [region.blocks[0].arguments[owner.index] for region in op.regions]


class _Branches(DataFlow):
    """What each region returns goes to the results."""

    def sources(self, op: Op, owner: Value) -> list[OpOperand]:
        assert isinstance(owner, OpResult)
        return [terminator_of(region).operand_uses[owner.index] for region in op.regions]


class _PassThrough(DataFlow):
    """Operands are results."""

    def sources(self, op: Op, owner: Value) -> list[OpOperand]:
        assert isinstance(owner, OpResult)
        return [op.operand_uses[owner.index]]


INLINED = _Inlined()
LOOP = _Loop()
BRANCHES = _Branches()
PASS_THROUGH = _PassThrough()
