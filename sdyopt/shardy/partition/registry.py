"""How each class of operations is partitioned.

    @lowering(SliceOp)
    def lower_slice(op: SliceOp, local: LocalContext) -> Lowered: ...

A lowering runs when the operands of the operation have their local types and its own signature still has the
global types. It returns one of

- `None`: the operation is local. It is kept, with local result types, and with the operands and inherent
  attributes that the lowering has set.
- the values that replace its results, created with `local.builder(op)`.

Operations of classes without a lowering are local if no factor of their sharding rule forbids it
(`sdyopt.shardy.partition.local_ops`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from importlib import import_module
from typing import Any, TypeVar

from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.value import Value

Lowered = Sequence[Value] | None
# A lowering only takes operations of the classes that it is registered for.
Lowering = Callable[[Any, Any], Lowered]
L = TypeVar("L", bound=Lowering)

_lowerings: dict[type[Op], Lowering] = {}


def lowering(*op_classes: type[Op]) -> Callable[[L], L]:
    """Registers the lowering of operations of these classes."""

    def register(function: L) -> L:
        for op_class in op_classes:
            assert op_class not in _lowerings, f"{op_class.name} has two lowerings"
            _lowerings[op_class] = function
        return function

    return register


def lowering_of(op_class: type[Op]) -> Lowering | None:
    """The lowering of a class of operations, if it has one."""
    _load_lowerings()
    return _lowerings.get(op_class)


@cache
def _load_lowerings() -> None:
    """Imports the lowerings at their first use, not at start-up."""
    import_module("sdyopt.shardy.partition.lowerings")
