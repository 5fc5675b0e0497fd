"""What propagation sees of the sharding record: the active recorder, if there is one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import NamedTuple, Protocol

from sdyopt.dialects.func import FuncOp
from sdyopt.dialects.sdy.mesh_op import MeshLookup
from sdyopt.dialects.sdy.rule import OpShardingRule
from sdyopt.dialects.sdy.sharding import TensorSharding
from sdyopt.ir.operation import Op
from sdyopt.ir.value import BlockArgument, OpResult, Value
from sdyopt.sharding.propagation.propagation_step import Shardings, StepRunner, Strategy


class FunctionResult(NamedTuple):
    """A result of a function signature."""

    function: FuncOp
    result_index: int


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


_active: list[Recorder] = []


@contextmanager
def recording_propagation(recorder: Recorder) -> Iterator[None]:
    """Reports the runs in the `with` block to a recorder."""
    _active.append(recorder)
    try:
        yield
    finally:
        _active.pop()


def active_recorder() -> Recorder | None:
    """The innermost recorder; None if nothing is recorded."""
    return _active[-1] if _active else None
