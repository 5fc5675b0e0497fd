"""Value numbers: values that are equal by construction have the same number.

Two operations yield equal values if they have no memory effects or are sdy collectives, have the same
attributes and result types, and operands with equal numbers. Shardings count too: a value with another
sharding is another value to a collective.
"""

from __future__ import annotations

from collections.abc import Hashable

from sdyopt.analysis.figures.product_collectives import COLLECTIVES
from sdyopt.mlir.dialects.sdy.collectives import CollectiveOp
from sdyopt.mlir.ir.interfaces import is_memory_effect_free
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.value import Value

# The attribute that gives each StableHLO collective a number of its own.
_CHANNEL = "channel_handle"


class ValueNumbers:
    """The numbers of the values of a module."""

    def __init__(self, module: Op) -> None:
        self._numbers: dict[Value, Hashable] = {}
        # An integer per key keeps the keys small.
        self._of_key: dict[Hashable, int] = {}
        for op in module.walk():
            if _is_numbered(op):
                number = self._of_key.setdefault(self.key(op), len(self._of_key))
                for index, result in enumerate(op.results):
                    self._numbers[result] = (number, index)

    def number(self, value: Value) -> Hashable:
        """The number of a value; the value itself if nothing is known about it."""
        return self._numbers.get(value, value)

    def key(self, op: Op) -> Hashable:
        """A key that equal operations have in common; channel handles do not count."""
        signature, inside = op.signature, [each.signature for each in op.walk()][1:]
        attributes = tuple([entry for entry in signature.attributes.entries if entry[0] != _CHANNEL])
        types = signature.result_types
        name: Hashable = signature.name
        return name, attributes, types, op.attributes, *inside, *map(self.number, op.operands)


def _is_numbered(op: Op) -> bool:
    if op.regions or not op.results:
        return False
    return isinstance(op, CollectiveOp) or (is_memory_effect_free(op) and not isinstance(op, COLLECTIVES))
