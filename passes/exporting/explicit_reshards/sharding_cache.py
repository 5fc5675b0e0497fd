"""A cache of operand shardings, which are part of the keys of cached plans."""

from __future__ import annotations

from collections.abc import Iterable

from sdyopt.mlir.dialects.sdy.ops import PropagationBarrierOp
from sdyopt.mlir.dialects.sdy.sharding import TensorSharding
from sdyopt.mlir.dialects.sdy.value_shardings import sharding_of
from sdyopt.mlir.ir.value import Value

# In place of the sharding of a propagation barrier: a plan also depends on the sharding before the barrier.
_BARRIER = object()


class ShardingCache(dict[Value, object]):
    """The sharding of each value. Callers must invalidate the cache after changing a sharding."""

    def __missing__(self, value: Value) -> object:
        is_barrier = isinstance(value.defining_op, PropagationBarrierOp)
        sharding = self[value] = _BARRIER if is_barrier else sharding_of(value)
        return sharding

    def invalidate(self, values: Iterable[Value]) -> None:
        for value in values:
            self.pop(value, None)


def is_sufficient_key(sharding: object) -> bool:
    """Whether a plan may be cached by this operand sharding.

    Not if it is unreduced, because the operand may be all-reduced before the plan is made; nor for a barrier.
    """
    return sharding is None or (isinstance(sharding, TensorSharding) and not sharding.unreduced_axes)
