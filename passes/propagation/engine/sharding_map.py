"""The shardings of a module during propagation; `write` stores them in attributes.

A slot stores the sharding of one value, of one result in a function signature, or of all targets of a
data-flow edge. Slots are created at their first use.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence

from sdyopt.dialects.sdy.attribute_names import SHARDING
from sdyopt.dialects.sdy.computation_ops import NamedComputationOp
from sdyopt.dialects.sdy.interfaces import ShardingOwner
from sdyopt.dialects.sdy.sharding import ShardingPerValue, TensorSharding, fully_replicated
from sdyopt.dialects.sdy.value_shardings import (
    owning_op,
    rank_of,
    shardable_value,
    sharding_of,
    sharding_of_result,
)
from sdyopt.ir.attribute import DictAttr
from sdyopt.ir.operation import Op
from sdyopt.ir.rewrite import Rewriter
from sdyopt.ir.value import BlockArgument, OpResult, Value
from sdyopt.record.recorder import FunctionResult, RunRecorder, Subject

from ...common.support.set_sharding import set_sharding

# The slot of all values that cannot have a sharding.
UNSHARDABLE = 0
# The end of a list of readers.
_END = -1


class ShardingMap:
    """`shardings[slot]` is the sharding of `values[slot]`; both are None in slot `UNSHARDABLE`.

    `slots` has the slot of each value that `slot` was called for.
    """

    def __init__(self) -> None:
        self.shardings: list[TensorSharding | None] = [None]
        self.values: list[Subject | None] = [None]
        # The readers of a slot are a linked list: the number of the first entry and, per entry, of the next.
        # Arrays take a fraction of the memory of lists.
        self._first_reader = array("i", [_END])
        self._next_reader = array("i")
        self._readers = array("i")
        self.slots: dict[Value, int] = {}
        # The slots of values whose shardings are in one attribute with those of others.
        self._with_siblings: set[int] = set()
        self._result_slots: dict[FunctionResult, int] = {}
        self._changed_slots: dict[int, None] = {}

    def slot(self, value: Value) -> int:
        """The slot of a value; a new one if needed."""
        slot = self.slots.get(value)
        if slot is None:
            # Nearly all values are results of operations without data-flow edges.
            if isinstance(value, OpResult) and value.op.data_flow is None:
                op = value.op
                has_sharding = op.attributes.entries or isinstance(op, ShardingOwner)
                slot = self._add(value, sharding_of_result(value) if has_sharding else None)
                if len(op.results) > 1:
                    self._with_siblings.add(slot)
            else:
                shardable = shardable_value(value)
                if shardable is None:
                    slot = UNSHARDABLE
                elif shardable is value:
                    slot = self._add(shardable, sharding_of(shardable))
                    if len(_siblings(shardable)) > 1:
                        self._with_siblings.add(slot)
                else:
                    slot = self.slot(shardable)
            self.slots[value] = slot
        return slot

    def result_slot(self, result: FunctionResult) -> int:
        """The slot of a result of a function signature; a new one if needed."""
        slot = self._result_slots.get(result)
        if slot is None:
            sharding = result.function.result_attributes[result.result_index].get(SHARDING)
            assert sharding is None or isinstance(sharding, TensorSharding)
            slot = self._result_slots[result] = self._add(result, sharding)
        return slot

    def _add(self, value: Subject, sharding: TensorSharding | None) -> int:
        self.shardings.append(sharding)
        self.values.append(value)
        self._first_reader.append(_END)
        return len(self.values) - 1

    def add_reader(self, reader: int, slots: Iterable[int]) -> None:
        """Adds an operation, by its index in program order, to the readers of the shardings in some slots."""
        first, following, readers = self._first_reader, self._next_reader, self._readers
        for slot in slots:
            following.append(first[slot])
            first[slot] = len(readers)
            readers.append(reader)

    def readers(self, slot: int) -> list[int]:
        """The indices of the operations that read the sharding in a slot."""
        found = []
        entry = self._first_reader[slot]
        while entry != _END:
            found.append(self._readers[entry])
            entry = self._next_reader[entry]
        return found

    def set(self, slot: int, sharding: TensorSharding) -> list[int]:
        """Sets a sharding. Returns all slots that changed.

        An attribute has the shardings of all results of an operation, or of none. So if one of them gets its
        first sharding, the others get fully open ones. The same holds for arguments of a named computation.
        """
        if slot == UNSHARDABLE:
            return []
        old = self.shardings[slot]
        self.shardings[slot] = sharding
        self._changed_slots[slot] = None
        if old is not None or slot not in self._with_siblings:
            return [slot]
        return [slot, *self._set_siblings_open(slot, sharding)]

    def _set_siblings_open(self, slot: int, sharding: TensorSharding) -> list[int]:
        changed = []
        for sibling in _siblings(self.values[slot]):
            other = self.slot(sibling)
            if self.values[other] is sibling and self.shardings[other] is None:
                self.shardings[other] = fully_replicated(
                    rank_of(sibling.type), sharding.mesh_or_ref, is_closed=False
                )
                self._changed_slots[other] = None
                changed.append(other)
        return changed

    # --- Writing ----------------------------------------------------------------------------------

    def write(self, rewriter: Rewriter) -> None:
        """Sets the attributes of operations to the shardings that have changed since the last call."""
        dictionaries: dict[tuple[DictAttr, TensorSharding], DictAttr] = {}
        for slot in self._changed_slots:
            value, sharding = self.values[slot], self.shardings[slot]
            assert sharding is not None
            if isinstance(value, FunctionResult):
                rewriter.set_result_attribute(value.function, value.result_index, SHARDING, sharding)
            elif isinstance(value, OpResult) and _has_single_sharding(value.op):
                # Nearly all values; they have few distinct dictionaries.
                key = value.op.attributes, sharding
                new = dictionaries.get(key)
                if new is None:
                    new = key[0].with_entry(SHARDING, ShardingPerValue((sharding,)))
                    dictionaries[key] = new
                rewriter.set_attributes(value.op, new)
            elif value is not None:
                set_sharding(value, sharding, rewriter)
        self._changed_slots.clear()


class RecordedShardingMap(ShardingMap):
    """A sharding map that reports its entries and their changes."""

    def __init__(self, recorder: RunRecorder) -> None:
        super().__init__()
        self._recorder = recorder

    def _add(self, value: Subject, sharding: TensorSharding | None) -> int:
        slot = super()._add(value, sharding)
        self._recorder.added(slot, value, sharding)
        return slot

    def set(self, slot: int, sharding: TensorSharding) -> list[int]:
        old = None if slot == UNSHARDABLE else self.shardings[slot]
        changed = super().set(slot, sharding)
        for each in changed:
            new = self.shardings[each]
            assert new is not None
            self._recorder.changed(each, old if each == slot else None, new)
        return changed


def _has_single_sharding(op: Op) -> bool:
    return len(op.results) == 1 and not isinstance(op, ShardingOwner)


def _siblings(value: Subject | None) -> Sequence[OpResult | BlockArgument]:
    """The values whose shardings are in the same attribute as that of a value."""
    if isinstance(value, OpResult):
        return value.op.results
    if isinstance(value, BlockArgument):
        op = owning_op(value)
        if isinstance(op, NamedComputationOp):
            return value.owner.arguments
    return ()
