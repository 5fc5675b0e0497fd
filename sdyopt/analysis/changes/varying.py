"""The axes of a shard_map along which devices have different values, as JAX types them."""

from __future__ import annotations

from collections.abc import Sequence

from sdyopt.analysis.figures.collective_traffic import COLLECTIVES, traffic_of
from sdyopt.analysis.figures.figures import axis_names
from sdyopt.mlir.dialects.func import CallOp
from sdyopt.mlir.dialects.sdy.mesh import Mesh
from sdyopt.mlir.dialects.sdy.ops import ManualComputationOp
from sdyopt.mlir.dialects.stablehlo.collectives import (
    AllGatherOp,
    AllReduceOp,
    CollectiveBroadcastOp,
    CrossReplicaSumOp,
)
from sdyopt.mlir.dialects.stablehlo.control_flow import ConditionalOp, OptimizationBarrierOp, WhileOp
from sdyopt.mlir.dialects.stablehlo.nullary import ProcessIdOp
from sdyopt.mlir.ir.block import Block
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.value import Value

Axes = frozenset[str]

# After these, the devices of a group have the same.
_SAME = (AllGatherOp, AllReduceOp, CollectiveBroadcastOp, CrossReplicaSumOp)
_NONE: Axes = frozenset()


class Varying:
    """The axes that the values in the body of a manual computation vary along.

    What is not known, such as the result of a call, varies along all axes.
    """

    def __init__(self, computation: ManualComputationOp, mesh: Mesh) -> None:
        self._mesh = mesh
        self._all = frozenset(axis.name for axis in mesh.axes)
        self._axes: dict[Value, Axes] = {}
        for argument, sharding in zip(computation.block.arguments, computation.in_shardings, strict=True):
            self._axes[argument] = frozenset(axis.name for axis in sharding.axis_refs)
        self._read(computation.block)

    def axes(self, value: Value) -> Axes:
        """The axes that a value varies along."""
        return self._axes.get(value, self._all)

    def _joined(self, values: Sequence[Value]) -> Axes:
        return _NONE.union(*map(self.axes, values))

    def _read(self, block: Block) -> None:
        for op in block.ops:
            if isinstance(op, WhileOp):
                self._read_loop(op)
            elif isinstance(op, ConditionalOp):
                self._read_branches(op)
            elif isinstance(op, OptimizationBarrierOp):
                self._axes |= {
                    result: self.axes(operand)
                    for result, operand in zip(op.results, op.operands, strict=True)
                }
            else:
                self._axes |= dict.fromkeys(op.results, self._of(op))

    def _of(self, op: Op) -> Axes:
        if isinstance(op, ProcessIdOp | CallOp | ManualComputationOp):
            return self._all
        axes = self._joined(op.operands)
        if not isinstance(op, COLLECTIVES):
            return axes
        along = axis_names(traffic_of(op, self._mesh).axes)
        if not along or not self._all.issuperset(along):
            return self._all
        return axes.difference(along) if isinstance(op, _SAME) else axes.union(along)

    def _read_loop(self, op: WhileOp) -> None:
        """Values that a loop carries vary along more axes after each pass, until they do not.

        A loop in a loop begins with what it had before: axes only become more, and it is read once if they
        do not.
        """
        arguments = op.body.blocks[0].arguments
        carried = [
            self.axes(value) | self._axes.get(argument, _NONE)
            for value, argument in zip(op.operands, arguments, strict=True)
        ]
        while True:
            for region in op.regions:
                for argument, axes in zip(region.blocks[0].arguments, carried, strict=True):
                    self._axes[argument] = axes
                self._read(region.blocks[0])
            (condition,), body = (region.blocks[0].last for region in op.regions[:1]), op.body.blocks[0].last
            if condition is None or body is None:
                break
            ends = self._joined(condition.operands)
            after = [
                axes | self.axes(value) | ends for axes, value in zip(carried, body.operands, strict=True)
            ]
            if after == carried:
                break
            carried = after
        self._axes |= dict(zip(op.results, carried, strict=True))

    def _read_branches(self, op: ConditionalOp) -> None:
        chosen = self._joined(op.operands)
        results = [chosen] * len(op.results)
        for region in op.regions:
            self._read(region.blocks[0])
            if (last := region.blocks[0].last) is not None:
                results = [
                    axes | self.axes(value) for axes, value in zip(results, last.operands, strict=True)
                ]
        self._axes |= dict(zip(op.results, results, strict=True))
