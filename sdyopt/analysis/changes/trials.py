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
from collections.abc import Callable, Iterator, Sequence, Set
from contextlib import suppress
from fractions import Fraction
from functools import cached_property
from typing import Any, TypeVar

from sdyopt.analysis.changes.edits import Change, written
from sdyopt.analysis.changes.effect import (
    NOISE,
    CostedProgram,
    Effect,
    Figures,
    figures_of,
    seconds_of_unknown_loops,
)
from sdyopt.analysis.changes.estimates import Estimate, EstimatedCost, is_unpredicted
from sdyopt.analysis.changes.outcome import (
    ChangesWatch,
    PartitionedProgram,
    Results,
    Sent,
    key_of_program,
    sent_by_place,
    shardings_of_results,
    work_of,
)
from sdyopt.analysis.changes.prices import Prices
from sdyopt.analysis.changes.processes import Answer, Start, TrialProcesses, edit_at, prepare
from sdyopt.analysis.changes.propagated import Propagated, propagated
from sdyopt.analysis.changes.trial import Trial
from sdyopt.analysis.figures.assumed_pipeline import Passes, pipeline_of
from sdyopt.analysis.figures.execution_counts import NONE_ASSUMED, AssumedTrips, ExecutionCounts
from sdyopt.analysis.figures.figures import Report
from sdyopt.analysis.figures.program_report import report_unless
from sdyopt.analysis.figures.topology import Topology, likely_error
from sdyopt.analysis.figures.totals import time_totals
from sdyopt.base.context import ContextPart, keeping
from sdyopt.base.diagnostics.diagnostic import DiagnosticError, handling
from sdyopt.base.diagnostics.location import Source
from sdyopt.base.parent_process import end_with
from sdyopt.base.releases import following
from sdyopt.mlir.asm.parser.module_parser import ParseOptions, parse_module
from sdyopt.mlir.asm.printer.asm_printer import print_for_note
from sdyopt.mlir.asm.printer.attribute_printer import plain_type
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.value import Value
from sdyopt.mlir.ir.verify import Verifier
from sdyopt.mlir.pipeline.base import Pass
from sdyopt.mlir.pipeline.run import run_pipeline
from sdyopt.mlir.pipeline.tree import Pipeline, parse_pipeline
from sdyopt.mlir.registry import dialects_of_run, lookup

# All trials of one rule partition this many operations at most, but at least one trial runs.
MAX_OPERATIONS = 100_000
MAX_TRIALS = 8

T = TypeVar("T")

# What saves less than this share of the time by an estimate saves less than what pays.
_LEAST_SAVED = NOISE * Fraction(3, 4)
# In a smaller program, a trial takes little time, and estimates miss what few operations take together: so it
# need only be more than what numbers are rounded by. What is compared with another program than the one as it
# is, such as that after a change, may take this share longer.
LEAST_ESTIMATED, _ROUNDED, _MISSED = 400, Fraction(1, 10**8), Fraction(1, 20)
# The operations that each process has at least: two take a ninth more processor time than one for 6,600.
_MIN_SHARED = 3_000

# What stands for the estimate of a change that is not worth a trial.
_ABOVE = EstimatedCost(Fraction(0))

# Before trials, as in sdy-jax-pipeline: what they change must be there, and is processed only once.
_BEFORE: Passes = {"sdy-inline-unsharded-calls": {}, "cse": {}}


# After this pass, annotations that shard alike have led to equal programs.
_INSERTS_RESHARDS = "sdy-insert-explicit-reshards"


# (change, what it costs by its estimate) -> whether it may pay.
MayPay = Callable[[Change, EstimatedCost], bool]

# The figures, shardings of results and bytes by place of a program.
_Measured = tuple[Figures | None, Results | None, Sent | None]
# That of a program above the limit.
_SLOWER: _Measured = None, None, None


class Trials(PartitionedProgram):
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
        super().__init__(
            module, pipeline, machine, made, make, assumed, {} if before is None else before._kept
        )
        self._from = before
        self._may_fork = may_fork and hasattr(os, "fork")
        self._processes = processes or TrialProcesses(module, pipeline, self._machine)
        self._shared: dict[object, Any] = {}
        # By a limit, if the program is slower, and the program when its annotations are reshards; None if a
        # pass fails after that.
        self._measured: dict[object, _Measured | None] = {}

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

    @cached_property
    def _verifier(self) -> Verifier:
        dialects = dialects_of_run()
        return Verifier(dialects, plain_type, print_for_note)

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
        least = limit._replace(seconds=limit.seconds * share, at_most=limit.at_most * share_of_most)
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
        may_pay: MayPay | None = None,
    ) -> Iterator[Trial]:
        """The trials of changes, in their order. None is looked at closely that is above the limit, or that
        does not pay if it costs what is estimated.

        Of the others, the `most` with the lowest estimates are tried, half as many of those that have none,
        and all whose keys are `asked`.
        """
        below: list[tuple[Fraction, int]] = []
        unknown: tuple[list[int], list[int]] = [], []
        above: set[int] = set()
        # In a smaller program, an estimate misses too much for it.
        judge = may_pay if self._size >= LEAST_ESTIMATED else None
        for number, cost in enumerate(self._estimated(changes, limit)):
            if cost is None:
                # What is simplified away may be constrained at what it is computed from.
                unknown[self._is_simplified(changes[number])].append(number)
            elif cost is _ABOVE or (judge is not None and not judge(changes[number], cost)):
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
    after = (number for number, element in enumerate(elements, 1) if _inserts_reshards(element))
    number = next(after, len(elements))
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
