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

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from itertools import count

from sdyopt.analysis.interface import Program
from sdyopt.analysis.sharding_record.model import (
    Cause,
    Copied,
    Gap,
    PropagationRun,
    RecordedChange,
    Restored,
    Site,
    Step,
)
from sdyopt.mlir.dialects.func import CallOp, FuncOp
from sdyopt.mlir.dialects.sdy.mesh_op import MeshLookup
from sdyopt.mlir.dialects.sdy.ops import ManualComputationOp
from sdyopt.mlir.dialects.sdy.sharding import TensorSharding
from sdyopt.mlir.dialects.sdy.value_shardings import (
    DataFlowEdgeOp,
    FuncDataFlowEdgeOp,
    owning_op,
    shardable_value,
    sharding_of,
)
from sdyopt.mlir.ir.edit_log import tracking_values
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.value import BlockArgument, OpResult, Value
from sdyopt.shardy.record import (
    FunctionResult,
    InsertedReshard,
    Means,
    Required,
    StepSite,
    Subject,
    Truncation,
    recording_copies,
    recording_propagation,
    recording_reshards,
)
from sdyopt.shardy.sharding.propagation.propagation_step import Shardings, StepRunner, Strategy


class ShardingRecord:
    """Records the passes that run while it is active. `values` tracks values that passes replace or copy."""

    def __init__(self) -> None:
        self.runs: list[PropagationRun] = []
        self.copies: dict[Subject, list[Copied]] = {}
        self.without_size_one: dict[TensorSharding, TensorSharding] = {}
        self.truncations: dict[Subject, list[tuple[TensorSharding, Truncation]]] = {}
        self.values = TrackedValues()
        self.reshards: dict[Value, InsertedReshard | Required] = {}
        self._numbers = count(1)
        self._is_active = False

    @contextmanager
    def active(self) -> Iterator[None]:
        """Records in the `with` block; within another such block, that one does."""
        if self._is_active:
            yield
            return
        with ExitStack() as stack:
            self._is_active = True
            stack.callback(setattr, self, "_is_active", False)
            stack.enter_context(recording_propagation(self))
            stack.enter_context(recording_copies(self))
            stack.enter_context(tracking_values(self.values))
            stack.enter_context(recording_reshards(self))
            yield

    def start_run(self, mesh_of: MeshLookup) -> ModelRecorder:
        """Implements `Recorder`."""
        self.runs.append(PropagationRun(mesh_of))
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

    def resharded(self, result: Value, cause: InsertedReshard | Required) -> None:
        """Implements `ReshardRecorder`."""
        self.reshards[result] = cause

    def copied(self, op: Op, target: Value, sharding: TensorSharding, means: Means) -> None:
        """Implements `CopyRecorder`."""
        subject = shardable_value(target)
        if subject is not None:
            copied = Copied(next(self._numbers), op, means, sharding)
            self.copies.setdefault(subject, []).append(copied)


# Operations that need no rule: other operations propagate in their place.
_WITHOUT_RULE = (CallOp, DataFlowEdgeOp, FuncDataFlowEdgeOp)


