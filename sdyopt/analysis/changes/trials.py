"""Trials: a program with a change, partitioned again, to measure what the change saves.

trials = Trials(program, pipeline, topology)
trials.effect(Change((edit,)))
for trial in trials.of_changes(changes, jobs, limit): ...

Each trial makes a change in a copy of the program, runs the pipeline on it, and reads the figures of the
result. Several processes may try changes; the results come in the order of the changes, so they do not depend
on the number of processes. These fork, or start a Python each if this process may have threads.
"""

from __future__ import annotations

import os
import pickle
import sys
from collections.abc import Callable, Hashable, Iterator, Sequence, Set
from contextlib import suppress
from fractions import Fraction
from functools import cached_property
from typing import Any, TypeVar

from sdyopt.analysis.changes.edits import Change, Passes, written
from sdyopt.analysis.changes.effect import (
    NOISE,
    CostedProgram,
    Effect,
    Figures,
    figures_of,
    seconds_of_unknown_loops,
)
from sdyopt.analysis.changes.estimates import Estimate, EstimatedCost, is_unpredicted
from sdyopt.analysis.changes.originals import Originals
from sdyopt.analysis.changes.outcome import (
    PipelineOutcome,
    Results,
    Sent,
    key_of_program,
    sent_by_place,
    shardings_of_results,
)
from sdyopt.analysis.changes.prices import Prices
from sdyopt.analysis.changes.processes import Answer, Start, TrialProcesses, edit_at, prepare
from sdyopt.analysis.changes.propagated import Propagated, propagated
from sdyopt.analysis.figures.assumed_pipeline import PIPELINE, assumed_options
from sdyopt.analysis.figures.collective_traffic import is_partitioned
from sdyopt.analysis.figures.execution_counts import NONE_ASSUMED, AssumedTrips, ExecutionCounts
from sdyopt.analysis.figures.figures import Report
from sdyopt.analysis.figures.program_report import report_unless
from sdyopt.analysis.figures.topology import Topology, assumed_topology, likely_error
from sdyopt.analysis.figures.totals import time_totals
from sdyopt.analysis.sharding_record.model import PropagationRun
from sdyopt.analysis.sharding_record.record import ShardingRecord
from sdyopt.base.context import ContextPart, keeping
from sdyopt.base.dataclasses import NamedTuple
from sdyopt.base.diagnostics.diagnostic import Diagnostic, DiagnosticError, Severity, emit, handling
from sdyopt.base.diagnostics.ids import ADVICE
from sdyopt.base.diagnostics.location import Source
from sdyopt.base.parent_process import end_with
from sdyopt.base.releases import following
from sdyopt.mlir.asm.parser.module_parser import ParseOptions, parse_module
from sdyopt.mlir.asm.printer.asm_printer import print_for_note
from sdyopt.mlir.asm.printer.attribute_printer import plain_type
from sdyopt.mlir.dialects.sdy.canonicalization import COLLECTIVE_LABEL
from sdyopt.mlir.dialects.sdy.collectives import CollectiveOp
from sdyopt.mlir.dialects.sdy.ops import ReshardOp
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.types import RankedTensor
from sdyopt.mlir.ir.value import BlockArgument, OpResult, Value
from sdyopt.mlir.ir.verify import Verifier
from sdyopt.mlir.pipeline.base import Pass
from sdyopt.mlir.pipeline.run import Instrument, run_pipeline
from sdyopt.mlir.pipeline.tree import Pipeline, parse_pipeline
from sdyopt.mlir.registry import dialects_of_run, lookup

# All trials of one rule partition this many operations at most, but at least one trial runs.
MAX_OPERATIONS = 100_000
MAX_TRIALS = 8

T = TypeVar("T")

_PROPAGATE: Passes = {"sdy-propagation-pipeline": {"enable_insert_explicit_collectives": True}}
_LOWER: Passes = {
    "sdy-reshard-to-collectives": {},
    "canonicalize": {"enable_patterns": (COLLECTIVE_LABEL,), "top_down": False},
}


class NotCompleted(Exception):
    """A pass failed on the program; its errors are emitted."""


def is_complete(module: Op) -> bool:
    """Whether a program has its collectives, and needs no pass."""
    return is_partitioned(module) or (_has(module, CollectiveOp) and not _has(module, ReshardOp))


