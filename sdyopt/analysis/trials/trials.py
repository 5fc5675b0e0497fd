"""Trials: a program with a change, partitioned again, to measure what the change saves.

trials = Trials(program, pipeline, topology)
trials.effect(lambda copies, rewriter: rewriter.set_attribute(copies[op], "sharding", opened))
for trial in trials.of_moves(moves, jobs, limit): ...

Each trial edits a copy of the program, runs the pipeline on it, and reads the figures of the result. Several
processes may try moves; the results come in the order of the moves, so they do not depend on the number of
processes. These fork, or start a Python each if this process may have threads.
"""

from __future__ import annotations

import os
import pickle
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from fractions import Fraction
from functools import cached_property
from multiprocessing import get_context
from typing import Any, NamedTuple, TypeVar

from sdyopt.analysis.figures.assumed_pipeline import PIPELINE
from sdyopt.analysis.figures.execution_counts import NONE_ASSUMED, AssumedTrips
from sdyopt.analysis.figures.figures import Report
from sdyopt.analysis.figures.program_report import report_unless
from sdyopt.analysis.figures.stablehlo_collectives import is_partitioned
from sdyopt.analysis.figures.topology import Topology, assumed_topology
from sdyopt.analysis.figures.totals import time_totals
from sdyopt.analysis.sharding_record.model import Run
from sdyopt.analysis.sharding_record.record import ShardingRecord
from sdyopt.analysis.trials.effect import (
    CostedProgram,
    Effect,
    Figures,
    Measure,
    figures_of,
    seconds_of_unknown_loops,
)
from sdyopt.analysis.trials.moves import Move, written
from sdyopt.analysis.trials.originals import Originals
from sdyopt.analysis.trials.outcome import Outcome, Results, shardings_of_results
from sdyopt.analysis.trials.processes import Start, TrialProcesses, prepare
from sdyopt.base.context import Part
from sdyopt.base.diagnostics.diagnostic import Diagnostic, DiagnosticError, Severity, emit, handling
from sdyopt.base.diagnostics.ids import ADVICE
from sdyopt.base.diagnostics.location import Source
from sdyopt.base.releases import following
from sdyopt.mlir.asm.parser.module_parser import ParseOptions, parse_module
from sdyopt.mlir.asm.printer.asm_printer import print_for_note
from sdyopt.mlir.asm.printer.attribute_printer import AttributePrinter
from sdyopt.mlir.dialects.sdy.canonicalization import COLLECTIVE_LABEL
from sdyopt.mlir.dialects.sdy.collectives import CollectiveOp
from sdyopt.mlir.dialects.sdy.ops import ReshardOp
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.types import RankedTensor
from sdyopt.mlir.ir.value import BlockArgument, OpResult, Value
from sdyopt.mlir.ir.verify import Verifier
from sdyopt.mlir.pipeline.option import OptionValue
from sdyopt.mlir.pipeline.run import run_pipeline
from sdyopt.mlir.pipeline.tree import Pipeline, parse_pipeline
from sdyopt.mlir.registry import dialects_of_run, lookup

# All remedies together are tried at most so often, and at least so often if the program is large.
MAX_REMEDIES, MIN_REMEDIES = 48, 3
# All trials of one rule partition this many operations at most, but at least one trial runs.
MAX_OPERATIONS = 100_000
MAX_TRIALS = 8

# A value of more dimensions takes as long as an operation more for each of them.
_USUAL_RANK = 16

# (operation -> its copy, rewriter of the copy): changes the copy.
Edit = Callable[[Mapping[Op, Op], Rewriter], None]
# Flag -> options.
Passes = Mapping[str, Mapping[str, OptionValue]]

T = TypeVar("T")

_ASSUMED: Passes = {PIPELINE: {}}
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


def completing_pipeline(module: Op, has_passes: bool = False) -> Pipeline:
    """The passes that make collectives explicit, after those of the command line if any.

    Empty if it has its collectives. If its reshards were inserted, the remaining ones are lowered. On any
    other program the pipeline runs that reports assume or, after passes, Shardy's own.
    """
    if is_complete(module):
        return Pipeline()
    if _has(module, CollectiveOp):
        return pipeline_of(_LOWER)
    return pipeline_of(_PROPAGATE if has_passes else _ASSUMED)


