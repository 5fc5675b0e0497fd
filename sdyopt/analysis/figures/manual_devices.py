"""The devices of a shard_map: how many, and along which axes they have other values, as JAX types them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Set

from sdyopt.analysis.figures.collective_traffic import COLLECTIVES, traffic_of
from sdyopt.analysis.figures.execution_counts import ExecutionCounts
from sdyopt.analysis.figures.figures import axis_names
from sdyopt.analysis.figures.local_shapes import LocalShapes
from sdyopt.mlir.dialects.func import CallOp, FuncOp
from sdyopt.mlir.dialects.sdy.mesh import Mesh
from sdyopt.mlir.dialects.sdy.ops import ManualComputationOp, ShardingConstraintOp
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
from sdyopt.mlir.ir.value import BlockArgument, OpOperand, OpResult, Value

Axes = frozenset[str]

# After these, the devices of a group have the same.
_SAME = (AllGatherOp, AllReduceOp, CollectiveBroadcastOp, CrossReplicaSumOp)
_NONE: Axes = frozenset()
# So many operations may pass a value on.
_MAX_PASSED = 64


class Varying:
    """The axes that the values in the body of a manual computation vary along.

    What is not known, such as the result of a call, varies along all axes. `residuals` are the axes of values
    in other manual computations. The axes of a value only become more, and its users get those that it gets.
    """

    def __init__(
        self,
        computation: ManualComputationOp,
        mesh: Mesh,
        residuals: Callable[[Value], Axes | None] | None = None,
    ) -> None:
        self._mesh = mesh
        self._all = frozenset(axis.name for axis in mesh.axes)
        self._axes: dict[Value, Axes] = {}
        self._changed: list[Value] = []
        self._read(computation.block)
        for argument, sharding in zip(computation.block.arguments, computation.in_shardings, strict=True):
            residual = outside_of(argument)
            source = None if residual is None or residuals is None else residuals(residual)
            axes = frozenset(axis.name for axis in sharding.axis_refs)
            self._add((argument,), axes if source is None else axes & source)
        while self._changed:
            value = self._changed.pop()
            for use in value.uses:
                self._pass_on(use, self._axes[value])

    def axes(self, value: Value) -> Axes:
        """The axes that a value varies along."""
        return self._axes.get(value, self._all)

    def joined(self, values: Iterable[Value]) -> Axes:
        """The axes that one of several values varies along."""
        return _NONE.union(*map(self.axes, values))

    def _add(self, values: Iterable[Value], axes: Axes) -> None:
        """Adds to the axes of values in the body."""
        for value in values:
            before = self.axes(value)
            if not axes <= before:
                self._axes[value] = before | axes
                self._changed.append(value)

    def _read(self, block: Block) -> None:
        """Adds what operations have of themselves."""
        self._axes |= dict.fromkeys(block.arguments, _NONE)
        for op in block.ops:
            self._axes |= dict.fromkeys(op.results, _NONE)
            if isinstance(op, WhileOp | ConditionalOp):
                for region in op.regions:
                    self._read(region.blocks[0])
            elif isinstance(op, ProcessIdOp | CallOp | ManualComputationOp):
                self._add(op.results, self._all)
            elif isinstance(op, COLLECTIVES):
                along = self._along(op)
                if along is None or not isinstance(op, _SAME):
                    self._add(op.results, self._all if along is None else along)

    def _along(self, op: Op) -> Axes | None:
        """The axes of a collective; None if it is not known along which devices it is."""
        along = axis_names(traffic_of(op, self._mesh).axes)
        return frozenset(along) if along and self._all.issuperset(along) else None

    def _pass_on(self, use: OpOperand, axes: Axes) -> None:
        """Adds the axes of an operand to those of what depends on it."""
        op, parent = use.owner, use.owner.parent_op
        if op.next is None and isinstance(parent, WhileOp):
            # If devices do not agree on the number of runs, all that the loop carries differs.
            is_of_body = op.parent_region is parent.body
            self._add(_carried(parent, [use.index] if is_of_body else range(len(parent.results))), axes)
        elif op.next is None and isinstance(parent, ConditionalOp):
            self._add((parent.results[use.index],), axes)
        elif isinstance(op, WhileOp):
            self._add(_carried(op, [use.index]), axes)
        elif isinstance(op, OptimizationBarrierOp):
            self._add((op.results[use.index],), axes)
        else:
            self._add(op.results, axes.difference(self._along(op) or ()) if isinstance(op, _SAME) else axes)


def _carried(op: WhileOp, indices: Iterable[int]) -> Iterator[Value]:
    """Some of the values that a loop carries, in its regions and after it."""
    for index in indices:
        yield from (region.blocks[0].arguments[index] for region in op.regions)
        yield op.results[index]


class ManualDevices:
    """Products of the sizes of the manual axes around operations and around the calls of their functions."""

    def __init__(self, counts: ExecutionCounts, shapes: LocalShapes) -> None:
        self._counts = counts
        self._shapes = shapes
        self._of_function: dict[FuncOp, int | None] = {}
        self._varying: dict[ManualComputationOp, Varying | None] = {}

    def devices(self, op: Op, values: Iterable[Value] | None = None) -> int | None:
        """The number of devices along all manual axes around an operation; None if calls differ in it.

        Devices that have the same of all `values` count once, if these are given.
        """
        devices = 1
        for parent in op.ancestors():
            if isinstance(parent, ManualComputationOp):
                varying = None if values is None else self._varying_in(parent)
                axes = None if varying is None else varying.joined(values or ())
                devices *= self._along_axes(parent, axes)
            elif isinstance(parent, FuncOp):
                outside = self._function(parent)
                return None if outside is None else devices * outside
        return devices

    def _varying_in(self, computation: ManualComputationOp) -> Varying | None:
        if computation not in self._varying:
            mesh = mesh_of_manual(computation, self._shapes)
            self._varying[computation] = None if mesh is None else Varying(computation, mesh, self._axes_of)
        return self._varying[computation]

    def _axes_of(self, value: Value) -> frozenset[str] | None:
        """The axes that a value in a manual computation varies along."""
        parent = value.op.parent_op if isinstance(value, OpResult) else value.owner
        varying = self._varying_in(parent) if isinstance(parent, ManualComputationOp) else None
        return None if varying is None else varying.axes(value)

    def _along_axes(self, computation: ManualComputationOp, axes: Set[str] | None) -> int:
        mesh = mesh_of_manual(computation, self._shapes)
        devices = 1
        for name in computation.manual_axes:
            if axes is not None and name not in axes:
                continue
            devices *= mesh.axis_size(name) if mesh is not None and mesh.has_axis(name) else 1
        return devices

    def _function(self, function: FuncOp) -> int | None:
        if function not in self._of_function:
            self._of_function[function] = None  # for recursion
            sites = self._counts.call_sites(function)
            numbers = {self.devices(call) for call in sites} | (
                {1} if self._counts.is_entry(function) else set()
            )
            self._of_function[function] = numbers.pop() if len(numbers) == 1 else None if numbers else 1
        return self._of_function[function]


def mesh_of_manual(computation: ManualComputationOp, shapes: LocalShapes) -> Mesh | None:
    """The mesh of a manual computation: that of its first sharding on a mesh that is not empty."""
    for sharding in (*computation.in_shardings, *computation.out_shardings):
        mesh = shapes.mesh(sharding.mesh_or_ref)
        if mesh is not None and not mesh.is_empty:
            return mesh
    return None


def outside_of(argument: BlockArgument) -> Value | None:
    """The value outside that an argument is on each device: a loop does not change it, or it is a residual.

    Residuals are of a backward pass, from another manual computation.
    """
    op = argument.owner
    if isinstance(op, WhileOp):
        outside = _unchanged(argument)
        return None if outside is argument else outside
    if not isinstance(op, ManualComputationOp):
        return None
    source = _unchanged(op.operands[argument.index])
    if not isinstance(source, OpResult) or not isinstance(source.op, ManualComputationOp):
        return None
    is_same = source.op.out_shardings.shardings[source.index] == op.in_shardings.shardings[argument.index]
    last = source.op.block.last
    return last.operands[source.index] if is_same and last is not None else None


def _unchanged(value: Value) -> Value:
    """The value that loops, optimization barriers and sharding constraints pass on as it is."""
    for _ in range(_MAX_PASSED):
        op = value.owner
        if isinstance(op, OptimizationBarrierOp | ShardingConstraintOp) and isinstance(value, OpResult):
            value = op.operands[value.index]
        elif isinstance(op, WhileOp) and isinstance(value, OpResult | BlockArgument):
            body = op.regions[1].blocks[0]
            if body.last is None or body.last.operands[value.index] is not body.arguments[value.index]:
                break
            value = op.operands[value.index]
        else:
            break
    return value
