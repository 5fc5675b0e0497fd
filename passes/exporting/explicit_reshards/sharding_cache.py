"""The shardings of the values of a function, each looked up once."""

from __future__ import annotations

from collections.abc import Iterable

from sdyopt.dialects.sdy.attribute_names import SHARDING
from sdyopt.dialects.sdy.interfaces import ShardingOwner
from sdyopt.dialects.sdy.ops import PropagationBarrierOp
from sdyopt.dialects.sdy.sharding import ShardingPerValue, TensorSharding
from sdyopt.dialects.sdy.value_shardings import sharding_of
from sdyopt.ir.value import Value

from ...common.support.propagation_barriers import value_before_barriers

_BEHIND_BARRIER = object()


class ShardingCache(dict[Value, object]):
    """What tells the sharding of a value, by value. Who gives a value another one has to say so."""

    def __missing__(self, value: Value) -> object:
        found = self[value] = _look_at(value)
        return found

    def forget(self, values: Iterable[Value]) -> None:
        """Looks shardings up again."""
        for value in values:
            self.pop(value, None)


def _look_at(value: Value) -> object:
    op = value.defining_op
    if op is None or op.data_flow is not None or isinstance(op, ShardingOwner) or len(op.results) > 1:
        return sharding_of(value)
    if isinstance(op, PropagationBarrierOp):
        return _BEHIND_BARRIER
    # A list of one says the same as what is in it.
    return op.attributes.get(SHARDING)


def is_trivially_compatible(seen: object) -> bool:
    """Whether what was seen of an operand says all, and nothing has to be summed there."""
    if isinstance(seen, ShardingPerValue):
        return not any(sharding.unreduced_axes for sharding in seen)
    if isinstance(seen, TensorSharding):
        return not seen.unreduced_axes
    return seen is None


def sharding_through_barriers(value: Value) -> TensorSharding | None:
    """The sharding of a value, or of what goes into the barriers that it comes through."""
    return sharding_of(value_before_barriers(value))
