"""Propagation of one program from many annotations: the interface of the pass that does it.

    again = repropagation(pass_, module)
    again.shardings({subject: sharding})       # the fixed point, by slot

The module is as it is before the pass. What depends on annotations only is computed for each; the operations
that propagate, their rules and the steps that were run before are kept.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Protocol, runtime_checkable

from sdyopt.mlir.dialects.builtin import ModuleOp
from sdyopt.mlir.dialects.sdy.rule import OpShardingRule
from sdyopt.mlir.dialects.sdy.sharding import TensorSharding
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.value import Value
from sdyopt.mlir.pipeline.base import Pass
from sdyopt.shardy.record import FunctionResult, Subject

Shardings = Sequence[TensorSharding | None]


class Repropagation(Protocol):
    """A program whose shardings propagate as often as they are asked for."""

    def slot(self, subject: Value | FunctionResult) -> int:
        """Where the sharding of a value or a result is; 0 for those that have none."""

    def annotation(self, subject: Subject) -> TensorSharding | None:
        """The sharding before propagation."""

    def annotations(self) -> Iterator[tuple[Subject, TensorSharding]]:
        """All shardings before propagation."""

    def rule(self, op: Op) -> OpShardingRule | None:
        """The rule by which an operation propagates."""

    def shardings(self, annotations: Mapping[Subject, TensorSharding | None]) -> Shardings | None:
        """The shardings after propagation by slot; None if a subject has no place of its own."""

    def copy(self, shardings: Shardings, values: dict[Value, Value]) -> ModuleOp | None:
        """A copy of the program with shardings by slot, as the pass leaves it; None if one is removed.

        `values` gets the copies of values.
        """


@runtime_checkable
class Repropagating(Protocol):
    """A propagation pass that can propagate again."""

    def repropagation(self, module: ModuleOp) -> Repropagation | None:
        """Propagates a program, which then is not usable otherwise; None if it cannot do so again."""


def repropagation(pass_: Pass, module: ModuleOp) -> Repropagation | None:
    """The repropagation of a program by a pass; None if it has none."""
    return pass_.repropagation(module) if isinstance(pass_, Repropagating) else None
