"""Propagation barriers: they restrict the direction of propagation, but do not change the value."""

from __future__ import annotations

from sdyopt.dialects.sdy.ops import PropagationBarrierOp
from sdyopt.ir.value import Value


def value_before_barriers(value: Value, cache: dict[Value, Value] | None = None) -> Value:
    """The input of the chain of barriers that ends in this value; the value itself if there is none.

    With a `cache`, repeated queries on a long chain take linear time; barriers must not change meanwhile.
    Barriers in a graph region may be cyclic; then the result is any of their values.
    """
    cache = {} if cache is None else cache
    visited: dict[Value, None] = {}
    while value not in visited and isinstance(barrier := value.defining_op, PropagationBarrierOp):
        if value in cache:
            value = cache[value]
            break
        visited[value] = None
        value = barrier.input
    cache.update(dict.fromkeys(visited, value))
    return value
