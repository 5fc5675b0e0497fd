"""Tries moves: edits a copy of the program, runs the pipeline on it, and reads the figures of the result.

    search = Search(program, pipeline, topology)
    for trial in search.trials(moves, jobs, limit): ...

Trials do not depend on each other, so processes share them; the order of the results is that of the moves,
so the number of processes does not change them. Processes fork, or start a Python each if this one may have
threads.
"""

from __future__ import annotations

import os
import pickle
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from fractions import Fraction
from functools import cached_property
from multiprocessing import get_context
from typing import NamedTuple

from sdyopt.analysis.figures.boundary import is_of_argument, is_result_reshard
from sdyopt.analysis.figures.causes import consumers
from sdyopt.analysis.figures.execution_counts import NONE_ASSUMED, AssumedTrips
from sdyopt.analysis.figures.figures import Report, TimeEstimate, flop_totals, time_totals, useful_share
from sdyopt.analysis.figures.flops import FLOPS
from sdyopt.analysis.figures.local_shapes import bytes_of
from sdyopt.analysis.figures.product_collectives import counted_collectives
from sdyopt.analysis.figures.program_report import report_on, report_unless
from sdyopt.analysis.figures.topology import Topology, time_estimate
from sdyopt.analysis.sharding_record.record import ShardingRecord
from sdyopt.analysis.trials.moves import Move, written
from sdyopt.analysis.trials.originals import Originals
from sdyopt.analysis.trials.outcome import Outcome, Results, shardings_of_results
from sdyopt.analysis.trials.processes import Start, TrialProcesses, prepare
from sdyopt.analysis.trials.trials import bytes_of_report, bytes_of_runs
from sdyopt.base.diagnostics.diagnostic import DiagnosticError, handling
from sdyopt.base.diagnostics.location import Source
from sdyopt.base.releases import following
from sdyopt.mlir.asm.parser.module_parser import ParseOptions, parse_module
from sdyopt.mlir.dialects.sdy.collectives import AllSliceOp, CollectiveOp
from sdyopt.mlir.ir.dialect import DialectTable
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.value import Value
from sdyopt.mlir.pipeline.run import run_pipeline
from sdyopt.mlir.pipeline.tree import Pipeline, parse_pipeline
from sdyopt.mlir.registry import all_dialects, find_dialect, lookup


class Figures(NamedTuple):
    """The figures that advice compares. Bytes are those of one device.

    `seconds` are those of collectives, products and elementwise operations, which are fused and do not
    overlap; `compute` are those without collectives. `conflicts` are the wire bytes of activations that are
    resharded, `penalty` the seconds that these may take if a partitioner moves whole tensors instead, and
    `of_results` the wire bytes of results that are resharded. `sliced` are the bytes of arguments of which a
    product takes a slice, where a partitioner may rather gather the other operand. `carried` are the bytes
    that are sent between two steps at most, because results are sharded otherwise than the donated arguments
    that they become, and `carrying` the seconds for them.
    """

    seconds: Fraction
    compute: Fraction
    flops: Fraction
    wire_bytes: Fraction
    peak_bytes: int
    useful_share: Fraction | None
    conflicts: Fraction
    penalty: Fraction
    of_results: Fraction
    sliced: int
    carried: int
    carrying: Fraction


class Trial(NamedTuple):
    """A move with the figures of the program after it; None if it is slower, or if `has_failed`.

    It has failed if the pipeline fails on the changed program. `results` are the shardings of its results.
    """

    move: Move
    figures: Figures | None
    has_failed: bool = False
    results: Results | None = None