def pipeline_of(passes: Passes) -> Pipeline:
    """Passes as a pipeline."""
    pipeline = Pipeline()
    for flag, options in passes.items():
        pipeline.add_nested(lookup(flag).create(options))
    return pipeline


class Trial(NamedTuple):
    """A move with the figures of the program after it; None if it is slower, or if `has_failed`.

    It has failed if the pipeline fails on the changed program. `results` are the shardings of its results.
    """

    move: Move
    figures: Figures | None
    has_failed: bool = False
    results: Results | None = None


class Trials:
    """Trials on one program, after moves that are made first. The program is not changed.

    `make` makes of a program with collectives what has its figures.
    """

    def __init__(
        self,
        module: Op,
        pipeline: Pipeline,
        machine: Topology | None = None,
        *,
        made: tuple[Move, ...] = (),
        may_fork: bool = True,
        processes: TrialProcesses | None = None,
        make: Callable[[Op], CostedProgram] = CostedProgram,
        assumed: AssumedTrips = NONE_ASSUMED,
    ) -> None:
        self.module = module
        self._pipeline = pipeline
        self._machine = machine or assumed_topology()
        self.made = made
        self._may_fork = may_fork and hasattr(os, "fork")
        self._processes = processes or TrialProcesses(module, pipeline, self._machine)
        self._make = make
        self._assumed = assumed
        self._record = ShardingRecord()
        self._copies: dict[Value, Value] = {}
        self._shared: dict[object, Any] = {}

    # --- The program without a change -----------------------------------------------------------------

    @property
    def can_try(self) -> bool:
        """Whether a change may have an effect: the program does not have its collectives already."""
        return bool(self._pipeline.elements)

    @cached_property
    def written_program(self) -> CostedProgram:
        """The program before the passes."""
        return CostedProgram(self.module, self._machine)

    @cached_property
    def with_collectives(self) -> CostedProgram:
        """The program with collectives. Raises NotCompleted if a pass fails; emits errors and advice."""
        if not self.can_try:
            return self._make(self.module)
        copy = self._edited((), self._copies)
        found: list[Diagnostic] = []
        with self._record.active(), handling(found.append):
            succeeded = run_pipeline(self._pipeline, copy, None)
        for diagnostic in found:
            if diagnostic.severity is Severity.ERROR or diagnostic.id in ADVICE:
                emit(diagnostic)
        if not succeeded:
            raise NotCompleted
        return self._make(copy)

    @cached_property
    def outcome(self) -> Outcome | None:
        """The program with collectives, and what becomes of its values; None if a pass fails."""
        try:
            with handling(lambda _: None):
                found = self.with_collectives
        except (NotCompleted, DiagnosticError):
            return None
        return Outcome(found, self.originals)

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
    def run(self) -> Run | None:
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
    def total(self) -> int:
        """The number of trials that all remedies together may make."""
        return max(MIN_REMEDIES, min(MAX_REMEDIES, MAX_OPERATIONS // max(self._size, 1)))

    # --- One change -----------------------------------------------------------------------------------

    def after(self, move: Move) -> Trials:
        """The trials after one more move."""
        return Trials(
            self.module,
            self._pipeline,
            self._machine,
            made=(*self.made, move),
            may_fork=self._may_fork,
            processes=self._processes,
            assumed=self._assumed,
        )

    def edited(self, *moves: Move, edit: Edit | None = None, passes: Passes | None = None) -> Op:
        """A copy of the program with the annotations of moves, after an edit and passes."""
        copy = self._edited(moves, {}, edit)
        if passes:
            run_pipeline(pipeline_of(passes), copy, None)
        return copy

    @cached_property
    def _verifier(self) -> Verifier:
        dialects = dialects_of_run()
        return Verifier(dialects, AttributePrinter().type, print_for_note)

    def _edited(self, moves: Sequence[Move], values: dict[Value, Value], edit: Edit | None = None) -> Op:
        rewriter = Rewriter()
        copy = rewriter.clone(self.module, values)
        copies = dict(zip(self.module.walk(), copy.walk(), strict=True))
        for change in written((*self.made, *moves)).values():
            change.edit(copies, rewriter)
        if edit is not None:
            edit(copies, rewriter)
        return copy

    def changed(self, edit: Edit | None = None, passes: Passes | None = None) -> CostedProgram | None:
        """A copy of the program after an edit and passes, with collectives; None if a pass fails."""
        with handling(lambda _: None):
            try:
                copy = self.edited(edit=edit, passes=passes)
                # Such as a constraint along an axis that is manual there.
                is_valid = self._verifier.is_valid(copy)
            except DiagnosticError:
                return None
        return CostedProgram(copy, self._machine) if is_valid and self._is_partitioned(copy) else None

    def effect(self, edit: Edit | None = None, passes: Passes | None = None) -> Effect | None:
        """The effect of an edit, and passes that run first; None if a pass fails."""
        after = self.changed(edit, passes)
        return None if after is None else Effect(self.with_collectives.figures, after.figures)

    def saved_bytes(self, edit: Edit | None = None, passes: Passes | None = None) -> Fraction | None:
        """The wire bytes of one device that an edit saves; None if a pass fails."""
        effect = self.effect(edit, passes)
        return None if effect is None else effect.saved(Measure.WIRE)

    # --- Many moves -----------------------------------------------------------------------------------

    def of_moves(self, moves: Sequence[Move], jobs: int, limit: Fraction | None) -> Iterator[Trial]:
        """The trials of moves, in their order. None is looked at closely that takes `limit` seconds."""
        if jobs == 1 or len(moves) < 2:
            yield from (self._trial(move, limit) for move in moves)
        elif self._may_fork:
            yield from self._forked(moves, jobs, limit)
        else:
            changes = [list(written((*self.made, move)).values()) for move in moves]
            answers = self._processes.answers(changes, jobs, limit)
            for move, answer in zip(moves, answers, strict=True):
                # A process may have ended, or cannot read the program.
                yield self._trial(move, limit) if answer is None else Trial(move, *answer)

    def _forked(self, moves: Sequence[Move], jobs: int, limit: Fraction | None) -> Iterator[Trial]:
        with ProcessPoolExecutor(jobs, mp_context=get_context("fork")) as pool:
            # Processes get the program and the moves as they are when they fork.
            with _FORKED.set_to((self, moves, limit)):
                trials = pool.map(_try_shared, range(len(moves)))
            for move, trial in zip(moves, trials, strict=True):
                yield Trial(move, *trial)

    def _trial(self, move: Move, limit: Fraction | None) -> Trial:
        copy = self.edited(move)
        is_valid = all(change.is_boundary for change in move.changes) or self._verifier.is_valid(copy)
        if not is_valid or not self._is_partitioned(copy):
            return Trial(move, None, has_failed=True)
        report = report_unless(
            copy, self._machine, lambda report: self._is_above(report, limit), self._assumed
        )
        if report is None:
            return Trial(move, None)
        return Trial(move, figures_of(report, copy, self._machine), results=shardings_of_results(copy))

    def _is_partitioned(self, copy: Op) -> bool:
        """Runs the passes on a program; whether they succeed."""
        try:
            with handling(lambda _: None):
                return run_pipeline(self._pipeline, copy, None)
        except DiagnosticError:
            return False

    def _is_above(self, report: Report, limit: Fraction | None) -> bool:
        assert report.time is not None
        communication, products = time_totals(report, report.time)
        seconds = communication.high + products.high + sum(seconds_of_unknown_loops(report, report.time))
        return limit is not None and seconds >= limit


# What forked processes work on.
_FORKED = Part[tuple[Trials, Sequence[Move], Fraction | None] | None](None)


def _try_shared(number: int) -> tuple[Figures | None, bool, Results | None]:
    assert _FORKED.value is not None
    trials, moves, limit = _FORKED.value
    trial = trials._trial(moves[number], limit)
    return trial.figures, trial.has_failed, trial.results


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
            trial = trials._trial(Move(tuple(each.found(ops) for each in placed), ()), limit)
            pickle.dump((trial.figures, trial.has_failed, trial.results), sys.stdout.buffer)
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