def _has(module: Op, kind: type[Op]) -> bool:
    return any(isinstance(op, kind) for op in module.walk())


def completing_pipeline(module: Op, has_passes: bool = False, machine: Topology | None = None) -> Pipeline:
    """The passes that make collectives explicit, after those of the command line if any.

    Empty if it has its collectives. If its reshards were inserted, the remaining ones are lowered. On any
    other program the pipeline runs that reports assume for the machine or, after passes, Shardy's own.
    """
    if is_complete(module):
        return Pipeline()
    if _has(module, CollectiveOp):
        return pipeline_of(_LOWER)
    compiler = "" if machine is None else machine.compiler
    return pipeline_of(_PROPAGATE if has_passes else {PIPELINE: assumed_options(compiler)})


def pipeline_of(passes: Passes) -> Pipeline:
    """Passes as a pipeline."""
    pipeline = Pipeline()
    for flag, options in passes.items():
        pipeline.add_nested(lookup(flag).create(options))
    return pipeline


# A value of more dimensions takes as long as an operation more for each of them.
_USUAL_RANK = 16

# What saves less than this share of the time by an estimate saves less than what pays.
_LEAST_SAVED = NOISE * Fraction(3, 4)
# In a smaller program, a trial takes little time, and estimates miss what few operations take together: so it
# need only be more than what numbers are rounded by. What is compared with another program than the one as it
# is, such as that after a change, may take this share longer.
LEAST_ESTIMATED, _ROUNDED, _MISSED = 400, Fraction(1, 10**8), Fraction(1, 20)
# What lowers the peak by this share is for that.
_LOWER_PEAK = Fraction(1, 10)
# The operations that each process has at least: two take a ninth more processor time than one for 6,600.
_MIN_SHARED = 3_000

# What stands for the estimate of a change that is not worth a trial.
_ABOVE = EstimatedCost(Fraction(0))

# Before trials, as in sdy-jax-pipeline: what they change must be there, and is processed only once.
_BEFORE: Passes = {"sdy-inline-unsharded-calls": {}, "cse": {}}


# After this pass, annotations that shard alike have led to equal programs.
_INSERTS_RESHARDS = "sdy-insert-explicit-reshards"


class CompiledCost(NamedTuple):
    """The bytes that a device sends under XLA, and the seconds of its collectives on a topology."""

    wire_bytes: Fraction
    seconds: Fraction


class Annotation(NamedTuple):
    """A sharding to write: where, as a PartitionSpec if one can express it, and as MLIR."""

    place: str
    spec: str | None
    sdy: str


