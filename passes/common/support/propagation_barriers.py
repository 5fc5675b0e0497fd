"""What comes through barriers to propagation, which stop shardings but leave the data as it is."""

from __future__ import annotations

from sdyopt.dialects.sdy.ops import PropagationBarrierOp
from sdyopt.ir.value import Value


def value_before_barriers(value: Value, known: dict[Value, Value] | None = None) -> Value:
    """The value that goes into the first of the barriers that this one comes through, or itself.

    `known` remembers answers for who asks often and leaves barriers alone: else a long row of them would be
    gone through again for each. In a graph region barriers may be in a circle, of which any value will do.
    """
    known = {} if known is None else known
    passed: dict[Value, None] = {}
    while value not in passed and isinstance(barrier := value.defining_op, PropagationBarrierOp):
        if value in known:
            value = known[value]
            break
        passed[value] = None
        value = barrier.input
    known.update(dict.fromkeys(passed, value))
    return value
