"""sdy-user-priority-propagate: propagate shardings in order of user priority.

    %a is sharded [{"x"}p1, {}], %b is sharded [{}, {"x"}]

Dimension shardings have priorities `p0` (the highest, and the default), `p1`, `p2` and so on. For each of
these, from `p0` on, `sdy-op-priority-propagate` runs without the dimension shardings of lower priority. In a
sum of %a and %b, axis x thus shards the second dimension of the result, although %a is the first operand.

With `module-dump-directory`, the module is written to that directory after each priority but the last, as
`00.propagation_after_user_priority_0.mlir` and so on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import compress
from operator import is_not

from sdyopt.mlir.dialects.builtin import ModuleOp
from sdyopt.mlir.dialects.func import FuncOp
from sdyopt.mlir.dialects.sdy.axes import AxisRef, mesh_order
from sdyopt.mlir.dialects.sdy.mesh import SHARDING
from sdyopt.mlir.dialects.sdy.mesh_op import mesh_of
from sdyopt.mlir.dialects.sdy.ops import ManualComputationOp, NamedComputationOp, ShardingGroupOp
from sdyopt.mlir.dialects.sdy.rule import OpShardingRule
from sdyopt.mlir.dialects.sdy.sharding import (
    DimensionSharding,
    ShardingOwner,
    ShardingPerValue,
    TensorSharding,
)
from sdyopt.mlir.dialects.sdy.value_shardings import IN_SHARDINGS, argument_owners, edge_of
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.value import BlockArgument, OpResult, Value
from sdyopt.mlir.registry import register
from sdyopt.shardy.record import FunctionResult, Subject
from sdyopt.shardy.repropagation import Shardings

from ..common.support.save_module import SaveModule
from .basic_propagate import Propagation
from .engine.propagation_driver import EndlessPropagationError, PropagationDriver
from .op_priority_propagate import OpPriorityPropagation


@register("sdy-user-priority-propagate")
class UserPriorityPropagation(OpPriorityPropagation):
    # The number at the start of the names of dumped files. Not an option: the pipeline sets it.
    dump_index: int = 0

    @property
    def writes_files(self) -> bool:
        return bool(self.module_dump_directory)

    def propagate(self, propagation: Propagation) -> None:
        priorities = UserPriorities(propagation.module, propagation.rewriter)
        super().propagate(propagation)
        last_priority = 0
        for priority in priorities:
            self._dump(propagation, last_priority)
            priorities.restore(priority, propagation.driver)
            super().propagate(propagation)
            last_priority = priority

    def repropagation(self, module: ModuleOp) -> DriverRepropagation | None:
        """Propagates a program so that it can propagate again; None if it has user priorities or groups."""
        rewriter = Rewriter()
        propagation = Propagation(module, rewriter, self.conservative_propagation)
        if any(UserPriorities(module, rewriter)) or any(module.nested(ShardingGroupOp)):
            return None
        return DriverRepropagation(propagation.driver, partial(super().propagate, propagation))

    def _dump(self, propagation: Propagation, priority: int) -> None:
        if self.module_dump_directory:
            propagation.write(with_rules=True)
            file_name = f"propagation_after_user_priority_{priority}"
            save_module = SaveModule(
                directory=self.module_dump_directory, file_name=file_name, index=self.dump_index
            )
            save_module.run(propagation.module)


_EMPTY = DimensionSharding((), True)
# Operations that store shardings in other attributes than `sdy.sharding`.
_WITH_OWN_ATTRIBUTES = (FuncOp, ManualComputationOp, NamedComputationOp, ShardingOwner)


class UserPriorities:
    """Removes dimension shardings with a priority other than 0, and restores them one priority at a time.

        [{"x", ?}p0, {"y"}p1]

    While only priority 0 is propagated, dimension shardings with other priorities are removed, and their axes
    are replicated axes, so that no other dimension uses them: `[{"x", ?}, {}] replicated={"y"}`. Before
    priority 1 is propagated, its dimension shardings are restored: `[{"x", "z", ?}, {"y"}]`, if "z" has
    propagated to the first dimension.
    """

    def __init__(self, module: ModuleOp, rewriter: Rewriter) -> None:
        self._deferred: dict[int, list[tuple[Subject, TensorSharding]]] = {}
        for op in module.walk():
            if isinstance(op, _WITH_OWN_ATTRIBUTES):
                self._defer(op, rewriter)
                continue
            if op.attributes.entries and SHARDING in op.attributes:
                self._defer_in_list(op, SHARDING, op.results, rewriter)
            if op.data_flow is not None and op.attribute(IN_SHARDINGS) is not None:
                self._defer_in_list(op, IN_SHARDINGS, argument_owners(op), rewriter)

    def __iter__(self) -> Iterator[int]:
        """The priorities other than 0, in ascending order."""
        return iter(sorted(self._deferred))

    def restore(self, priority: int, driver: PropagationDriver) -> None:
        """Restores the dimension shardings of a priority."""
        driver.start_priority(priority)
        sharding_map = driver.sharding_map
        for value, original in self._deferred[priority]:
            if isinstance(value, FunctionResult):
                slot = sharding_map.result_slot(value)
            else:
                slot = sharding_map.slot(value)
            current = sharding_map.shardings[slot]
            if current is not None:
                driver.set_sharding(slot, _restored(current, original, priority))

    # --- Removing ---------------------------------------------------------------------------------

    def _defer(self, op: Op, rewriter: Rewriter) -> None:
        if isinstance(op, FuncOp):
            self._defer_in_signature(op, rewriter)
        elif isinstance(op, ManualComputationOp | NamedComputationOp):
            self._defer_in_list(op, "in_shardings", op.block.arguments, rewriter)
            self._defer_in_list(op, "out_shardings", op.results, rewriter)
        elif isinstance(op, ShardingOwner):
            self._defer_in_owner(op, rewriter)

    def _defer_in_signature(self, function: FuncOp, rewriter: Rewriter) -> None:
        for index, attributes in enumerate(function.argument_attributes):
            sharding = attributes.get(SHARDING)
            if isinstance(sharding, TensorSharding):
                argument = None if function.is_declaration else function.entry.arguments[index]
                rewriter.set_argument_attribute(
                    function, index, SHARDING, self._without_deferred(sharding, argument, function)
                )
        for index, attributes in enumerate(function.result_attributes):
            sharding = attributes.get(SHARDING)
            if isinstance(sharding, TensorSharding):
                result = FunctionResult(function, index)
                rewriter.set_result_attribute(
                    function, index, SHARDING, self._without_deferred(sharding, result, function)
                )

    def _defer_in_owner(self, op: ShardingOwner, rewriter: Rewriter) -> None:
        for name, sharding in op.signature.attributes:
            if isinstance(sharding, TensorSharding):
                rewriter.set_attribute(op, name, self._without_deferred(sharding, op.result, op))

    def _defer_in_list(
        self, op: Op, name: str, values: list[BlockArgument] | tuple[OpResult, ...], rewriter: Rewriter
    ) -> None:
        shardings = op.attribute(name)
        if not isinstance(shardings, ShardingPerValue) or not len(shardings):
            return
        # An operation without results may have one sharding, with a maximal mesh.
        pairs = zip(shardings, values or (None,), strict=True)
        new = [self._without_deferred(sharding, value, op) for sharding, value in pairs]
        rewriter.set_attribute(op, name, ShardingPerValue(tuple(new)))

    def _without_deferred(self, sharding: TensorSharding, value: Subject | None, op: Op) -> TensorSharding:
        """The sharding in an attribute of `op` while only priority 0 is propagated.

        Targets of a data-flow edge keep theirs, because propagation uses that of the edge operation.
        """
        if isinstance(value, OpResult | BlockArgument) and edge_of(value) is not None:
            return sharding
        for priority in dict.fromkeys(dim.priority for dim in sharding.dims if dim.priority):
            if value is not None:
                self._deferred.setdefault(priority, []).append((value, sharding))
        return self._only_priority_zero(sharding, op)

    def _only_priority_zero(self, sharding: TensorSharding, op: Op) -> TensorSharding:
        deferred_axes = [axis for dim in sharding.dims if dim.priority for axis in dim.axes]
        dims = tuple([_EMPTY if dim.priority else _without_priority(dim) for dim in sharding.dims])
        mesh = mesh_of(sharding, op)
        assert mesh is not None
        replicated = [*sharding.replicated_axes, *deferred_axes]
        replicated.sort(key=lambda axis: mesh_order(axis, mesh))
        return sharding.with_dims(dims).with_replicated_axes(tuple(replicated))


def _restored(current: TensorSharding, original: TensorSharding, priority: int) -> TensorSharding:
    """The current sharding, with the dimension shardings that have this priority in the original one."""
    dims = list(current.dims)
    restored_axes: set[AxisRef] = set()
    for index, dim in enumerate(original.dims):
        if dim.priority == priority:
            dims[index] = _without_priority(dim)
            restored_axes.update(dim.axes)
    replicated = tuple([axis for axis in current.replicated_axes if axis not in restored_axes])
    return current.with_dims(dims).with_replicated_axes(replicated)


def _without_priority(dim: DimensionSharding) -> DimensionSharding:
    return dim if dim.priority is None else DimensionSharding(dim.axes, dim.is_closed)


# A search asks for no more shardings.
_MOST_KNOWN = 500


class DriverRepropagation:
    """The propagation of a driver that `run` has run before; `run` runs all rounds.

    Sites, rules and the updates of steps are kept, so that another propagation takes a quarter of the time of
    the first. The result is the same: the rounds start with all operations dirty, as in the first one.
    """

    def __init__(self, driver: PropagationDriver, run: Callable[[], None]) -> None:
        self._driver = driver
        self._map = driver.sharding_map
        self._run = run
        run()
        # All values have slots from now on, so that the slots of each propagation are the same.
        for op in driver.ops:
            for value in (*op.operands, *op.results) if op.parent is not None else ():
                self._map.slot(value)
        self._first = list(self._map.shardings)
        # By annotations, the slots that differ from the first propagation: a trial asks again for what its
        # estimate has asked for. None if propagation does not end.
        self._known: dict[frozenset[object], dict[int, TensorSharding | None] | None] = {frozenset(): {}}

    def slot(self, subject: Value | FunctionResult) -> int:
        if isinstance(subject, FunctionResult):
            return self._map.slot_of(subject) or 0
        return self._map.slot(subject)

    def annotation(self, subject: Subject) -> TensorSharding | None:
        slot = self._map.slot_of(subject)
        return None if slot is None else self._map.written(slot)

    def annotations(self) -> Iterator[tuple[Subject, TensorSharding]]:
        for slot, sharding in enumerate(self._map.all_written()):
            if sharding is not None:
                yield self._map.subject(slot), sharding

    def rule(self, op: Op) -> OpShardingRule | None:
        return self._driver.rule(op)

    def shardings(self, annotations: Mapping[Subject, TensorSharding | None]) -> Shardings | None:
        slots = {self._map.slot_of(subject): sharding for subject, sharding in annotations.items()}
        if None in slots or 0 in slots:
            return None
        key = frozenset(slots.items())
        if key not in self._known:
            if len(self._known) > _MOST_KNOWN:
                self._known.clear()
            self._known[key] = self._different(slots)
        different = self._known[key]
        if different is None:
            return None
        shardings = list(self._first)
        for slot, sharding in different.items():
            shardings[slot] = sharding
        return shardings

    def _different(
        self, slots: Mapping[int | None, TensorSharding | None]
    ) -> dict[int, TensorSharding | None] | None:
        start = self._map.all_written()
        for slot, sharding in slots.items():
            assert slot is not None
            start[slot] = sharding
        self._driver.restart(start)
        try:
            self._run()
        except EndlessPropagationError:
            return None
        before, after = self._first, self._map.shardings
        return {slot: after[slot] for slot in compress(range(len(after)), map(is_not, before, after))}

    def copy(self, shardings: Shardings, values: dict[Value, Value]) -> ModuleOp | None:
        pairs = zip(self._map.all_written(), shardings, strict=True)
        if any(after is None and before is not None for before, after in pairs):
            return None
        return self._driver.copy(shardings, values)
