"""Tries moves: edits a copy of the program, runs the pipeline on it, and reads the figures of the result.

    search = Search(program, pipeline, machine)
    for trial in search.ranked(moves): ...

Trials do not depend on each other, so processes share them where the system can fork; the order of the
results is that of the moves, so the number of processes does not change them.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from fractions import Fraction
from functools import cached_property
from multiprocessing import get_context
from typing import NamedTuple

from sdyopt.analysis.advise.moves import Move
from sdyopt.analysis.advise.outcome import Outcome
from sdyopt.analysis.figures.figures import Report, time_totals, useful_share, wire_total
from sdyopt.analysis.figures.local_shapes import bytes_of
from sdyopt.analysis.figures.product_collectives import COLLECTIVES
from sdyopt.analysis.figures.program_report import report_on
from sdyopt.analysis.figures.topology import Topology
from sdyopt.base.diagnostics.diagnostic import DiagnosticError, handling
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.pipeline.run import run_pipeline
from sdyopt.mlir.pipeline.tree import Pipeline


class Figures(NamedTuple):
    """The figures that advice compares. Bytes are those of one device; `seconds` are estimated.

    `conflicts` are the wire bytes of activations that are resharded, and `penalty` the seconds that these
    may take if a partitioner moves whole tensors instead.
    """

    seconds: Fraction
    wire_bytes: Fraction
    peak_bytes: int
    useful_share: Fraction | None
    conflicts: Fraction
    penalty: Fraction


class Trial(NamedTuple):
    """A move with the figures of the program after it; None if the pipeline fails on the changed program."""

    move: Move
    figures: Figures | None


class Search:
    """Trials on one program. The program is not changed."""

    def __init__(self, module: Op, pipeline: Pipeline, topology: Topology) -> None:
        self._module = module
        self._pipeline = pipeline
        self._topology = topology

    @cached_property
    def base(self) -> tuple[Figures, Outcome] | None:
        """The figures of the program as it is, and what becomes of its values; None if the pipeline fails."""
        return self._result(())

    def trials(self, moves: Sequence[Move], jobs: int) -> Iterator[Trial]:
        """The trials of moves, in their order."""
        if jobs > 1 and hasattr(os, "fork") and len(moves) > 1:
            yield from self._forked(moves, jobs)
            return
        for move in moves:
            yield Trial(move, self.figures_after((move,)))

    def _forked(self, moves: Sequence[Move], jobs: int) -> Iterator[Trial]:
        global _shared
        # Processes get the program and the moves as they are when they fork.
        _shared = (self, moves)
        with ProcessPoolExecutor(jobs, mp_context=get_context("fork")) as pool:
            for move, figures in zip(moves, pool.map(_try_shared, range(len(moves))), strict=True):
                yield Trial(move, figures)

    def figures_after(self, moves: Iterable[Move]) -> Figures | None:
        """The figures of the program after moves; None if the pipeline fails on it."""
        result = self._result(moves)
        return None if result is None else result[0]

    def _result(self, moves: Iterable[Move]) -> tuple[Figures, Outcome] | None:
        copy = self.changed(moves)
        try:
            with handling(lambda _: None):
                if not run_pipeline(self._pipeline, copy, None):
                    return None
                report = report_on(copy, self._topology)
                return self._figures(report, copy), Outcome(copy, report)
        except DiagnosticError:
            return None

    def changed(self, moves: Iterable[Move]) -> Op:
        """A copy of the program with the annotations of moves."""
        rewriter = Rewriter()
        copy = rewriter.clone(self._module)
        copies = dict(zip(self._module.walk(), copy.walk(), strict=True))
        for move in moves:
            for change in move.changes:
                change.edit(copies, rewriter)
        return copy

    def _figures(self, report: Report, module: Op) -> Figures:
        assert report.time is not None
        communication, compute = time_totals(report, report.time)
        conflicts = penalty = Fraction(0)
        collectives = (op for op in module.walk() if isinstance(op, COLLECTIVES))
        for op, each in zip(collectives, report.collectives, strict=True):
            if each.wire_bytes and each.is_activation:
                runs = 1 if each.times is None else each.times.high
                conflicts += each.wire_bytes * runs
                bandwidth = self._topology.link(each.axis_names).bandwidth
                if bandwidth is not None:
                    penalty += Fraction(_global_bytes(op)) * runs / bandwidth
        return Figures(
            communication.high + compute.high + self._seconds_of_unknown_loops(report),
            wire_total(report).high,
            report.memory.peak,
            useful_share(report),
            conflicts,
            penalty,
        )

    def _seconds_of_unknown_loops(self, report: Report) -> Fraction:
        """The seconds of one run of what runs an unknown number of times."""
        assert report.time is not None
        collectives = zip(report.collectives, report.time.collectives, strict=True)
        products = zip(report.products, report.time.products, strict=True)
        seconds = [
            *(timed.seconds for each, timed in collectives if each.times is None),
            *(timed.seconds for product, timed in products if product.times is None),
        ]
        return sum((each for each in seconds if each is not None), Fraction(0))


def _global_bytes(op: Op) -> int:
    return bytes_of(op.result_types[0]) or 0


# What forked processes work on.
_shared: tuple[Search, Sequence[Move]]


def _try_shared(number: int) -> Figures | None:
    search, moves = _shared
    return search.figures_after((moves[number],))
