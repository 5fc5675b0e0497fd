"""Functions for classes of operations, which the modules in `partition/operations/` register in tables.

    @lowering(SliceOp)
    def lower_slice(op: SliceOp, local: LocalContext) -> Lowered: ...

A lowering runs when the operands of the operation have their local types and its own signature still has the
global types. It returns one of

- `None`: the operation is local. It is kept, with local result types, and with the operands and inherent
  attributes that the lowering has set.
- the values that replace its results, created with `local.builder(op)`.

Operations of classes without a lowering are local if no factor of their sharding rule forbids it
(`passes.partitioning.convert_global_to_local`). The other tables are `crosses_shards` (`replication.py`),
`exchanges_halos` (`sharded_body.py`) and `pads` (`padding.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from importlib import import_module
from typing import Any, Generic, TypeVar

from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.value import Value

F = TypeVar("F", bound=Callable[..., Any])


class OpTable(Generic[F]):
    """A function for each class of operations, registered by calling the table as a decorator.

    A function only takes operations of the classes that it is registered for, so their parameters are `Any`
    in the type of the function.
    """

    def __init__(self) -> None:
        self._functions: dict[type[Op], F] = {}
        self._properties: dict[type[Op], dict[str, bool]] = {}

    def __call__(self, *op_classes: type[Op], **properties: bool) -> Callable[[F], F]:
        """Registers a function, with properties of these operations."""

        def register(function: F) -> F:
            for op_class in op_classes:
                assert op_class not in self._functions, f"{op_class.name} is registered twice"
                self._functions[op_class] = function
                self._properties[op_class] = properties
            return function

        return register

    def get(self, op_class: type[Op]) -> F | None:
        """The function of a class of operations, if it has one."""
        _load_operations()
        return self._functions.get(op_class)

    def has(self, op_class: type[Op], name: str) -> bool:
        """Whether operations of a class are registered with a property."""
        _load_operations()
        return self._properties.get(op_class, {}).get(name, False)


@cache
def _load_operations() -> None:
    """Imports the modules that register functions, at the first use, not at start-up."""
    import_module("sdyopt.shardy.partition.operations")


Lowered = Sequence[Value] | None
lowering: OpTable[Callable[[Any, Any], Lowered]] = OpTable()
