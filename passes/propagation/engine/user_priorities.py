"""Priorities that users gave to the dimensions of shardings: who goes first.

    [{"x"}p0, {"y"}p1]   replicated={}

In the first round of priorities the second dimension is not split yet, and nothing else may be split
along y either: the sharding is `[{"x"}, {}] replicated={"y"}`. In the round of priority 1 it becomes
`[{"x", …}, {"y"}]`, with whatever came to the first dimension.
"""

from __future__ import annotations

from collections.abc import Iterator

from sdyopt.dialects.builtin import ModuleOp
from sdyopt.dialects.func import FuncOp
from sdyopt.dialects.sdy.attribute_names import SHARDING
from sdyopt.dialects.sdy.axes import AxisRef, mesh_order
from sdyopt.dialects.sdy.computation_ops import ManualComputationOp, NamedComputationOp
from sdyopt.dialects.sdy.interfaces import ShardingOwner
from sdyopt.dialects.sdy.mesh_op import find_mesh
from sdyopt.dialects.sdy.sharding import DimensionSharding, ShardingPerValue, TensorSharding
from sdyopt.dialects.sdy.value_shardings import edge_of
from sdyopt.ir.operation import Op
from sdyopt.ir.rewrite import Rewriter
from sdyopt.ir.value import BlockArgument, OpResult

from .propagation_driver import PropagationDriver
from .sharding_map import FunctionResult, Holder

_EMPTY = DimensionSharding((), True)


class UserPriorities:
    """What is to be put back in which round, after all but priority 0 was taken out of a module."""

    def __init__(self, module: ModuleOp, rewriter: Rewriter) -> None:
        self._module = module
        self._held_back: dict[int, list[tuple[Holder, TensorSharding]]] = {}
        for op in module.walk():
            self._start(op, rewriter)

    def __iter__(self) -> Iterator[int]:
        """The priorities there are apart from 0, in order."""
        return iter(sorted(self._held_back))

    def restore(self, priority: int, driver: PropagationDriver) -> None:
        """Lets the dimensions of a priority be sharded as their users said."""
        store = driver.store
        for holder, original in self._held_back[priority]:
            number = (
                store.result_number(holder) if isinstance(holder, FunctionResult) else store.number(holder)
            )
            current = store.shardings[number]
            if current is not None:
                driver.set(number, _with_priority(current, original, priority))

    # --- Taking out -------------------------------------------------------------------------------

    def _start(self, op: Op, rewriter: Rewriter) -> None:
        if isinstance(op, FuncOp):
            self._start_signature(op, rewriter)
        elif isinstance(op, ManualComputationOp | NamedComputationOp):
            self._start_list(op, "in_shardings", op.block.arguments, rewriter)
            self._start_list(op, "out_shardings", op.results, rewriter)
        elif isinstance(op, ShardingOwner):
            self._start_owner(op, rewriter)
        elif SHARDING in op.attributes:
            self._start_list(op, SHARDING, op.results, rewriter)

    def _start_signature(self, function: FuncOp, rewriter: Rewriter) -> None:
        for index, attributes in enumerate(function.argument_attributes):
            held = attributes.get(SHARDING)
            if isinstance(held, TensorSharding):
                argument = None if function.is_declaration else function.entry.arguments[index]
                rewriter.set_argument_attribute(function, index, SHARDING, self._first(held, argument))
        for index, attributes in enumerate(function.result_attributes):
            held = attributes.get(SHARDING)
            if isinstance(held, TensorSharding):
                first = self._first(held, FunctionResult(function, index))
                rewriter.set_result_attribute(function, index, SHARDING, first)

    def _start_owner(self, op: ShardingOwner, rewriter: Rewriter) -> None:
        for name, held in op.signature.attributes:
            if isinstance(held, TensorSharding):
                rewriter.set_attribute(op, name, self._first(held, op.result))

    def _start_list(
        self, op: Op, name: str, values: list[BlockArgument] | tuple[OpResult, ...], rewriter: Rewriter
    ) -> None:
        held = op.attribute(name)
        if not isinstance(held, ShardingPerValue) or not len(held):
            return
        # An operation without results may have the sharding of one device.
        places = values or (None,)
        new = [self._first(sharding, holder) for sharding, holder in zip(held, places, strict=True)]
        rewriter.set_attribute(op, name, ShardingPerValue(tuple(new)))

    def _first(self, sharding: TensorSharding, holder: Holder | None) -> TensorSharding:
        """A sharding as it is in the first round. What is on a data-flow edge has no say of its own."""
        if isinstance(holder, OpResult | BlockArgument) and edge_of(holder) is not None:
            return sharding
        for priority in dict.fromkeys(dim.priority for dim in sharding.dims if dim.priority):
            if holder is not None:
                self._held_back.setdefault(priority, []).append((holder, sharding))
        return self._only_priority_zero(sharding)

    def _only_priority_zero(self, sharding: TensorSharding) -> TensorSharding:
        held_back = [axis for dim in sharding.dims if dim.priority for axis in dim.axes]
        dims = tuple([_EMPTY if dim.priority else _without_priority(dim) for dim in sharding.dims])
        mesh = find_mesh(sharding.mesh_or_ref, self._module)
        assert mesh is not None
        replicated = [*sharding.replicated_axes, *held_back]
        replicated.sort(key=lambda axis: mesh_order(axis, mesh))
        return TensorSharding(sharding.mesh_or_ref, dims, tuple(replicated), sharding.unreduced_axes)


def _with_priority(current: TensorSharding, original: TensorSharding, priority: int) -> TensorSharding:
    dims = list(current.dims)
    free: set[AxisRef] = set()
    for index, dim in enumerate(original.dims):
        if (dim.priority or 0) == priority:
            dims[index] = _without_priority(dim)
            free.update(dim.axes)
    replicated = tuple([axis for axis in current.replicated_axes if axis not in free])
    return TensorSharding(current.mesh_or_ref, tuple(dims), replicated, current.unreduced_axes)


def _without_priority(dim: DimensionSharding) -> DimensionSharding:
    return dim if dim.priority is None else DimensionSharding(dim.axes, dim.is_closed)