class Search:
    """Trials on one program, after moves that are made first. The program is not changed."""

    def __init__(
        self,
        module: Op,
        pipeline: Pipeline,
        topology: Topology,
        made: tuple[Move, ...] = (),
        may_fork: bool = True,
        processes: TrialProcesses | None = None,
        assumed: AssumedTrips = NONE_ASSUMED,
    ) -> None:
        self.module = module
        self._pipeline = pipeline
        self._topology = topology
        self.made = made
        self._may_fork = may_fork and hasattr(os, "fork")
        self._processes = processes or TrialProcesses(module, pipeline, topology)
        self._assumed = assumed

    def after(self, move: Move) -> Search:
        """The trials after one more move."""
        made = (*self.made, move)
        return Search(self.module, self._pipeline, self._topology, made, self._may_fork, self._processes)

    @cached_property
    def base(self) -> tuple[Figures, Outcome] | None:
        """The figures of the program as it is, and what becomes of its values; None if the pipeline fails."""
        copies: dict[Value, Value] = {}
        copy = self._changed((), copies)
        values = {after: before for before, after in copies.items()}
        record = ShardingRecord()
        with record.active():
            if not self._is_partitioned(copy):
                return None
        report = report_on(copy, self._topology)
        originals = Originals(self.module, record.values, values)
        return self.figures(report, copy), Outcome(copy, report, originals)

    @cached_property
    def results(self) -> Results:
        """The shardings of the results of the program as it is."""
        return {} if self.base is None else shardings_of_results(self.base[1].module)

    def trials(self, moves: Sequence[Move], jobs: int, limit: Fraction | None) -> Iterator[Trial]:
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
        global _shared
        # Processes get the program and the moves as they are when they fork.
        _shared = (self, moves, limit)
        with ProcessPoolExecutor(jobs, mp_context=get_context("fork")) as pool:
            for move, trial in zip(moves, pool.map(_try_shared, range(len(moves))), strict=True):
                yield Trial(move, *trial)

    def _trial(self, move: Move, limit: Fraction | None) -> Trial:
        copy = self.changed(move)
        if not self._is_partitioned(copy):
            return Trial(move, None, has_failed=True)
        report = report_unless(
            copy, self._topology, lambda report: self._is_above(report, limit), self._assumed
        )
        if report is None:
            return Trial(move, None)
        return Trial(move, self.figures(report, copy), results=shardings_of_results(copy))

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
        seconds = communication.high + products.high + sum(_seconds_of_unknown_loops(report, report.time))
        return limit is not None and seconds >= limit

    def changed(self, *moves: Move) -> Op:
        """A copy of the program with the annotations of moves, after those that are made first."""
        return self._changed(moves, {})

    def _changed(self, moves: Sequence[Move], values: dict[Value, Value]) -> Op:
        rewriter = Rewriter()
        copy = rewriter.clone(self.module, values)
        copies = dict(zip(self.module.walk(), copy.walk(), strict=True))
        for change in written((*self.made, *moves)).values():
            change.edit(copies, rewriter)
        return copy

    def figures(self, report: Report, module: Op) -> Figures:
        """The figures of a program after the passes."""
        time = report.time or time_estimate(report, self._topology)
        communication, products = time_totals(report, time)
        fused, _ = time.elementwise or (Fraction(0), Fraction(0))
        conflicts = penalty = of_results = Fraction(0)
        sliced = 0
        topology = self._topology.on(report.mesh)
        for op, each in zip(counted_collectives(module), report.collectives, strict=True):
            if isinstance(op, CollectiveOp) and is_result_reshard(op):
                of_results += bytes_of_runs(each)
            if isinstance(op, AllSliceOp) and is_of_argument(op) and _is_for_product(op):
                sliced += each.bytes_in or 0
            if each.wire_bytes and each.is_activation:
                runs = 1 if each.times is None else each.times.high
                conflicts += bytes_of_runs(each)
                bandwidth = topology.link(each.axis_names).bandwidth
                if bandwidth is not None:
                    penalty += Fraction(_global_bytes(op)) * runs / bandwidth
        carried = sum(each.wire_bytes or 0 for each in report.carried)
        slowest = topology.link(topology.links).bandwidth
        sending, computing = _seconds_of_unknown_loops(report, time)
        compute = products.high + computing + fused
        return Figures(
            communication.high + sending + compute,
            compute,
            flop_totals(report)[0].high,
            bytes_of_report(report),
            report.memory.peak,
            useful_share(report),
            conflicts,
            penalty,
            of_results,
            sliced,
            carried,
            carried / slowest if slowest else Fraction(0),
        )


def _seconds_of_unknown_loops(report: Report, time: TimeEstimate) -> tuple[Fraction, Fraction]:
    """The seconds of one run of collectives and products that run an unknown number of times."""
    collectives = zip(report.collectives, time.collectives, strict=True)
    products = zip(report.products, time.products, strict=True)
    sending = (timed.seconds or Fraction(0) for each, timed in collectives if each.times is None)
    computing = (timed.seconds or Fraction(0) for each, timed in products if each.times is None)
    return sum(sending, Fraction(0)), sum(computing, Fraction(0))


def _is_for_product(op: Op) -> bool:
    return any(type(user) in FLOPS for user in consumers(op))


def _global_bytes(op: Op) -> int:
    return bytes_of(op.result_types[0]) or 0


# What forked processes work on.
_shared: tuple[Search, Sequence[Move], Fraction | None]


def _try_shared(number: int) -> tuple[Figures | None, bool, Results | None]:
    search, moves, limit = _shared
    trial = search._trial(moves[number], limit)
    return trial.figures, trial.has_failed, trial.results


def main() -> None:
    """Answers the requests of `TrialProcesses`, in a process of its own."""
    prepare()
    start: Start = pickle.load(sys.stdin.buffer)
    dialects = DialectTable(find_dialect, all_dialects)
    with following(start.release):
        module, _ = parse_module(Source("program", start.text), dialects, ParseOptions())
        search = Search(module, parse_pipeline(start.pipeline, lookup), start.topology)
        ops = list(module.walk())
        while True:
            try:
                placed, limit = pickle.load(sys.stdin.buffer)
            except EOFError:
                break
            trial = search._trial(Move(tuple(each.found(ops) for each in placed), ()), limit)
            pickle.dump((trial.figures, trial.has_failed, trial.results), sys.stdout.buffer)
            sys.stdout.buffer.flush()
