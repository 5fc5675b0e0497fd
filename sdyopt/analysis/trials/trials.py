"""Trials: changed copies of a program, partitioned again, to measure what a change saves.

saved = trials.saved_bytes(lambda copies, rewriter: rewriter.set_attribute(copies[op], "sharding", opened))
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum
from fractions import Fraction
from functools import cached_property
from typing import Any, NamedTuple, TypeVar

from sdyopt.analysis.figures.assumed_pipeline import PIPELINE
from sdyopt.analysis.figures.figures import Collective, Report, flop_totals
from sdyopt.analysis.figures.local_shapes import LocalShapes
from sdyopt.analysis.figures.program_report import report_on
from sdyopt.analysis.figures.stablehlo_collectives import is_partitioned
from sdyopt.analysis.figures.units import bytes_text, flops_text
from sdyopt.analysis.sharding_record.model import Run
from sdyopt.analysis.sharding_record.record import ShardingRecord
from sdyopt.analysis.trials.originals import Originals
from sdyopt.base.diagnostics.diagnostic import Diagnostic, Severity, emit, handling
from sdyopt.base.diagnostics.ids import ADVICE
from sdyopt.mlir.asm.printer.asm_printer import print_for_note, print_op
from sdyopt.mlir.asm.printer.attribute_printer import AttributePrinter
from sdyopt.mlir.dialects.sdy.canonicalization import COLLECTIVE_LABEL
from sdyopt.mlir.dialects.sdy.collectives import CollectiveOp
from sdyopt.mlir.dialects.sdy.ops import ReshardOp
from sdyopt.mlir.ir.dialect import DialectTable
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.value import BlockArgument, OpResult, Value
from sdyopt.mlir.ir.verify import Verifier
from sdyopt.mlir.ir.verify_incremental import IncrementalVerifier
from sdyopt.mlir.pipeline.option import OptionValue
from sdyopt.mlir.pipeline.run import run_pipeline
from sdyopt.mlir.pipeline.tree import Pipeline
from sdyopt.mlir.registry import lookup

# All remedies together are tried at most so often, and at least so often if the program is large.
MAX_REMEDIES, MIN_REMEDIES = 48, 3
# All trials of one rule partition this many operations at most, but at least one trial runs.
MAX_OPERATIONS = 100_000
MAX_TRIALS = 8

# (operation -> its copy, rewriter of the copy): changes the copy.
Edit = Callable[[Mapping[Op, Op], Rewriter], None]


T = TypeVar("T")


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
    def text(self) -> str:
        """The program as text, without locations."""
        return print_op(self.module)

    @cached_property
    def wire_bytes(self) -> Fraction:
        """The wire bytes of one device in one run of the program, as far as they are known."""
        return bytes_of_report(self.report)

    @property
    def peak_bytes(self) -> int:
        """The peak memory of one device."""
        return self.report.memory.peak

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


def bytes_of_report(report: Report) -> Fraction:
    """Wire bytes of one device, those of loops that run an unknown number of times for one iteration."""
    return sum(map(bytes_of_runs, report.collectives), Fraction(0))


class Effect(NamedTuple):
    """A program with collectives, before and after a change."""

    before: CostedProgram
    after: CostedProgram

    @property
    def is_none(self) -> bool:
        """Whether the changed program is the same."""
        return self.after.text == self.before.text

    @property
    def text(self) -> str:
        """`a device sends 0 B in place of 16 B, and its peak memory is 48 B as before`."""
        wire = _figure(bytes_text, self.after.wire_bytes, self.before.wire_bytes)
        peak = _figure(bytes_text, self.after.peak_bytes, self.before.peak_bytes)
        if self.after.flops == self.before.flops:
            return f"a device sends {wire}, and its peak memory is {peak}"
        flops = _figure(flops_text, self.after.flops, self.before.flops)
        return f"a device sends {wire}, its peak memory is {peak}, and it computes {flops}"

    @property
    def is_worse(self) -> bool:
        """Whether the changed program sends more, takes more memory or computes more."""
        return self.cost[0] > 0

    @property
    def cost(self) -> tuple[int, Fraction, int]:
        """The sort key of changes: how many figures become worse, the wire bytes, the peak memory."""
        before, after = self.before, self.after
        worse = (self.saved(Measure.WIRE) < 0) + (self.saved(Measure.FLOPS) < 0)
        worse += after.peak_bytes > before.peak_bytes
        return worse, after.wire_bytes, after.peak_bytes

    def saved(self, measure: Measure) -> Fraction:
        """By how much less one device sends, stores or computes; negative if it is more."""
        return self.before.measured(measure) - self.after.measured(measure)


def _figure(unit: Callable[[Fraction], str], after: Fraction | int, before: Fraction | int) -> str:
    text, earlier = unit(Fraction(after)), unit(Fraction(before))
    if after == before:
        return f"{text} as before"
    return f"{text} in place of {earlier}"


class Trials:
    """Trials on a program. `base` is None if it is partitioned already: there are no trials then.

    `make` makes of a program with collectives what has its figures.
    """

    def __init__(
        self, module: Op, completion: Completion, make: Callable[[Op], CostedProgram] = CostedProgram
    ) -> None:
        self._completion = completion
        self.module = module
        self.base = None if is_complete(module) else CostedProgram(module)
        self._make = make
        self._record = ShardingRecord()
        self._copies: dict[Value, Value] = {}
        self._shared: dict[object, Any] = {}

    @cached_property
    def with_collectives(self) -> CostedProgram:
        """The program with collectives. Raises NotCompleted if a pass fails."""
        if self.base is None:
            return self._make(self.module)
        with self._record.active():
            return self._make(self._completion.completed(self.module, self._copies))

    def shared(self, make: Callable[[Trials], T]) -> T:
        """The result of a function of these trials, computed once."""
        if make not in self._shared:
            self._shared[make] = make(self)
        made: T = self._shared[make]
        return made

    @cached_property
    def _size(self) -> int:
        return 0 if self.base is None else sum(1 for _ in self.base.module.walk())

    @property
    def count(self) -> int:
        """The number of trials that a rule may make."""
        return max(1, min(MAX_TRIALS, MAX_OPERATIONS // max(self._size, 1)))

    @property
    def total(self) -> int:
        """The number of trials that all remedies together may make."""
        return max(MIN_REMEDIES, min(MAX_REMEDIES, MAX_OPERATIONS // max(self._size, 1)))

    def written(self, value: Value) -> OpResult | BlockArgument | None:
        """The value before passes of one of the program with collectives; None if a pass created it."""
        return self._originals.value(value)

    @cached_property
    def _originals(self) -> Originals:
        assert self.with_collectives is not None
        values_before = {copy: value for value, copy in self._copies.items()}
        return Originals(self.module, self._record.values, values_before)

    @property
    def run(self) -> Run | None:
        """The record of propagation, whose subjects `written` maps; None if there was none."""
        assert self.with_collectives is not None
        return self._record.runs[-1] if self._record.runs else None

    def after(self, passes: Passes) -> Op:
        """A copy of the program after passes."""
        assert self.base is not None
        copy = Rewriter().clone(self.base.module)
        self._completion.run(copy, passes)
        return copy

    def effect(self, edit: Edit | None = None, passes: Passes | None = None) -> Effect | None:
        """The effects of an edit, and passes that run before partitioning.

        None if the changed program cannot be partitioned.
        """
        after = self.changed(edit, passes)
        return None if after is None else Effect(self.with_collectives, after)

    def saved_bytes(self, edit: Edit | None = None, passes: Passes | None = None) -> Fraction | None:
        """The wire bytes of one device that an edit saves, and passes that run before partitioning.

        None if the changed program cannot be partitioned.
        """
        effect = self.effect(edit, passes)
        return None if effect is None else effect.saved(Measure.WIRE)

    def changed(self, edit: Edit | None = None, passes: Passes | None = None) -> CostedProgram | None:
        """A copy of the program after an edit, then passes, with collectives; None if a pass fails."""
        assert self.base is not None
        rewriter = Rewriter()
        copy = rewriter.clone(self.base.module)
        if edit is not None:
            edit(dict(zip(self.base.module.walk(), copy.walk(), strict=True)), rewriter)
        try:
            with handling(lambda _: None):
                self._completion.run(copy, passes or {})
                self._completion.complete(copy)
                return CostedProgram(copy)
        except NotCompleted:
            return None


# Completes the pipeline of a program: a copy of it with explicit collectives.
#
# A program with sdy collectives has had its reshards inserted: the remaining ones are lowered. A partitioned
# program is complete. On any other program the pipeline runs that reports assume or, if passes are given,
# Shardy's own.


# Flag -> options.
Passes = Mapping[str, Mapping[str, OptionValue]]

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


def completing_passes(module: Op, has_passes: bool) -> Passes:
    """The passes that make the collectives of a program explicit, after those of the command line if any."""
    if _has(module, CollectiveOp):
        return _LOWER
    return _PROPAGATE if has_passes else _ASSUMED


def pipeline_of(passes: Passes) -> Pipeline:
    """Passes as a pipeline."""
    pipeline = Pipeline()
    for flag, options in passes.items():
        pipeline.add_nested(lookup(flag).create(options))
    return pipeline


class Completion:
    """Runs passes on copies of programs, and verifies them after each pass.

    `has_passes`: passes of the command line have run on the programs.
    """

    def __init__(self, dialects: DialectTable, has_passes: bool = False) -> None:
        self._has_passes = has_passes
        self._verifier = Verifier(dialects, AttributePrinter().type, print_for_note)

    def completed(self, module: Op, copies: dict[Value, Value] | None = None) -> Op:
        """A copy of a program with explicit collectives; the program itself if it is complete.

        `copies` gets the copy of each value, before passes replace it. Raises NotCompleted if a pass fails.
        """
        if is_complete(module):
            return module
        copy = Rewriter().clone(module, copies)
        self.complete(copy)
        return copy

    def complete(self, module: Op) -> None:
        """Makes the collectives of a program explicit. Raises NotCompleted if a pass fails."""
        if not is_complete(module):
            self.run(module, completing_passes(module, self._has_passes))

    def run(self, module: Op, passes: Passes) -> None:
        """Runs passes on a program. Raises NotCompleted if one fails; emits errors and advice."""
        pipeline = pipeline_of(passes)
        found: list[Diagnostic] = []
        with handling(found.append):
            succeeded = run_pipeline(pipeline, module, IncrementalVerifier(self._verifier))
        for diagnostic in found:
            if diagnostic.severity is Severity.ERROR or diagnostic.id in ADVICE:
                emit(diagnostic)
        if not succeeded:
            raise NotCompleted


def _has(module: Op, kind: type[Op]) -> bool:
    return any(isinstance(op, kind) for op in module.walk())
