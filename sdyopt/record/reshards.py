"""Recording of reshards and all-reduces: for which operation each was inserted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Protocol

from sdyopt.dataclasses import dataclass
from sdyopt.dialects.sdy.rule import OpShardingRule
from sdyopt.dialects.sdy.sharding import TensorSharding
from sdyopt.dialects.sdy.value_shardings import sharding_of
from sdyopt.ir.op_signature import OpSignature
from sdyopt.ir.operation import Op
from sdyopt.ir.value import Value
from sdyopt.sharding.op_sharding_rule_registry import sharding_rule_of
from sdyopt.sharding.propagation.propagation_step import Shardings


@dataclass(eq=False)
class Planned:
    """An operation before it gets reshards and all-reduces, which make its shardings compatible.

    `values` are its operands and results then, `shardings` those of the values.
    """

    op: Op
    signature: OpSignature
    rule: OpShardingRule
    values: Sequence[Value]
    shardings: Shardings


@dataclass(eq=False)
class Reshard:
    """A reshard or an all-reduce that a plan has inserted, at an operand or result of its operation."""

    plan: Planned
    position: int


@dataclass(eq=False)
class Required:
    """A reshard of operand `index` of an operation that takes or returns values with given shardings."""

    user: Op
    index: int
    sharding: TensorSharding


class ReshardRecorder(Protocol):
    """Records why values were resharded."""

    def resharded(self, result: Value, cause: Reshard | Required) -> None: ...


_active: list[ReshardRecorder] = []


@contextmanager
def recording_reshards(recorder: ReshardRecorder) -> Iterator[None]:
    """Reports the reshards in the `with` block to a recorder."""
    _active.append(recorder)
    try:
        yield
    finally:
        _active.pop()


def plan_to_record(op: Op) -> Planned | None:
    """The operation as it is before a plan is applied; None if nothing is recorded."""
    rule = sharding_rule_of(op) if _active else None
    if rule is None:
        return None
    values = [*op.operands, *op.results]
    return Planned(op, op.signature, rule, values, tuple([sharding_of(value) for value in values]))


def record_plan(plan: Planned | None, created: Sequence[tuple[Op, int]]) -> None:
    """Records the operations that a plan has created, each with the position of its operand or result."""
    if plan is not None:
        for op, position in created:
            _active[-1].resharded(op.results[0], Reshard(plan, position))


def record_required(user: Op, index: int, sharding: TensorSharding, created: Op) -> None:
    """Records a reshard to the sharding that an operation requires of an operand."""
    if _active:
        _active[-1].resharded(created.results[0], Required(user, index, sharding))