class Trial(NamedTuple):
    """A change with the figures of the program before and after it.

    `figures` are those after it; None if it is slower, or if `has_failed`: the pipeline fails on the changed
    program. `shardings` are those of the results of the program then, and `sent` the bytes by place.

    A trial that is shown has words: `text` says what to write, and `now` what is written there, "" for a
    result or several places. `results` are the results without an annotation that are sharded otherwise: who
    uses them may have to reshard. `texts` are those of several changes in one. `compiled` is what XLA sends
    before and after, if that is verified. `fits_in` is the memory that the program fits in only with it.
    """

    change: Change
    before: Figures
    figures: Figures | None
    has_failed: bool = False
    shardings: Results | None = None
    sent: Sent | None = None
    text: str = ""
    now: str = ""
    annotations: tuple[Annotation, ...] = ()
    results: tuple[Annotation, ...] = ()
    compiled: tuple[CompiledCost, CompiledCost] | None = None
    texts: tuple[str, ...] = ()
    fits_in: int | None = None

    @property
    def after(self) -> Figures:
        """The figures of the program after it."""
        assert self.figures is not None
        return self.figures

    @property
    def effect(self) -> Effect:
        """What it changes."""
        return Effect(self.before, self.after)

    def saved(self, moves_whole: bool) -> Fraction:
        """The share of the time that it saves at least: of the time, or of that at most."""
        before, after = self.before, self.after
        if not before.of_step:
            return Fraction(0)
        share_at_most = after.at_most(moves_whole) / before.at_most(moves_whole)
        return 1 - max(after.of_step / before.of_step, share_at_most)

    @property
    def sends_more(self) -> bool:
        """Whether a device sends more after it, by more than noise."""
        return self.after.wire_bytes > self.before.wire_bytes * (1 + NOISE)

    @property
    def may_send_still_more(self) -> bool:
        """Whether a device sends more after it, and a partitioner may send still more.

        It may not if all that it may do otherwise is less than before.
        """
        before, after = self.before, self.after
        is_less = after.of_results <= before.of_results and after.sliced <= before.sliced
        return self.sends_more and not self.effect.holds and not (is_less and after.penalty < before.penalty)

    @property
    def seconds_in_xla(self) -> tuple[Fraction, Fraction] | None:
        """The seconds before and after it with XLA's communication, and our estimate of the rest."""
        if self.compiled is None:
            return None
        before, after = self.compiled
        return before.seconds + self.before.compute, after.seconds + self.after.compute

    @property
    def is_confirmed(self) -> bool:
        """Whether XLA sends no more after it, and takes no longer; so if that is not verified."""
        if self.compiled is None:
            return True
        assert self.seconds_in_xla is not None
        (before, after), (earlier, later) = self.compiled, self.seconds_in_xla
        return after.wire_bytes <= before.wire_bytes and later <= earlier

    @property
    def is_contradicted(self) -> bool:
        """Whether XLA takes no less time after it, and sends no less, by more than noise: it gains nothing.

        What lowers the peak, or computes less, need not send less, but must not send more, nor take longer.
        """
        if self.compiled is None:
            return False
        assert self.seconds_in_xla is not None
        (before, after), (earlier, later) = self.compiled, self.seconds_in_xla
        if later < earlier * (1 - NOISE) or after.wire_bytes < before.wire_bytes * (1 - NOISE):
            return False
        if after.wire_bytes > before.wire_bytes * (1 + NOISE) or later > earlier * (1 + NOISE):
            return later >= earlier
        saves_memory = self.after.peak_bytes <= self.before.peak_bytes * (1 - _LOWER_PEAK)
        return not saves_memory and self.after.flops >= self.before.flops * (1 - NOISE)

    @property
    def is_conflict_free(self) -> bool:
        """Whether partitioners send the same after it."""
        return self.effect.is_conflict_free

    def answer(self) -> Answer:
        return self.figures, self.has_failed, self.shardings, self.sent


# The figures, shardings of results and bytes by place of a program.
_Measured = tuple[Figures | None, Results | None, Sent | None]
# That of a program above the limit.
_SLOWER: _Measured = None, None, None


class ChangesWatch(Instrument):
    """Sees whether passes change anything."""

    def __init__(self) -> None:
        self.has_changed = False

    def after_pass(self, pass_: Pass, op: Op, changed: bool) -> None:
        self.has_changed |= changed


