"""The sharding record: what happened to shardings while passes ran, in order.

    record = ShardingRecord()
    with record.active():
        run_pipeline(…)
    run = record.runs[-1]
    run.history[subject]        # how the sharding of a value came about: its changes, each with the cause
    run.sites_of[subject]       # along which operations the value could get more axes
    site.refusals               # which axes do not propagate along an operation at the fixed point, and why

A *subject* is what has a sharding of its own: a value, or a result of a function signature. A *run* is one
run of a propagation pass. A *site* is an operation in a run, with its sharding rule and the subjects of its
operands and results. A *step* propagates along a site and *changes* subjects. Each change has a *cause*: a
step, or a user priority that restores dimension shardings. Passes before propagation copy annotations to
values; `copies` has them by value. All causes are numbered in one sequence. After propagation, `reshards` has
the cause of each reshard and all-reduce that is inserted, by its result, and `truncations` the shardings of
inputs and outputs that are truncated. `without_size_one` has the shardings from which axes of size one are
removed.

A step is a pure function of its kind, its rule and the shardings of operands and results. So the record keeps
only these, and the code that decided runs again if someone asks which axes it moved or refused.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from itertools import count

from sdyopt.analysis.sharding_record.model import Copied, Run
from sdyopt.analysis.sharding_record.run_recorder import ModelRecorder
from sdyopt.analysis.sharding_record.values import TrackedValues
from sdyopt.mlir.dialects.func import FuncOp
from sdyopt.mlir.dialects.sdy.mesh_op import MeshLookup
from sdyopt.mlir.dialects.sdy.sharding import TensorSharding
from sdyopt.mlir.dialects.sdy.value_shardings import shardable_value
from sdyopt.mlir.ir.edit_log import tracking_values
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.value import Value
from sdyopt.shardy.record import (
    FunctionResult,
    Means,
    Required,
    Reshard,
    Subject,
    Truncation,
    recording_copies,
    recording_propagation,
    recording_reshards,
)


class ShardingRecord:
    """Records the passes that run while it is active. `values` tracks values that passes replace or copy."""

    def __init__(self) -> None:
        self.runs: list[Run] = []
        self.copies: dict[Subject, list[Copied]] = {}
        self.without_size_one: dict[TensorSharding, TensorSharding] = {}
        self.truncations: dict[Subject, list[tuple[TensorSharding, Truncation]]] = {}
        self.values = TrackedValues()
        self.reshards: dict[Value, Reshard | Required] = {}
        self._numbers = count(1)

    @contextmanager
    def active(self) -> Iterator[None]:
        """Records in the `with` block."""
        with ExitStack() as stack:
            stack.enter_context(recording_propagation(self))
            stack.enter_context(recording_copies(self))
            stack.enter_context(tracking_values(self.values))
            stack.enter_context(recording_reshards(self))
            yield

    def start_run(self, mesh_of: MeshLookup) -> ModelRecorder:
        """Implements `Recorder`."""
        self.runs.append(Run(mesh_of))
        return ModelRecorder(self.runs[-1], self._numbers)

    def truncated(
        self, function: FuncOp, index: int, is_result: bool, sharding: TensorSharding, why: Truncation
    ) -> None:
        """Implements `CopyRecorder`."""
        if is_result:
            subject: Subject = FunctionResult(function, index)
        elif function.is_declaration:
            return
        else:
            subject = function.entry.arguments[index]
        self.truncations.setdefault(subject, []).append((sharding, why))

    def removed(self, before: TensorSharding, after: TensorSharding) -> None:
        """Implements `CopyRecorder`."""
        self.without_size_one[before] = after

    def resharded(self, result: Value, cause: Reshard | Required) -> None:
        """Implements `ReshardRecorder`."""
        self.reshards[result] = cause

    def copied(self, op: Op, target: Value, sharding: TensorSharding, means: Means) -> None:
        """Implements `CopyRecorder`."""
        subject = shardable_value(target)
        if subject is not None:
            copied = Copied(next(self._numbers), op, means, sharding)
            self.copies.setdefault(subject, []).append(copied)
