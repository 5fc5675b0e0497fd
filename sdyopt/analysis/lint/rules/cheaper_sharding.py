"""cheaper-sharding: another annotation makes the program send, store or compute less.

    sdy.mesh @mesh = <["data"=2, "model"=4]>
    func.func @step(%k: tensor<16x2048x16x64xf32>
        {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}, {}, {}]>}, …)

Each device along `"model"` has a copy of the cache, although the heads are computed along `"model"`. With
`P('data', None, 'model')`, a device stores a quarter of it, and nothing is gathered.

The rule reports the best changes of annotations that go together, as `--advise` does, and that no other rule
has found something for: those that make the program faster, and neither its memory nor its FLOPs more than a
tenth larger. The search ends earlier than that of `--advise`; the summary says how many changes were not
tried. A program without findings may still have a better sharding.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from sdyopt.analysis.changes.edits import dims_text
from sdyopt.analysis.changes.effect import Measure
from sdyopt.analysis.changes.names import ChangeNames, inputs_first
from sdyopt.analysis.changes.trials import Trial
from sdyopt.analysis.figures.local_shapes import bytes_of
from sdyopt.analysis.figures.user_lines import constraint_text, is_out_sharding
from sdyopt.analysis.lint.rule import (
    MIN_WIRE_BYTES,
    Finding,
    LintedPrograms,
    Looks,
    Note,
    Rule,
    first_use,
    rule,
)
from sdyopt.base.diagnostics.diagnostic import Severity
from sdyopt.mlir.dialects.func import FuncOp
from sdyopt.mlir.dialects.sdy.ops import ShardingConstraintOp
from sdyopt.mlir.dialects.sdy.value_shardings import owning_op
from sdyopt.mlir.error_help.table import Narrowing, argument
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.value import BlockArgument
from sdyopt.mlir.value_names import argument_text, result_text
from sdyopt.shardy.notation.partition_spec import specs_of
from sdyopt.shardy.record import FunctionResult


@rule("cheaper-sharding", Severity.WARNING, Looks.TRIALS)
class CheaperSharding(Rule):
    limits = MIN_WIRE_BYTES
    cost = "saved"
    measures = (Measure.WIRE, Measure.MEMORY, Measure.FLOPS)

    def check(self, programs: LintedPrograms) -> Iterator[Finding]:
        if not programs.trials.can_try or not programs.with_collectives.report.is_sharded:
            return
        search = programs.search
        paying = {trial.change.key: trial for trial in search.ranked}
        together = search.together
        best = search.ranked[:1]
        if together is not None:
            # What does not pay alone is one change with the others.
            alone = [paying.get(part.key) for part in together.change.parts]
            best = [trial for trial in alone if trial is not None]
            best = best if None not in alone else [together]
        for trial in best:
            if trial.change.edits:
                yield _finding(trial, search.names)
        for trial in search.ranked:
            if (op := trial.change.op) is not None:
                cost = trial.before.wire_bytes - trial.after.wire_bytes
                yield Finding(op, "another collective saves {saved}", cost=cost, proposals=(trial.change,))


def _finding(trial: Trial, names: ChangeNames) -> Finding:
    edit = inputs_first(trial.change.edits)[0] if trial.change.title else trial.change.edits[0]
    subject = edit.subject
    what, message = "this value", ""
    if edit.is_new_constraint and names.is_of_jax:
        what = names.jax(edit.named)
    steps: tuple[Narrowing, ...] = ()
    notes: tuple[Note, ...] = ()
    op: Op = subject.function if isinstance(subject, FunctionResult) else owning_op(subject)
    if isinstance(op, ShardingConstraintOp):
        kind = constraint_text(op)
        now = edit._replace(sharding=op.sharding).spec if edit.replaced is op else dims_text(op.sharding)
        spec = specs_of(now)
        what = f"the {kind}, {spec}," if is_out_sharding(op) else f"this {kind} to {spec}"
        message = f"{what} is not the cheapest: another one saves {{saved}}"
    if isinstance(subject, FunctionResult):
        what = result_text(*subject)
    elif isinstance(subject, BlockArgument) and isinstance(op, FuncOp):
        what, steps = argument_text(op, subject.index), (argument(subject.index),)
        notes = first_use(subject)
    more = " and others" if trial.change.title and trial.change.edits[1:] else ""
    return Finding(
        op,
        message or f"another sharding of {what}{more} saves {{saved}}",
        steps=steps,
        notes=notes,
        cost=Fraction(bytes_of(subject.type) or 0),
        proposals=(trial.change,),
    )
