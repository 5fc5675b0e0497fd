"""Data-flow edges of region-branching operations, as in Shardy's ShardableDataFlowOpInterface.

An edge connects sources (operands of the operation, or of the terminators of its regions) with targets
(results, or block arguments of its regions). One of the targets is the edge's owner. All sources and targets
of an edge should have the same sharding, so propagation along edges passes shardings into and out of regions.

    class WhileOp(Op):
        data_flow = LOOP
"""

from __future__ import annotations

from collections.abc import Sequence

from sdyopt.ir.operation import Op
from sdyopt.ir.region_traits import terminator_of
from sdyopt.ir.value import BlockArgument, OpOperand, OpResult, Value


class DataFlow:
    """The data-flow edges of an operation class. By default, result i is the owner of edge i."""

    def owners(self, op: Op) -> Sequence[Value]:
        """The owner of each edge."""
        return op.results

    def owner_of_target(self, op: Op, target: Value) -> Value | None:
        """The owner of the edge with this target.

        None if no edge has this target, which is invalid; the verifier reports it.
        """
        assert isinstance(target, OpResult | BlockArgument)
        return op.results[target.index] if target.index < len(op.results) else None

    def sources(self, op: Op, owner: Value) -> list[OpOperand]:
        """The sources of an edge."""
        raise NotImplementedError

    def other_targets(self, op: Op, owner: Value) -> list[Value]:
        """The targets of an edge other than its owner."""
        return []


class _SingleBody(DataFlow):
    """Operands flow to the arguments of the only block, and returned values to the results."""

    def owners(self, op: Op) -> Sequence[Value]:
        return (*op.regions[0].blocks[0].arguments, *op.results)

    def owner_of_target(self, op: Op, target: Value) -> Value | None:
        return target

    def sources(self, op: Op, owner: Value) -> list[OpOperand]:
        if isinstance(owner, BlockArgument):
            return [op.operand_uses[owner.index]]
        assert isinstance(owner, OpResult)
        return [terminator_of(op.regions[0]).operand_uses[owner.index]]


class _Loop(DataFlow):
    """The op's operands and the last region's returned values flow to all region arguments and results."""

    def sources(self, op: Op, owner: Value) -> list[OpOperand]:
        assert isinstance(owner, OpResult)
        terminator = terminator_of(op.regions[-1])
        return [op.operand_uses[owner.index], terminator.operand_uses[owner.index]]

    def other_targets(self, op: Op, owner: Value) -> list[Value]:
        assert isinstance(owner, OpResult)
        return [region.blocks[0].arguments[owner.index] for region in op.regions]


class _Branches(DataFlow):
    """The values that each region returns flow to the results."""

    def sources(self, op: Op, owner: Value) -> list[OpOperand]:
        assert isinstance(owner, OpResult)
        return [terminator_of(region).operand_uses[owner.index] for region in op.regions]


class _OperandsToResults(DataFlow):
    """Operands flow to the results."""

    def sources(self, op: Op, owner: Value) -> list[OpOperand]:
        assert isinstance(owner, OpResult)
        return [op.operand_uses[owner.index]]


SINGLE_BODY = _SingleBody()
LOOP = _Loop()
BRANCHES = _Branches()
OPERANDS_TO_RESULTS = _OperandsToResults()
