"""A program with the figures of its report, which are computed when they are first needed."""

from __future__ import annotations

from enum import Enum
from fractions import Fraction
from functools import cached_property

from sdyopt.analysis.figures.figures import Collective, Report
from sdyopt.analysis.figures.local_shapes import LocalShapes
from sdyopt.analysis.figures.program_report import report_on
from sdyopt.analysis.figures.totals import flop_totals
from sdyopt.mlir.ir.operation import Op


class Measure(Enum):
    """A figure that a change is meant to reduce, in the words after its amount."""

    WIRE = "on the wire"
    MEMORY = "of peak memory"
    FLOPS = "of compute"


class CostedProgram:
    """A module that no longer changes."""

    def __init__(self, module: Op) -> None:
        self.module = module

    @cached_property
    def report(self) -> Report:
        """The report on the program, which has all figures."""
        return report_on(self.module)

    @cached_property
    def shapes(self) -> LocalShapes:
        return LocalShapes(self.module)

    @cached_property
    def wire_bytes(self) -> Fraction:
        """The wire bytes of one device in one run of the program, as far as they are known."""
        return sum(map(bytes_of_runs, self.report.collectives), Fraction(0))

    @property
    def peak_bytes(self) -> int:
        """The peak memory of one device."""
        return self.report.memory.peak

    @property
    def held_bytes(self) -> int:
        """The peak memory of one device if arguments stay live to the end."""
        return self.report.memory.peak_with_arguments

    @cached_property
    def flops(self) -> Fraction:
        """The FLOPs of one device in one run of the program, as far as they are known."""
        return flop_totals(self.report)[0].high

    def measured(self, measure: Measure) -> Fraction:
        """One of the figures."""
        if measure is Measure.WIRE:
            return self.wire_bytes
        return Fraction(self.peak_bytes) if measure is Measure.MEMORY else self.flops


def bytes_of_runs(each: Collective) -> Fraction:
    """Wire bytes of one device in all runs of a collective, in one run if their number is unknown."""
    runs = 1 if each.times is None else each.times.high
    return (each.wire_bytes or Fraction(0)) * runs
