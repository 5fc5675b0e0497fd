"""The hooks of the sharding record for passes: they report to the active recorder, if there is one.

Propagation reports its steps. Before propagation, other passes copy annotations to values; after it, they
truncate shardings of inputs and outputs, and insert reshards and all-reduces, each for an operation. The
record itself is `sdyopt.analysis.sharding_record`, which is imported when something is recorded.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from enum import Enum
from typing import Protocol

from sdyopt.base.context import ContextPart
from sdyopt.base.dataclasses import NamedTuple, dataclass
from sdyopt.mlir.dialects.func import FuncOp
from sdyopt.mlir.dialects.sdy.mesh_op import MeshLookup
from sdyopt.mlir.dialects.sdy.rule import OpShardingRule
from sdyopt.mlir.dialects.sdy.sharding import TensorSharding
from sdyopt.mlir.dialects.sdy.value_shardings import sharding_of
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.types import Type
from sdyopt.mlir.ir.value import BlockArgument, OpResult, Value
from sdyopt.shardy.sharding.op_sharding_rule_registry import sharding_rule_of
from sdyopt.shardy.sharding.propagation.propagation_step import Shardings, StepRunner, Strategy


class FunctionResult(NamedTuple):
    """A result of a function signature."""

    function: FuncOp
    result_index: int

    @property
    def type(self) -> Type:
        return self.function.function_type.results[self.result_index]


# What has a sharding of its own. Any other value has that of its `shardable_value`.
Subject = OpResult | BlockArgument | FunctionResult


class StepSite(Protocol):
    """An operation with the rule by which it propagates.

    `values` and `slots` are those of the operands and results; `slots` are 0 for values without a sharding.
    """

    @property
    def op(self) -> Op: ...
    @property
    def rule(self) -> OpShardingRule: ...
    @property
    def values(self) -> Sequence[Value]: ...
    @property
    def slots(self) -> Sequence[int]: ...


class StepRecorder(Protocol):
    """Records steps."""

    def record(self, site: StepSite, runner: StepRunner, shardings: Shardings) -> None:
        """A step on these shardings has updates; the changes that follow are due to it."""


class RunRecorder(StepRecorder, Protocol):
    """Records one run of a propagation pass."""

    def start_priority(self, priority: int) -> None:
        """The dimension shardings of a user priority are restored next."""

    def start_round(self, number: int, strategy: Strategy) -> None:
        """A round starts. `number` is its position by op priority, from 1; 0 if rounds are not by it."""

    def added(self, slot: int, subject: Subject, sharding: TensorSharding | None) -> None:
        """Propagation reads a sharding for the first time."""

    def changed(self, slot: int, old: TensorSharding | None, new: TensorSharding) -> None:
        """A sharding changes."""

    def finish(
        self,
        sites: Sequence[tuple[StepSite, StepRunner | None, Shardings]],
        without_site: Sequence[Op],
        slots: Mapping[Value, int],
    ) -> None:
        """The run ends.

        `sites` are all sites, with what runs their steps in the last round and the shardings that a step
        would use now; None if they do not propagate. Nothing propagates along the other operations. `slots`
        has the slot of every value that a site has.
        """


class Recorder(Protocol):
    """Records runs of propagation passes."""

    def start_run(self, mesh_of: MeshLookup) -> RunRecorder:
        """A propagation pass starts. `mesh_of` resolves the meshes of the program."""


_RECORDER = ContextPart[Recorder | None](None)


def recording_propagation(recorder: Recorder) -> AbstractContextManager[None]:
    """Reports the runs in the `with` block to a recorder."""
    return _RECORDER.set_to(recorder)


def active_recorder() -> Recorder | None:
    """The innermost recorder; None if nothing is recorded."""
    return _RECORDER.value


class Means(Enum):
    """The reason for which a pass other than propagation gives a value a sharding."""

    CONSTRAINT = "its sharding constraint"
    MANUAL_INPUT = "the input sharding of a manual computation"
    GROUP = "its sharding group"
    CALL = "the result sharding of the called function"


class Truncation(Enum):
    """The reason for which a pass truncates the sharding of an input or output."""

    NOT_DIVISIBLE = "the sizes of the axes do not divide the dimension"
    SUB_AXIS = "inputs and outputs have no sub-axes"


class CopyRecorder(Protocol):
    """Records copies of shardings, and truncated ones."""

    def copied(self, op: Op, target: Value, sharding: TensorSharding, means: Means) -> None:
        """`target` is about to get a sharding from the annotation on `op`."""

    def truncated(
        self, function: FuncOp, index: int, is_result: bool, sharding: TensorSharding, why: Truncation
    ) -> None:
        """An argument or result of a function gets a prefix of its sharding."""

    def removed(self, before: TensorSharding, after: TensorSharding) -> None:
        """Axes of size one are removed from every sharding that is equal to `before`."""


_COPY_RECORDER = ContextPart[CopyRecorder | None](None)


def recording_copies(recorder: CopyRecorder) -> AbstractContextManager[None]:
    """Reports the copies in the `with` block to a recorder."""
    return _COPY_RECORDER.set_to(recorder)


def record_copy(op: Op, target: Value, sharding: TensorSharding, means: Means) -> None:
    """Records that `target` is about to get a sharding from the annotation on `op`."""
    if (recorder := _COPY_RECORDER.value) is not None:
        recorder.copied(op, target, sharding, means)


def record_truncation(
    function: FuncOp, index: int, is_result: bool, sharding: TensorSharding, why: Truncation
) -> None:
    """Records that an argument or result of a function gets a prefix of its sharding."""
    if (recorder := _COPY_RECORDER.value) is not None:
        recorder.truncated(function, index, is_result, sharding, why)


def record_removal(before: TensorSharding, after: TensorSharding) -> None:
    """Records that axes of size one are removed from a sharding, wherever it is."""
    if after is not before and (recorder := _COPY_RECORDER.value) is not None:
        recorder.removed(before, after)


@dataclass(eq=False)
class Planned:
    """An operation before it gets reshards and all-reduces, which make its shardings compatible.

    `values` are its operands and results then, `shardings` those of the values, and `planned` those that the
    plan gives the operation.
    """

    op: Op
    signature: OpSignature
    rule: OpShardingRule
    values: Sequence[Value]
    shardings: Shardings
    planned: Shardings


@dataclass(eq=False)
class InsertedReshard:
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

    def resharded(self, result: Value, cause: InsertedReshard | Required) -> None: ...


_RESHARD_RECORDER = ContextPart[ReshardRecorder | None](None)


def recording_reshards(recorder: ReshardRecorder) -> AbstractContextManager[None]:
    """Reports the reshards in the `with` block to a recorder."""
    return _RESHARD_RECORDER.set_to(recorder)


def plan_to_record(op: Op, changes: Iterable[tuple[int, TensorSharding]]) -> Planned | None:
    """The operation as it is before a plan is applied; None if nothing is recorded.

    `changes` are the new shardings of operands and results, by position.
    """
    rule = None if _RESHARD_RECORDER.value is None else sharding_rule_of(op)
    if rule is None:
        return None
    values = [*op.operands, *op.results]
    shardings = [sharding_of(value) for value in values]
    planned = [*shardings]
    for position, sharding in changes:
        planned[position] = sharding
    return Planned(op, op.signature, rule, values, tuple(shardings), tuple(planned))


def record_plan(plan: Planned | None, created: Sequence[tuple[Op, int]]) -> None:
    """Records the operations that a plan has created, each with the position of its operand or result."""
    recorder = _RESHARD_RECORDER.value
    if plan is not None and recorder is not None:
        for op, position in created:
            recorder.resharded(op.results[0], InsertedReshard(plan, position))


def record_required(user: Op, index: int, sharding: TensorSharding, created: Op) -> None:
    """Records a reshard to the sharding that an operation requires of an operand."""
    if (recorder := _RESHARD_RECORDER.value) is not None:
        recorder.resharded(created.results[0], Required(user, index, sharding))
