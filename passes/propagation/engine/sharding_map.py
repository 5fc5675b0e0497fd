"""The shardings of a module during propagation, and groups of values that must have the same sharding.

A slot stores the sharding of one value, of one result in a function signature, or of all targets of a
data-flow edge. Nearly all values are the only result of an operation without data-flow edges, and have its
index as their slot, which takes no memory. The other slots follow; they are created at their first use.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping, Sequence
from copy import copy

from sdyopt.base.releases import Behavior
from sdyopt.mlir.dialects.builtin import ModuleOp
from sdyopt.mlir.dialects.func import FuncOp
from sdyopt.mlir.dialects.sdy.mesh import SHARDING, SHARDING_RULE
from sdyopt.mlir.dialects.sdy.ops import NamedComputationOp, ShardingConstraintOp, ShardingGroupOp
from sdyopt.mlir.dialects.sdy.rule import OpShardingRule
from sdyopt.mlir.dialects.sdy.sharding import (
    ShardingOwner,
    ShardingPerValue,
    TensorSharding,
    fully_replicated,
)
from sdyopt.mlir.dialects.sdy.sharding_edits import set_sharding
from sdyopt.mlir.dialects.sdy.value_shardings import (
    argument_owners,
    owning_op,
    rank_of,
    shardable_value,
    sharding_in,
    sharding_of,
    sharding_of_result,
)
from sdyopt.mlir.ir.attribute import DictAttr, dictionary
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.traits import FUNCTION
from sdyopt.mlir.ir.value import BlockArgument, OpResult, Value
from sdyopt.shardy.record import FunctionResult, Means, RunRecorder, Subject, record_copy

# The slot of all values that cannot have a sharding. It is the index of the module, which has no results.
UNSHARDABLE = 0
# The end of a list of readers.
_END = -1


class ShardingMap:
    """`shardings[slot]` is the sharding of `subject(slot)`; it is None in slot `UNSHARDABLE`.

    `ops` are the module and the operations in it, each at the index that is its `order`.
    """

    def __init__(self, ops: Sequence[Op]) -> None:
        self._ops = ops
        self.shardings = [_sharding_of_only_result(op) for op in ops]
        # What has the slots that follow those of operations.
        self._others: list[Subject] = []
        # The readers of a slot are a linked list: the number of the first entry and, per entry, of the next.
        # Arrays take a fraction of the memory of lists.
        self._first_reader = array("i", [_END]) * len(ops)
        self._next_reader = array("i")
        self._readers = array("i")
        # The slots of the other values that `slot` was called for.
        self.slots: dict[Value, int] = {}
        # The slots of values whose shardings are in one attribute with those of others.
        self._with_siblings: set[int] = set()
        self._result_slots: dict[FunctionResult, int] = {}
        # For each slot, whether it has changed since the last `write`.
        self._is_changed = bytearray(len(ops))
        self._written: list[TensorSharding | None] = []

    def slot(self, value: Value) -> int:
        """The slot of a value; a new one if needed."""
        if isinstance(value, OpResult):
            op = value.op
            if len(op.results) == 1 and op.data_flow is None:
                return op.order
        slot = self.slots.get(value)
        if slot is None:
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
            sharding = sharding_in(result.function.result_attributes[result.result_index])
            slot = self._result_slots[result] = self._add(result, sharding)
        return slot

    def subject(self, slot: int) -> Subject:
        """The owner of the sharding in a slot other than `UNSHARDABLE`."""
        count = len(self._ops)
        return self._ops[slot].results[0] if slot < count else self._others[slot - count]

    def _add(self, subject: Subject, sharding: TensorSharding | None) -> int:
        self.shardings.append(sharding)
        self._others.append(subject)
        self._first_reader.append(_END)
        self._is_changed.append(False)
        return len(self.shardings) - 1

    def add_reader(self, reader: int, slots: Iterable[int]) -> None:
        """Adds an operation, by its index in program order, to the readers of the shardings in some slots."""
        first, following, readers = self._first_reader, self._next_reader, self._readers
        for slot in slots:
            following.append(first[slot])
            first[slot] = len(readers)
            readers.append(reader)

    def readers(self, slot: int) -> list[int]:
        """The indices of the operations that read the sharding in a slot."""
        readers = []
        entry = self._first_reader[slot]
        while entry != _END:
            readers.append(self._readers[entry])
            entry = self._next_reader[entry]
        return readers

    def set(self, slot: int, sharding: TensorSharding) -> list[int]:
        """Sets a sharding. Returns all slots that changed.

        An attribute has the shardings of all results of an operation, or of none. So if one of them gets its
        first sharding, the others get fully open ones. The same holds for arguments of a named computation.
        """
        if slot == UNSHARDABLE:
            return []
        old = self.shardings[slot]
        self.shardings[slot] = sharding
        self._is_changed[slot] = True
        if old is not None or slot not in self._with_siblings:
            return [slot]
        return [slot, *self._set_siblings_open(slot, sharding)]

    def is_alone(self, slot: int) -> bool:
        """Whether the attribute of a sharding has no other."""
        return slot not in self._with_siblings

    def _set_siblings_open(self, slot: int, sharding: TensorSharding) -> list[int]:
        changed = []
        for sibling in _siblings(self.subject(slot)):
            other = self.slot(sibling)
            if other == UNSHARDABLE or self.subject(other) is not sibling:
                continue
            if self.shardings[other] is None:
                self.shardings[other] = fully_replicated(
                    rank_of(sibling.type), sharding.mesh_or_ref, is_closed=False
                )
                self._is_changed[other] = True
                changed.append(other)
        return changed

    # --- Other shardings ----------------------------------------------------------------------------

    def written(self, slot: int) -> TensorSharding | None:
        """The sharding of a slot in the attributes of the program, as it is before propagation."""
        if slot < len(self._ops):
            return _sharding_of_only_result(self._ops[slot])
        subject = self.subject(slot)
        if isinstance(subject, FunctionResult):
            return sharding_in(subject.function.result_attributes[subject.result_index])
        return sharding_of(subject)

    def all_written(self) -> list[TensorSharding | None]:
        """Those of all slots."""
        if len(self._written) != len(self.shardings):
            self._written = [self.written(slot) for slot in range(len(self.shardings))]
        return list(self._written)

    def slot_of(self, subject: Subject) -> int | None:
        """The slot of a value or a result that propagation has read; None of others."""
        if isinstance(subject, FunctionResult):
            return self._result_slots.get(subject)
        return self.slots.get(subject) if subject in self.slots else self._slot_of_only_result(subject)

    def _slot_of_only_result(self, value: Value) -> int | None:
        op = value.op if isinstance(value, OpResult) else None
        if op is None or len(op.results) > 1 or op.data_flow is not None or op.parent is None:
            return None
        return op.order

    def restart(self, shardings: Sequence[TensorSharding | None]) -> None:
        """Takes other shardings, by slot."""
        self.shardings[:] = shardings

    def on_copy(
        self,
        copies: Mapping[Op, Op],
        values: Mapping[Value, Value],
        shardings: Sequence[TensorSharding | None],
    ) -> ShardingMap:
        """The map of a copy of the module, to write other shardings by slot.

        `copies` has the copy of each operation that is not erased, and `values` of each value.
        """
        other = copy(self)
        other._ops = [copies.get(op, op) for op in self._ops]
        other.shardings, other._others = list(shardings), []
        for subject in self._others:
            if isinstance(subject, FunctionResult):
                function = copies[subject.function]
                assert isinstance(function, FuncOp)
                copied: Subject = FunctionResult(function, subject.result_index)
            else:
                value = values.get(subject, subject)
                assert isinstance(value, OpResult | BlockArgument)
                copied = value
            other._others.append(copied)
        pairs = zip(self.all_written(), shardings, strict=True)
        other._is_changed = bytearray([before is not after for before, after in pairs])
        return other

    # --- Writing ----------------------------------------------------------------------------------

    def write(self, rewriter: Rewriter, rules: Sequence[OpShardingRule | None] = ()) -> None:
        """Sets the attributes of operations to the shardings that have changed since the last call.

        Most of these operations also get their rule, by the index of the operation, so that each gets only
        one new dictionary.
        """
        dictionaries: dict[tuple[DictAttr, TensorSharding, OpShardingRule | None], DictAttr] = {}
        for slot, sharding in enumerate(self.shardings):
            if not self._is_changed[slot]:
                continue
            assert sharding is not None
            value = self.subject(slot)
            if isinstance(value, FunctionResult):
                rewriter.set_result_attribute(value.function, value.result_index, SHARDING, sharding)
            elif isinstance(value, OpResult) and (
                len(value.op.results) == 1 and not isinstance(value.op, ShardingOwner)
            ):
                # Nearly all values; they have few distinct dictionaries.
                rule = rules[slot] if slot < len(rules) else None
                key = value.op.attributes, sharding, rule
                new = dictionaries.get(key)
                if new is None:
                    entries = dict(key[0].entries)
                    entries[SHARDING] = ShardingPerValue((sharding,))
                    if rule is not None:
                        entries[SHARDING_RULE] = rule
                    new = dictionaries[key] = dictionary(entries)
                rewriter.set_attributes(value.op, new)
            else:
                set_sharding(value, sharding, rewriter)
        self._is_changed = bytearray(len(self.shardings))


class RecordedShardingMap(ShardingMap):
    """A sharding map that reports its entries and their changes. `slots` has the slots of all values."""

    def __init__(self, ops: Sequence[Op], recorder: RunRecorder) -> None:
        super().__init__(ops)
        self._recorder = recorder

    def slot(self, value: Value) -> int:
        slot = super().slot(value)
        if value not in self.slots:
            # The only result of an operation.
            self.slots[value] = slot
            self._recorder.added(slot, self.subject(slot), self.shardings[slot])
        return slot

    def _add(self, subject: Subject, sharding: TensorSharding | None) -> int:
        slot = super()._add(subject, sharding)
        self._recorder.added(slot, subject, sharding)
        return slot

    def set(self, slot: int, sharding: TensorSharding) -> list[int]:
        old = None if slot == UNSHARDABLE else self.shardings[slot]
        changed = super().set(slot, sharding)
        for value in changed:
            new = self.shardings[value]
            assert new is not None
            self._recorder.changed(value, old if value == slot else None, new)
        return changed


def _sharding_of_only_result(op: Op) -> TensorSharding | None:
    """The sharding of an operation's only result, if the slot of this result is the operation's index."""
    has_sharding = op.attributes.entries or isinstance(op, ShardingOwner)
    if not has_sharding or len(op.results) != 1 or op.data_flow is not None:
        return None
    return sharding_of_result(op.results[0])


def _siblings(value: Subject) -> Sequence[OpResult | BlockArgument]:
    """The values whose shardings are in the same attribute as that of a value."""
    if isinstance(value, OpResult):
        return value.op.results
    if isinstance(value, BlockArgument):
        op = owning_op(value)
        if isinstance(op, NamedComputationOp):
            return value.block.arguments
        if op.data_flow is not None and not isinstance(op, ShardingOwner) and FUNCTION not in op.traits:
            return argument_owners(op)
    return ()


Members = list[OpResult | BlockArgument]


class ShardingGroups:
    """The sharding groups of a module, by group id."""

    def __init__(self, module: ModuleOp) -> None:
        self._members: dict[int, Members] = {}
        self._group_of: dict[Value, int] = {}
        for op in module.nested(ShardingGroupOp):
            value = op.input
            assert isinstance(value, OpResult | BlockArgument)
            is_new = value not in self._group_of
            if self._group_of.setdefault(value, op.group_id) != op.group_id:
                raise op.op_error("value can only map to one sharding group id after import")
            if is_new or not Behavior.DISTINCT_GROUP_MEMBERS.active:
                self._members.setdefault(op.group_id, []).append(value)

    def members(self, value: Value) -> Members:
        """The members of the group of a value, itself included; none if it is in no group."""
        group = self._group_of.get(value)
        return [] if group is None else self._members[group]

    def synchronize(self, rewriter: Rewriter) -> None:
        """Sets the sharding of each group on all its members.

        If the members have different shardings, apart from fully open ones, a fully open constraint is
        inserted after each of them and becomes the member of the group instead.
        """
        for group in sorted(self._members):
            members = self._members[group]
            shardings = [sharding for value in members if (sharding := sharding_of(value)) is not None]
            if len(members) > 1:
                shardings = [sharding for sharding in shardings if not _is_fully_open(sharding)]
            if not shardings:
                continue
            if any(sharding is not shardings[0] for sharding in shardings):
                self._warn(group)
                self._members[group] = [self._constrain(value, shardings[0], rewriter) for value in members]
                self._group_of.update(dict.fromkeys(self._members[group], group))
                continue
            annotated = next(value for value in members if sharding_of(value) is shardings[0])
            for value in members:
                if sharding_of(value) is not shardings[0]:
                    record_copy(owning_op(annotated), value, shardings[0], Means.GROUP)
                set_sharding(value, shardings[0], rewriter)

    def _warn(self, group: int) -> None:
        owning_op(self._members[group][0]).warning(
            f"The initial operand shardings on the sharding groups of groupID: {group} do not match. "
            "Inserting an open sharding constraint to all constrained values. This can be caused when "
            "shardings from different values are grouped (e.g. from jax.shard_alike) but have separate "
            "inconsistent sharding constraints on them."
        )

    def _constrain(
        self, value: OpResult | BlockArgument, sharding: TensorSharding, rewriter: Rewriter
    ) -> OpResult:
        # A group may list a value several times, which then gets as many constraints.
        self._group_of.pop(value, None)
        attributes = {"sharding": fully_replicated(sharding.rank, sharding.mesh_or_ref, is_closed=False)}
        types = [value.type]
        if isinstance(value, BlockArgument):
            constraint = rewriter.create(
                ShardingConstraintOp,
                [value],
                types,
                attributes,
                at_start_of=value.block,
                location=value.lazy_location,
            )
        else:
            constraint = rewriter.create(
                ShardingConstraintOp, [value], types, attributes, after=value.op, location=value.lazy_location
            )
        rewriter.replace_uses_except(value, constraint.result, constraint)
        return constraint.result


def _is_fully_open(sharding: TensorSharding) -> bool:
    """Whether all dimensions are open and have no axes."""
    return all(not dim.axes and not dim.is_closed for dim in sharding.dims)