class ModelRecorder:
    """Fills a run. `numbers` continues the sequence of the record. Implements `RunRecorder`."""

    def __init__(self, run: PropagationRun, numbers: Iterator[int]) -> None:
        self._run = run
        self._numbers = numbers
        # By slot; slot 0 is that of values without a sharding.
        self._subjects: dict[int, Subject | None] = {0: None}
        self._sites: dict[StepSite, Site] = {}
        self._positions: dict[int, int] = {}
        self._priority = 0
        self._round = 0
        self._strategy = Strategy.BASIC
        self._cause: Cause = Restored(next(numbers), 0)

    def start_priority(self, priority: int) -> None:
        """The changes that follow restore dimension shardings."""
        self._priority = priority
        self._cause = Restored(next(self._numbers), priority)
        self._positions = {}

    def start_round(self, number: int, strategy: Strategy) -> None:
        """The steps that follow are in this round."""
        self._round, self._strategy = number, strategy

    def record(self, site: StepSite, runner: StepRunner, shardings: Shardings) -> None:
        """The changes that follow are due to this step."""
        self._cause = Step(
            next(self._numbers),
            self._site(site),
            runner,
            shardings,
            self._priority,
            self._round,
            self._strategy,
        )
        self._positions = {slot: position for position, slot in reversed([*enumerate(site.slots)])}

    def added(self, slot: int, subject: Subject, sharding: TensorSharding | None) -> None:
        """Propagation reads a sharding for the first time."""
        self._subjects[slot] = subject
        if isinstance(subject, OpResult) and isinstance(subject.op, DataFlowEdgeOp):
            self._run.edge_owners[subject] = subject.op.input
        owner = self._run.edge_owners.get(subject, subject)
        if isinstance(owner, BlockArgument):
            self._run.op_of_argument[owner] = owning_op(owner)
        self._run.initial[subject] = self._run.final[subject] = sharding

    def changed(self, slot: int, old: TensorSharding | None, new: TensorSharding) -> None:
        """Records a change, which is due to the last step or restored priority."""
        subject = self._subjects[slot]
        assert subject is not None
        self._run.final[subject] = new
        self._run.changes.append(RecordedChange(subject, old, new, self._cause, self._positions.get(slot)))

    def finish(
        self,
        sites: Sequence[tuple[StepSite, StepRunner | None, Shardings]],
        without_site: Sequence[Op],
        slots: Mapping[Value, int],
    ) -> None:
        """Records how each site propagates at the fixed point."""
        for step_site, runner, shardings in sites:
            site = self._site(step_site)
            site.runner, site.shardings = runner, shardings
        self._run.subject_of.update({value: self._subjects[slot] for value, slot in slots.items()})
        for op in without_site:
            if op.operands and op.results and op.data_flow is None and not isinstance(op, _WITHOUT_RULE):
                subjects = [self._subject(value) for value in (*op.operands, *op.results)]
                self._run.gaps.append(Gap(op, op.signature.name, tuple(subjects)))
        self._sites.clear()

    def _subject(self, value: Value) -> Subject | None:
        """The subject of a value that propagation may never have read."""
        run = self._run
        if value not in run.subject_of:
            subject = run.subject_of[value] = shardable_value(value)
            if subject is not None and subject not in run.final:
                run.initial[subject] = run.final[subject] = sharding_of(subject)
        return run.subject_of[value]

    def _site(self, site: StepSite) -> Site:
        known = self._sites.get(site)
        if known is None:
            subjects = tuple([self._subjects[slot] for slot in site.slots])
            owner = _edge_owner(site.op)
            # The manual axes of the computation that an edge leads into.
            op = owning_op(owner) if isinstance(owner, BlockArgument) else None
            manual_axes = op.manual_axes if isinstance(op, ManualComputationOp) else ()
            known = self._sites[site] = Site(
                *(site.op, site.op.signature.name, site.rule, subjects),
                edge_owner=None if owner is None else owning_op(owner),
                manual_axes=manual_axes,
            )
            self._run.sites.append(known)
        return known


def _edge_owner(op: Op) -> OpResult | BlockArgument | None:
    """The owner of a data-flow edge, whose operation later passes may inline."""
    if not isinstance(op, DataFlowEdgeOp):
        return None
    owner = op.input
    assert isinstance(owner, OpResult | BlockArgument)
    return owner


class TrackedValues:
    """The values that replace others, and those that are copies. Implements `ValueTracker`."""

    def __init__(self) -> None:
        self._successor: dict[Value, Value] = {}
        self._predecessors: dict[Value, list[Value]] = {}
        self._original: dict[Value, Value] = {}
        self._copies: dict[Value, list[Value]] = {}

    def replaced(self, old: Value, new: Value) -> None:
        """`new` takes the place of `old`."""
        if old is not new:
            self._successor[old] = new
            self._predecessors.setdefault(new, []).append(old)

    def copied(self, original: Value, copy: Value) -> None:
        """`copy` is a copy of `original`."""
        if original is not copy:
            self._original.setdefault(copy, original)
            self._copies.setdefault(original, []).append(copy)

    def descendants(self, value: Value) -> list[Value]:
        """The value, all that replaced it and all its copies, directly or indirectly."""
        values = {value: None}
        pending = [value]
        while pending:
            current = pending.pop(0)
            successor = self._successor.get(current)
            for item in (*(() if successor is None else (successor,)), *self._copies.get(current, ())):
                if item not in values:
                    values[item] = None
                    pending.append(item)
        return list(values)

    def originals(self, value: Value) -> list[Value]:
        """The value and what it is a copy of, directly or indirectly."""
        originals = [value]
        while (original := self._original.get(originals[-1])) is not None and original not in originals:
            originals.append(original)
        return originals

    def predecessors(self, value: Value) -> list[Value]:
        """The values whose place this one took, directly or indirectly."""
        values: dict[Value, None] = {}
        pending = list(self._predecessors.get(value, ()))
        while pending:
            old = pending.pop(0)
            if old not in values:
                values[old] = None
                pending += self._predecessors.get(old, ())
        return list(values)

    def successors(self, value: Value) -> list[Value]:
        """The value and what has replaced it, one after the other."""
        successors = [value]
        while (successor := self._successor.get(successors[-1])) is not None and successor not in successors:
            successors.append(successor)
        return successors

    @property
    def replacements(self) -> dict[Value, Value]:
        """The value that took the place of each replaced one."""
        return self._successor


def shared_record(program: Program) -> ShardingRecord:
    """The record of a program of a run, for `Program.shared`: passes report to the innermost one only."""
    return ShardingRecord()
