"""Trials: changed copies of a program, partitioned again, to measure what a change saves.

saved = trials.saved_bytes(lambda copies, rewriter: rewriter.set_attribute(copies[op], "sharding", opened))
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import cached_property
from typing import Any, NamedTuple, TypeVar

from sdyopt.analysis.figures.units import bytes_text, flops_text
from sdyopt.analysis.sharding_record.model import Run
from sdyopt.analysis.sharding_record.record import ShardingRecord
from sdyopt.analysis.trials.completion import Completion, NotCompleted, Passes, is_complete
from sdyopt.analysis.trials.program import CostedProgram, Measure
from sdyopt.base.diagnostics.diagnostic import handling
from sdyopt.mlir.asm.printer.asm_printer import print_op
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.value import BlockArgument, OpResult, Value

# All trials of one rule partition this many operations at most, but at least one trial runs.
MAX_OPERATIONS = 100_000
MAX_TRIALS = 8
# All remedies together are tried at most so often, and at least so often if the program is large.
MAX_REMEDIES, MIN_REMEDIES = 48, 3

# (operation -> its copy, rewriter of the copy): changes the copy.
Edit = Callable[[Mapping[Op, Op], Rewriter], None]

T = TypeVar("T")


class Effect(NamedTuple):
    """A program with collectives, before and after a change."""

    before: CostedProgram
    after: CostedProgram

    @property
    def text(self) -> str:
        """`a device sends 0 B in place of 16 B, and its peak memory is 48 B as before`."""
        wire = _figure(bytes_text, self.after.wire_bytes, self.before.wire_bytes)
        peak = _figure(bytes_text, self.after.peak_bytes, self.before.peak_bytes)
        before, after = self.before.held_bytes, self.after.held_bytes
        if after > before and self.after.peak_bytes <= self.before.peak_bytes:
            peak += f" ({_figure(bytes_text, after, before)} with arguments live to the end)"
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
        """What changes are compared by: how many figures become worse, the wire bytes, the peak memory."""
        before, after = self.before, self.after
        worse = (self.saved(Measure.WIRE) < 0) + (self.saved(Measure.FLOPS) < 0)
        worse += after.peak_bytes > before.peak_bytes or after.held_bytes > before.held_bytes
        return worse, after.wire_bytes, after.peak_bytes

    def saved(self, measure: Measure) -> Fraction:
        """How much less one device sends, stores or computes; negative if it is more."""
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
        """What a function makes of these trials, made once."""
        if make not in self._shared:
            self._shared[make] = make(self)
        made: T = self._shared[make]
        return made

    @cached_property
    def _size(self) -> int:
        return 0 if self.base is None else sum(1 for _ in self.base.module.walk())

    @property
    def count(self) -> int:
        """How many trials a rule may make."""
        return max(1, min(MAX_TRIALS, MAX_OPERATIONS // max(self._size, 1)))

    @property
    def total(self) -> int:
        """How many trials all remedies together may make."""
        return max(MIN_REMEDIES, min(MAX_REMEDIES, MAX_OPERATIONS // max(self._size, 1)))

    def written(self, value: Value) -> OpResult | BlockArgument | None:
        """What a value of the program with collectives was before passes; None if a pass created it."""
        assert self.with_collectives is not None
        values = self._record.values
        for each in (value, *values.predecessors(value)):
            for original in values.originals(each):
                for earlier in (original, *values.predecessors(original)):
                    if (found := self._originals.get(earlier)) is not None:
                        return found
        return None

    @cached_property
    def _originals(self) -> dict[Value, OpResult | BlockArgument]:
        return {
            copy: value for value, copy in self._copies.items() if isinstance(value, OpResult | BlockArgument)
        }

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
        """What an edit changes, and passes that run before partitioning.

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

    def has_no_effect(self, edit: Edit) -> bool:
        """Whether an edit leaves the partitioned program as it is."""
        after = self.changed(edit)
        return after is not None and print_op(after.module) == self._text

    @cached_property
    def _text(self) -> str:
        return print_op(self.with_collectives.module)

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