class Trials:
    """Trials on one program, after changes that are made first. The program is not changed.

    `make` makes of a program with collectives what has its figures.
    """

    def __init__(
        self,
        module: Op,
        pipeline: Pipeline,
        machine: Topology | None = None,
        *,
        made: tuple[Change, ...] = (),
        may_fork: bool = True,
        processes: TrialProcesses | None = None,
        make: Callable[[Op, Topology, AssumedTrips], CostedProgram] = CostedProgram,
        assumed: AssumedTrips = NONE_ASSUMED,
        before: Trials | None = None,
    ) -> None:
        self.module = module
        self._from = before
        self._pipeline = pipeline
        self._machine = machine or assumed_topology()
        self.made = made
        self._may_fork = may_fork and hasattr(os, "fork")
        self._processes = processes or TrialProcesses(module, pipeline, self._machine)
        self._make = make
        self._assumed = assumed
        # What the passes said about the program without a change.
        self.diagnostics: list[Diagnostic] = []
        self._record = ShardingRecord()
        self._copies: dict[Value, Value] = {}
        self._shared: dict[object, Any] = {}
        # By a limit, if the program is slower, and the program when its annotations are reshards; None if a
        # pass fails after that.
        self._measured: dict[object, _Measured | None] = {}
        self._kept: dict[Hashable, dict[Any, Any]] = {} if before is None else before._kept

    # --- The program without a change -----------------------------------------------------------------

    @property
    def can_try(self) -> bool:
        """Whether a change may have an effect: the program does not have its collectives already."""
        return bool(self._pipeline.elements)

    @cached_property
    def with_collectives(self) -> CostedProgram:
        """The program with collectives. Raises NotCompleted if a pass fails; emits errors and advice."""
        if not self.can_try:
            return self._make(self.module, self._machine, self._assumed)
        copy = self._changed((), self._copies)
        with self._record.active(), handling(self.diagnostics.append), keeping(self._kept):
            succeeded = run_pipeline(self._pipeline, copy, None)
        for diagnostic in self.diagnostics:
            if diagnostic.severity is Severity.ERROR or diagnostic.id in ADVICE:
                emit(diagnostic)
        if not succeeded:
            raise NotCompleted
        return self._make(copy, self._machine, self._assumed)

    @cached_property
    def outcome(self) -> PipelineOutcome | None:
        """The program with collectives, and what becomes of its values; None if a pass fails."""
        try:
            with handling(lambda _: None):
                with_collectives = self.with_collectives
        except (NotCompleted, DiagnosticError):
            return None
        return PipelineOutcome(with_collectives, self.originals)

    @cached_property
    def figures(self) -> Figures | None:
        """The figures of the program as it is; None if a pass fails."""
        return None if self.outcome is None else self.outcome.figures

    @cached_property
    def results(self) -> Results:
        """The shardings of the results of the program as it is."""
        return {} if self.outcome is None else shardings_of_results(self.outcome.module)

    @cached_property
    def originals(self) -> Originals:
        """The program as it was written, for values of the program with collectives."""
        assert self.with_collectives is not None
        values_before = {copy: value for value, copy in self._copies.items()}
        return Originals(self.module, self._record.values, values_before)

    def written(self, value: Value) -> OpResult | BlockArgument | None:
        """The value before passes of one of the program with collectives; None if a pass created it."""
        return self.originals.value(value) if self.can_try else None

    @property
    def run(self) -> PropagationRun | None:
        """The record of propagation, whose subjects `written` maps; None if there was none."""
        assert self.with_collectives is not None
        return self._record.runs[-1] if self._record.runs else None

    def shared(self, make: Callable[[Trials], T]) -> T:
        """The result of a function of these trials, computed once."""
        if make not in self._shared:
            self._shared[make] = make(self)
        made: T = self._shared[make]
        return made

    @cached_property
    def _size(self) -> int:
        return work_of(self.module)

    @property
    def count(self) -> int:
        """The number of trials that a rule may make."""
        return max(1, min(MAX_TRIALS, MAX_OPERATIONS // max(self._size, 1)))

    @property
    def error(self) -> Fraction:
        """The share that 9 of 10 of the times are within that changes are compared by."""
        return likely_error(self._machine)

    @property
    def on_chip(self) -> int:
        """The bytes that the machine may have on its chip, and not in its memory."""
        return 0 if self._machine.compute is None else self._machine.compute.cache

    # --- One change -----------------------------------------------------------------------------------

    def after(self, *changes: Change) -> Trials:
        """The trials after more changes."""
        return Trials(
            self.module,
            self._pipeline,
            self._machine,
            made=(*self.made, *changes),
            may_fork=self._may_fork,
            processes=self._processes,
            make=self._make,
            assumed=self._assumed,
            before=self._from or self,
        )

    def on(self, module: Op) -> Trials:
        """The trials on another program, such as one with fewer layers."""
        return Trials(module, self._pipeline, self._machine, may_fork=self._may_fork, assumed=self._assumed)

    def changed(self, *changes: Change) -> Op:
        """A copy of the program with changes, before the pipeline."""
        return self._changed(changes, {})

    @cached_property
    def _verifier(self) -> Verifier:
        dialects = dialects_of_run()
        return Verifier(dialects, plain_type, print_for_note)

    def _changed(
        self,
        changes: Sequence[Change],
        values: dict[Value, Value],
        copies: dict[Op, Op] | None = None,
        watch: ChangesWatch | None = None,
    ) -> Op:
        rewriter = Rewriter()
        copy = rewriter.clone(self.module, values)
        of_op = {} if copies is None else copies
        of_op.update(zip(self.module.walk(), copy.walk(), strict=True))
        made = (*self.made, *changes)
        for edit in written(made).values():
            edit.edit(of_op, rewriter)
        for change in made:
            if change.rewrite is not None:
                change.rewrite(of_op, rewriter)
        watches = [] if watch is None else [watch]
        for change in made:
            if change.passes:
                run_pipeline(pipeline_of(change.passes), copy, None, watches)
        if watch is not None:
            watch.has_changed |= rewriter.changed
        return copy

    def partitioned(self, change: Change, copies: dict[Op, Op] | None = None) -> CostedProgram | None:
        """A copy of the program after a change, with collectives; None if a pass fails.

        `copies` gets the copy of each operation.
        """
        with handling(lambda _: None):
            try:
                copy = self._changed((change,), {}, copies)
                # Such as a constraint along an axis that is manual there.
                is_valid = self._verifier.is_valid(copy)
            except DiagnosticError:
                return None
        return (
            CostedProgram(copy, self._machine, self._assumed)
            if is_valid and self._is_partitioned(copy, self._pipeline)
            else None
        )

    def effect(self, change: Change) -> Effect | None:
        """The effect of a change; None if a pass fails."""
        after = self.partitioned(change)
        return None if after is None or self.figures is None else Effect(self.figures, after.figures)

    # --- Estimates ------------------------------------------------------------------------------------

    @cached_property
    def _propagated(self) -> tuple[Propagated, Prices] | None:
        """The program before propagation, and the prices of its operations; None for a small program."""
        if self._from is not None:
            return self._from._propagated
        copies: dict[Op, Op] = {}
        values: dict[Value, Value] = {}
        copy = Rewriter().clone(self.module, values)
        copies.update(zip(self.module.walk(), copy.walk(), strict=True))
        result = propagated(copy, copies, self._pipeline)
        return (
            None
            if result is None
            else (result, Prices(result.module, result.after, self._machine, self._kept))
        )

    @cached_property
    def _estimate(self) -> Estimate | None:
        outcome = self.outcome
        if outcome is None or self._propagated is None or any(map(is_unpredicted, self.made)):
            return None
        program, prices = self._propagated
        before = program.shardings(self.made)
        counts = ExecutionCounts(program.module, self._assumed)
        return None if before is None else Estimate(program, prices, outcome, counts, self.made, before)

    def _estimated(
        self, changes: Sequence[Change], limit: EstimatedCost | None
    ) -> list[EstimatedCost | None]:
        """The estimated cost of each change, _ABOVE if it is above the limit; None without an estimate."""
        if limit is None or len(changes) < 2 or self._estimate is None:
            return [None] * len(changes)
        assert self.figures is not None
        of_program, is_large = limit.seconds == self.figures.of_step, self._size >= LEAST_ESTIMATED
        share = 1 - _LEAST_SAVED if is_large else 1 - _ROUNDED if of_program else 1 + _MISSED
        # The time at most is less sure: it need only fall.
        share_of_most = 1 - _ROUNDED if of_program else share
        least = EstimatedCost(limit.seconds * share, limit.at_most * share_of_most)
        costs = self._estimate.costs(changes, least)
        return [_ABOVE if cost is not None and cost.is_above(least) else cost for cost in costs]

    def _is_simplified(self, change: Change) -> bool:
        return self._propagated is not None and self._propagated[0].is_simplified(change)

    # --- Many changes ---------------------------------------------------------------------------------

    def of_changes(
        self,
        changes: Sequence[Change],
        jobs: int,
        limit: EstimatedCost | None,
        most: int,
        asked: Set[object] = frozenset(),
    ) -> Iterator[Trial]:
        """The trials of changes, in their order. None is looked at closely that is above the limit.

        Of the others, the `most` with the lowest estimates are tried, half as many of those that have none,
        and all whose keys are `asked`.
        """
        below: list[tuple[Fraction, int]] = []
        unknown: tuple[list[int], list[int]] = [], []
        above: set[int] = set()
        for number, cost in enumerate(self._estimated(changes, limit)):
            if cost is None:
                # What is simplified away may be constrained at what it is computed from.
                unknown[self._is_simplified(changes[number])].append(number)
            elif cost is _ABOVE:
                above.add(number)
            else:
                below.append((cost.seconds + cost.at_most, number))
        limit_of_unknown = most // 2 if below or above else most
        first = {number for numbers in unknown for number in numbers[:limit_of_unknown]}
        first.update(number for _, number in sorted(below)[:most])
        first.update(number for number, change in enumerate(changes) if change.key in asked)
        tried = [change for number, change in enumerate(changes) if number in first - above]
        trials = self._in_full(tried, jobs, None if limit is None else limit.seconds)
        assert self.figures is not None
        for number, change in enumerate(changes):
            if number in above:
                yield Trial(change, self.figures, None)
            elif number in first:
                yield next(trials)

    def _in_full(self, changes: Sequence[Change], jobs: int, limit: Fraction | None) -> Iterator[Trial]:
        jobs = min(jobs, len(changes), len(changes) * self._size // _MIN_SHARED)
        if jobs < 2:
            yield from (self._trial(change, limit) for change in changes)
        elif self._may_fork:
            yield from self._forked(changes, jobs, limit)
        else:
            edits = [list(written((*self.made, change)).values()) for change in changes]
            answers = self._processes.answers(edits, jobs, limit)
            for change, answer in zip(changes, answers, strict=True):
                # A process may have ended, or cannot read the program; it knows nothing but edits.
                is_known = not change.rewrite and not change.passes
                yield self._answered(change, answer) if answer and is_known else self._trial(change, limit)

    def _forked(self, changes: Sequence[Change], jobs: int, limit: Fraction | None) -> Iterator[Trial]:
        from concurrent.futures import ProcessPoolExecutor  # noqa: PLC0415  slow to import
        from concurrent.futures.process import BrokenProcessPool  # noqa: PLC0415  slow to import
        from multiprocessing import get_context  # noqa: PLC0415  slow to import

        # What all need is there before they fork.
        assert self.outcome is not None
        _ = self._propagated
        pool = ProcessPoolExecutor(jobs, get_context("fork"), initializer=end_with, initargs=(os.getpid(),))
        answered = 0
        # One may be killed, as for the memory that all need together: the rest is tried here.
        with suppress(BrokenProcessPool), pool:
            # Processes get the program and the changes as they are when they fork, with the figures before.
            with _FORKED.set_to((self, changes, limit)):
                answers = pool.map(_try_shared, range(len(changes)))
            for answer in answers:
                answered += 1
                yield self._answered(changes[answered - 1], answer)
        yield from (self._trial(change, limit) for change in changes[answered:])

    def _answered(self, change: Change, answer: Answer) -> Trial:
        assert self.figures is not None
        figures, has_failed, shardings, sent = answer
        return Trial(change, self.figures, figures, has_failed, shardings, sent)

    def _trial(self, change: Change, limit: Fraction | None) -> Trial:
        assert self.figures is not None
        if limit is not None and change.op is not None:
            limit *= 1 + self.error
        return self._measured_trial(change, self._resumed(change) or self._from_start(change), limit)

    def in_full(self, trial: Trial) -> Trial:
        """The same trial by all passes, if it began after propagation."""
        made = (*self.made, trial.change)
        if self._propagated is None or any(map(is_unpredicted, made)):
            return trial
        if not self._propagated[0].is_resumed(list(written(made).values())):
            return trial
        return self._measured_trial(trial.change, self._from_start(trial.change), None)

    def _measured_trial(
        self, change: Change, prepared: tuple[Op | None, Pipeline] | None, limit: Fraction | None
    ) -> Trial:
        assert self.figures is not None
        if prepared is None:
            return Trial(change, self.figures, None)
        copy, passes = prepared
        before, after = _with_and_without_annotations(passes)
        if copy is None or not self._is_partitioned(copy, before):
            return Trial(change, self.figures, None, has_failed=True)
        # Half of the changes end in the program of another one, which is partitioned and measured once.
        program = key_of_program(copy)
        key = (None, program) if (None, program) in self._measured else (limit, program)
        if key not in self._measured:
            is_partitioned = self._is_partitioned(copy, after)
            measured = self._measure(copy, limit) if is_partitioned else None
            self._measured[limit if measured == _SLOWER else None, program] = measured
        else:
            measured = self._measured[key]
        if measured is None:
            return Trial(change, self.figures, None, has_failed=True)
        figures, shardings, sent = measured
        return Trial(change, self.figures, figures, shardings=shardings, sent=sent)

    def _measure(self, copy: Op, limit: Fraction | None) -> _Measured:
        """What is known of a program with collectives; nothing if it is above the limit."""
        report = report_unless(
            copy,
            self._machine,
            lambda report: self._is_above(report, limit),
            self._assumed,
            is_described=False,
        )
        if report is None:
            return _SLOWER
        return figures_of(report, copy, self._machine), shardings_of_results(copy), sent_by_place(report)

    def _from_start(self, change: Change) -> tuple[Op | None, Pipeline] | None:
        """A copy with a change, None if it is invalid, and the passes to run; None if nothing changes."""
        watch = ChangesWatch()
        try:
            with handling(lambda _: None):
                copy = self._changed((change,), {}, watch=watch)
                if not watch.has_changed:
                    return None
                is_valid = all(edit.is_boundary for edit in change.edits) or self._verifier.is_valid(copy)
        except DiagnosticError:
            is_valid = False
        return copy if is_valid else None, self._pipeline

    def _resumed(self, change: Change) -> tuple[Op | None, Pipeline] | None:
        """The same after propagation, in two thirds of the time; None if that is not known."""
        made = (*self.made, change)
        if self._propagated is None or any(map(is_unpredicted, made)):
            return None
        program, _ = self._propagated
        changed = program.changed(made)
        if changed is None:
            return None
        copy, edited = changed
        return copy if all(map(self._verifier.is_valid, edited)) else None, program.after

    def _is_partitioned(self, copy: Op, passes: Pipeline) -> bool:
        """Runs passes on a program; whether they succeed."""
        try:
            with handling(lambda _: None), keeping(self._kept):
                return run_pipeline(passes, copy, None)
        except DiagnosticError:
            return False

    def _is_above(self, report: Report, limit: Fraction | None) -> bool:
        assert report.time is not None
        communication, products = time_totals(report, report.time)
        seconds = communication.high + products.high + sum(seconds_of_unknown_loops(report, report.time))
        return limit is not None and seconds >= limit


def trials_on(
    module: Op,
    pipeline: Pipeline,
    machine: Topology | None = None,
    is_inlined: bool = True,
    *,
    may_fork: bool = True,
    make: Callable[[Op, Topology, AssumedTrips], CostedProgram] = CostedProgram,
    assumed: AssumedTrips = NONE_ASSUMED,
) -> Trials:
    """The trials on a copy of a program that is to be partitioned by a pipeline, with its calls inlined."""
    program = Rewriter().clone(module)
    if pipeline.elements and is_inlined:
        run_pipeline(pipeline_of(_BEFORE), program, None)
    return Trials(program, pipeline, machine, may_fork=may_fork, make=make, assumed=assumed)


def _with_and_without_annotations(passes: Pipeline) -> tuple[Pipeline, Pipeline]:
    """The passes up to the one after which only reshards depend on annotations; and those after it."""
    elements = passes.merged().elements
    index = next((number for number, element in enumerate(elements, 1) if _inserts_reshards(element)), 0)
    number = index or len(elements)
    return Pipeline(passes.anchor, elements[:number]), Pipeline(passes.anchor, elements[number:])


def _inserts_reshards(element: Pass | Pipeline) -> bool:
    if isinstance(element, Pipeline):
        return any(map(_inserts_reshards, element.elements))
    return element.flag == _INSERTS_RESHARDS


# What forked processes work on.
_FORKED = ContextPart[tuple[Trials, Sequence[Change], Fraction | None] | None](None)


def _try_shared(number: int) -> Answer:
    assert _FORKED.value is not None
    trials, changes, limit = _FORKED.value
    return trials._trial(changes[number], limit).answer()


def main() -> None:
    """Answers the requests of `TrialProcesses`, in a process of its own."""
    prepare()
    start: Start = pickle.load(sys.stdin.buffer)
    dialects = dialects_of_run()
    with following(start.release):
        module, _ = parse_module(Source("program", start.text), dialects, ParseOptions())
        trials = Trials(module, parse_pipeline(start.pipeline, lookup), start.topology)
        ops = list(module.walk())
        while True:
            try:
                placed, limit = pickle.load(sys.stdin.buffer)
            except EOFError:
                break
            trial = trials._trial(Change(tuple(edit_at(ops, *item) for item in placed)), limit)
            pickle.dump(trial.answer(), sys.stdout.buffer)
            sys.stdout.buffer.flush()


def work_of(program: Op) -> int:
    """How much work a trial of a program is, counted in operations on values of usual ranks."""
    work = 0
    for op in program.walk():
        work += 1 + op.signature.cached(_more_work)
    return work


def _more_work(signature: OpSignature) -> int:
    types = (*signature.operand_types, *signature.result_types)
    ranks = [type.rank for type in types if isinstance(type, RankedTensor)]
    return sum(max(0, rank - _USUAL_RANK) for rank in ranks)
