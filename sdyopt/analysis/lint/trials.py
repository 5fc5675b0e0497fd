"""Trials: changed copies of a program, partitioned again, to measure what a change saves.

saved = trials.saved_bytes(lambda copies, rewriter: rewriter.set_attribute(copies[op], "sharding", opened))
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import cached_property

from sdyopt.analysis.lint.completion import Completion, NotCompleted, Passes, is_complete
from sdyopt.analysis.lint.program import LintedProgram, bytes_of_runs
from sdyopt.asm.printer.asm_printer import print_op
from sdyopt.diagnostics.diagnostic import handling
from sdyopt.ir.operation import Op
from sdyopt.ir.rewrite import Rewriter

# All trials of one rule partition this many operations at most, but at least one trial runs.
MAX_OPERATIONS = 100_000
MAX_TRIALS = 8

# (operation -> its copy, rewriter of the copy): changes the copy.
Edit = Callable[[Mapping[Op, Op], Rewriter], None]


class Trials:
    """Trials on a program. `base` is None if it is partitioned already: there are no trials then."""

    def __init__(
        self, module: Op, completion: Completion, with_collectives: Callable[[], LintedProgram]
    ) -> None:
        self._completion = completion
        self.base = None if is_complete(module) else LintedProgram(module)
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

    def saved_bytes(self, edit: Edit | None = None, passes: Passes | None = None) -> Fraction | None:
        """The wire bytes of one device that an edit saves, and passes that run before partitioning.

        None if the changed program cannot be partitioned.
        """
        after = self._partitioned(edit, passes or {})
        return None if after is None else wire_bytes(self._with_collectives()) - wire_bytes(after)

    def has_no_effect(self, edit: Edit) -> bool:
        """Whether an edit leaves the partitioned program as it is."""
        after = self._partitioned(edit, {})
        return after is not None and print_op(after.module) == self._text

    @cached_property
    def _text(self) -> str:
        return print_op(self._with_collectives().module)

    def _partitioned(self, edit: Edit | None, passes: Passes) -> LintedProgram | None:
        """A copy of the program after an edit, then passes, with collectives; None if a pass fails."""
        assert self.base is not None
        rewriter = Rewriter()
        copy = rewriter.clone(self.base.module)
        if edit is not None:
            edit(dict(zip(self.base.module.walk(), copy.walk(), strict=True)), rewriter)
        try:
            with handling(lambda _: None):
                self._completion.run(copy, passes)
                return LintedProgram(self._completion.completed(copy))
        except NotCompleted:
            return None


def wire_bytes(program: LintedProgram) -> Fraction:
    """The wire bytes of one device in one run of a program, as far as they are known."""
    return sum(map(bytes_of_runs, program.report.collectives), Fraction(0))
