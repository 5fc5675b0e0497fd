"""Trials: changed copies of a program, partitioned again, to measure what a change saves.

saved = trials.saved_bytes(lambda copies, rewriter: rewriter.set_attribute(copies[op], "sharding", opened))
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import cached_property
from typing import NamedTuple

from sdyopt.analysis.figures.units import bytes_text
from sdyopt.analysis.trials.completion import Completion, NotCompleted, Passes, is_complete
from sdyopt.analysis.trials.program import CostedProgram
from sdyopt.base.diagnostics.diagnostic import handling
from sdyopt.mlir.asm.printer.asm_printer import print_op
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.rewrite import Rewriter

# All trials of one rule partition this many operations at most, but at least one trial runs.
MAX_OPERATIONS = 100_000
MAX_TRIALS = 8

# (operation -> its copy, rewriter of the copy): changes the copy.
Edit = Callable[[Mapping[Op, Op], Rewriter], None]


class Effect(NamedTuple):
    """A program with collectives, before and after a change."""

    before: CostedProgram
    after: CostedProgram

    @property
    def text(self) -> str:
        """`a device sends 0 B (now 16 B), and its peak memory is 48 B (now 64 B)`."""
        wire = _figure(self.after.wire_bytes, self.before.wire_bytes)
        peak = _figure(self.after.peak_bytes, self.before.peak_bytes)
        return f"a device sends {wire}, and its peak memory is {peak}"

    @property
    def is_worse(self) -> bool:
        """Whether the changed program sends more or takes more memory."""
        return self.cost[0] > 0

    @property
    def cost(self) -> tuple[int, Fraction, int]:
        """What changes are compared by: how many figures become worse, the wire bytes, the peak memory."""
        before, after = self.before, self.after
        worse = (after.wire_bytes > before.wire_bytes) + (after.peak_bytes > before.peak_bytes)
        return worse, after.wire_bytes, after.peak_bytes


def _figure(after: Fraction | int, before: Fraction | int) -> str:
    return f"{bytes_text(after)} {'as before' if after == before else f'in place of {bytes_text(before)}'}"


class Trials:
    """Trials on a program. `base` is None if it is partitioned already: there are no trials then."""

    def __init__(
        self, module: Op, completion: Completion, with_collectives: Callable[[], CostedProgram]
    ) -> None:
        self._completion = completion
        self.base = None if is_complete(module) else CostedProgram(module)
        self._with_collectives = with_collectives

    @property
    def count(self) -> int:
        """How many trials a rule may make."""
        size = 0 if self.base is None else sum(1 for _ in self.base.module.walk())
        return max(1, min(MAX_TRIALS, MAX_OPERATIONS // max(size, 1)))

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
        after = self._partitioned(edit, passes or {})
        return None if after is None else Effect(self._with_collectives(), after)

    def saved_bytes(self, edit: Edit | None = None, passes: Passes | None = None) -> Fraction | None:
        """The wire bytes of one device that an edit saves, and passes that run before partitioning.

        None if the changed program cannot be partitioned.
        """
        effect = self.effect(edit, passes)
        return None if effect is None else effect.before.wire_bytes - effect.after.wire_bytes

    def has_no_effect(self, edit: Edit) -> bool:
        """Whether an edit leaves the partitioned program as it is."""
        after = self._partitioned(edit, {})
        return after is not None and print_op(after.module) == self._text

    @cached_property
    def _text(self) -> str:
        return print_op(self._with_collectives().module)

    def _partitioned(self, edit: Edit | None, passes: Passes) -> CostedProgram | None:
        """A copy of the program after an edit, then passes, with collectives; None if a pass fails."""
        assert self.base is not None
        rewriter = Rewriter()
        copy = rewriter.clone(self.base.module)
        if edit is not None:
            edit(dict(zip(self.base.module.walk(), copy.walk(), strict=True)), rewriter)
        try:
            with handling(lambda _: None):
                self._completion.run(copy, passes)
                self._completion.complete(copy)
                return CostedProgram(copy)
        except NotCompleted:
            return None
