"""The shardings of a program by number, while they change; operations get them when all is done.

Every value that can keep a sharding has a number, and so has every result of a function that is asked
for. Values that stand for the same data have one number: those of one data-flow edge.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeGuard

from sdyopt.dialects.func import FuncOp
from sdyopt.dialects.sdy.attribute_names import SHARDING
from sdyopt.dialects.sdy.computation_ops import NamedComputationOp
from sdyopt.dialects.sdy.interfaces import ShardingOwner
from sdyopt.dialects.sdy.sharding import ShardingPerValue, TensorSharding, fully_replicated
from sdyopt.dialects.sdy.value_shardings import owning_op, rank_of, shardable_value, sharding_of
from sdyopt.ir.attribute import DictAttr
from sdyopt.ir.operation import Op
from sdyopt.ir.rewrite import Rewriter
from sdyopt.ir.traits import FUNCTION
from sdyopt.ir.value import BlockArgument, OpResult, Value

from ...common.support.set_sharding import set_sharding

# The number of all values that have no place to keep a sharding.
NO_SHARDING = 0


class FunctionResult(NamedTuple):
    """A result of a function, as its signature has it."""

    function: FuncOp
    number: int


Holder = OpResult | BlockArgument | FunctionResult


class ShardingMap:
    """`shardings[number]` is the sharding of `holders[number]`."""

    def __init__(self) -> None:
        self.shardings: list[TensorSharding | None] = [None]
        self.holders: list[Holder | None] = [None]
        # For each number, the steps that read the sharding, by the number of their operation.
        self.readers: list[list[int]] = [[]]
        self._numbers: dict[Value, int] = {}
        self._result_numbers: dict[FunctionResult, int] = {}
        self._changed: dict[int, None] = {}

    def number(self, value: Value) -> int:
        """The number of a value."""
        found = self._numbers.get(value)
        if found is None:
            held = value if _keeps_its_own(value) else shardable_value(value)
            if held is None:
                found = NO_SHARDING
            elif held is value:
                found = self._add(held, sharding_of(held))
            else:
                found = self.number(held)
            self._numbers[value] = found
        return found

    def result_number(self, result: FunctionResult) -> int:
        """The number of a result of a function."""
        found = self._result_numbers.get(result)
        if found is None:
            sharding = result.function.result_attributes[result.number].get(SHARDING)
            assert sharding is None or isinstance(sharding, TensorSharding)
            found = self._result_numbers[result] = self._add(result, sharding)
        return found

    def _add(self, holder: Holder, sharding: TensorSharding | None) -> int:
        self.shardings.append(sharding)
        self.holders.append(holder)
        self.readers.append([])
        return len(self.holders) - 1

    def set(self, number: int, sharding: TensorSharding) -> list[int]:
        """Gives a value a sharding. Returns the numbers of all values that got one.

        These are more than one if a value is the first of several results to get a sharding, because
        then the others get open ones.
        """
        if number == NO_SHARDING:
            return []
        old = self.shardings[number]
        self.shardings[number] = sharding
        self._changed[number] = None
        return [number] if old is not None else [number, *self._open_siblings(number, sharding)]

    def _open_siblings(self, number: int, like: TensorSharding) -> list[int]:
        opened = []
        for sibling in _siblings(self.holders[number]):
            other = self.number(sibling)
            if self.holders[other] is sibling and self.shardings[other] is None:
                self.shardings[other] = fully_replicated(rank_of(sibling.type), like.mesh_or_ref, False)
                self._changed[other] = None
                opened.append(other)
        return opened

    # --- Writing ----------------------------------------------------------------------------------

    def write(self, rewriter: Rewriter) -> None:
        """Gives the operations what has changed since this was last done."""
        dictionaries: dict[tuple[DictAttr, TensorSharding], DictAttr] = {}
        for number in self._changed:
            holder, sharding = self.holders[number], self.shardings[number]
            assert sharding is not None
            if isinstance(holder, FunctionResult):
                rewriter.set_result_attribute(holder.function, holder.number, SHARDING, sharding)
            elif isinstance(holder, OpResult) and _is_alone(holder.op):
                # Nearly all values; of their dictionaries there are few.
                key = holder.op.attributes, sharding
                new = dictionaries.get(key)
                if new is None:
                    new = key[0].with_entry(SHARDING, ShardingPerValue((sharding,)))
                    dictionaries[key] = new
                rewriter.set_attributes(holder.op, new)
            elif holder is not None:
                set_sharding(holder, sharding, rewriter)
        self._changed.clear()


def _keeps_its_own(value: Value) -> TypeGuard[OpResult]:
    """Whether this is a result of an operation without data-flow edges, as nearly all values are."""
    return isinstance(value, OpResult) and value.op.data_flow is None


def _is_alone(op: Op) -> bool:
    return len(op.results) == 1 and not isinstance(op, ShardingOwner)


def _siblings(holder: Holder | None) -> Sequence[OpResult | BlockArgument]:
    """The values whose shardings are kept in one attribute with that of a value."""
    if isinstance(holder, OpResult):
        return holder.op.results
    if isinstance(holder, BlockArgument):
        op = owning_op(holder)
        if isinstance(op, NamedComputationOp) and FUNCTION not in op.traits:
            return holder.owner.arguments
    return ()
