"""cheaper-sharding: another annotation makes the program send, store or compute less.

    sdy.mesh @mesh = <["data"=2, "model"=4]>
    func.func @step(%k: tensor<16x2048x16x64xf32>
        {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}, {}, {}]>}, …)

Each device along `"model"` has a copy of the cache, although the heads are computed along `"model"`. With
`P('data', None, 'model')`, a device stores a quarter of it, and nothing is gathered.

The rule reports the places of `--check` that a change helps, with the same words and figures, and that no
other rule has found something for: changes that make the program faster, and neither its memory nor its
FLOPs more than a tenth larger. It also reports what helps in a shard_map and cannot be tried, such as other
in_specs. The summary says how many changes were tried, and how many not. A program without findings may
still have a better sharding.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from sdyopt.analysis.changes.effect import Measure
from sdyopt.analysis.changes.names import inputs_first
from sdyopt.analysis.changes.trial import Trial
from sdyopt.analysis.lint.rule import (
    MIN_WIRE_BYTES,
    SAVED,
    Finding,
    LintedPrograms,
    Looks,
    Note,
    Rule,
    first_use,
    rule,
)
from sdyopt.analysis.report.check.check_text import sent_and_why
from sdyopt.analysis.report.check.checker import first_untried
from sdyopt.analysis.report.check.trial_text import memory_title
from sdyopt.base.diagnostics.diagnostic import Severity
from sdyopt.mlir.dialects.func import FuncOp
from sdyopt.mlir.dialects.sdy.value_shardings import owning_op
from sdyopt.mlir.error_help.table import Narrowing, argument
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.value import BlockArgument
from sdyopt.shardy.record import FunctionResult

# The columns that the reason has, as in a check: a terminal folds it.
_WIDTH = 90


@rule("cheaper-sharding", Severity.WARNING, Looks.TRIALS)
class CheaperSharding(Rule):
    limits = MIN_WIRE_BYTES
    cost = SAVED
    measures = (Measure.WIRE, Measure.MEMORY, Measure.FLOPS)

    def check(self, programs: LintedPrograms) -> Iterator[Finding]:
        program = programs.with_collectives
        if not programs.trials.can_try or not program.report.is_sharded:
            return
        check = programs.check
        op_of = {collective.number: op for op, collective in program.collectives.items()}
        untried = first_untried(check.places)
        for place in check.places:
            largest, line = place.largest, place.largest.location
            at = line if line.line and line.name_stack else None
            message = sent_and_why(check, place, _WIDTH)
            if place in untried:
                yield Finding(op_of[largest.number], message, help=place.untried, place=at, is_kept=True)
            elif place.best is not None and not place.shared:
                ops = tuple(op_of[item.number] for part in place.parts for item in part.collectives)
                cost = place.best.before.wire_bytes - place.best.after.wire_bytes
                yield Finding(op_of[largest.number], message, cost=cost, collectives=ops, place=at)
        if (memory := check.memory_place) is not None:
            message = f"{memory_title(memory)}: {memory.reason}"
            yield _finding(memory.trial, message)
        if check.elsewhere is not None:
            yield _finding(check.elsewhere, "the program is faster")


def _finding(trial: Trial, message: str) -> Finding:
    """The finding of a change of no line that sends something, where it is written."""
    saved = Fraction(trial.effect.saved(Measure.MEMORY))
    if trial.change.op is not None:
        return Finding(trial.change.op, message, cost=saved, proposals=(trial.change,))
    subject = inputs_first(trial.change.edits)[0].subject
    op: Op = subject.function if isinstance(subject, FunctionResult) else owning_op(subject)
    steps: tuple[Narrowing, ...] = ()
    notes: tuple[Note, ...] = ()
    if isinstance(subject, BlockArgument) and isinstance(op, FuncOp):
        steps, notes = (argument(subject.index),), first_use(subject)
    return Finding(op, message, steps=steps, notes=notes, cost=saved, proposals=(trial.change,))
