"""cheaper-sharding: another annotation makes the program send, store or compute less.

    sdy.mesh @mesh = <["data"=2, "model"=4]>
    func.func @step(%k: tensor<16x2048x16x64xf32>
        {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}, {}, {}]>}, …)

Each device along `"model"` has a copy of the cache, although the heads are computed along `"model"`. With
`P('data', None, 'model')`, a device stores a quarter of it, and nothing is gathered.

The rule tries changes of the annotations in copies of the program: axes of an input, a result or a constraint
in another dimension, one axis more or less, a constraint removed, and a new constraint on a large value that
lacks an axis that its neighbors have. The inputs and results of one shape and one sharding change together,
and so do the constraints of one line. It reports those that save a tenth of the wire bytes or of the peak
memory and make no figure worse, unless XLA may lose more than they save by moving whole tensors. Each finding
is tried with the changes of those before it.

The largest values are tried first, until the trials are used up. A program without findings may still have a
better sharding.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import islice

from sdyopt.analysis.figures.local_shapes import bytes_of
from sdyopt.analysis.lint.proposals import Proposals, axes_of, names_of
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
from sdyopt.analysis.sharding_record.absences import absences
from sdyopt.analysis.trials.annotation_edits import is_input, place_of
from sdyopt.analysis.trials.effect import Measure
from sdyopt.analysis.trials.remedies import Remedy
from sdyopt.analysis.trials.trials import Trials
from sdyopt.base.diagnostics.diagnostic import Severity
from sdyopt.mlir.dialects.func import FuncOp
from sdyopt.mlir.dialects.sdy.ops import ShardingConstraintOp
from sdyopt.mlir.dialects.sdy.value_shardings import owning_op
from sdyopt.mlir.error_help.table import Narrowing, argument
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.value import BlockArgument, OpResult
from sdyopt.mlir.value_names import argument_text, result_text
from sdyopt.shardy.record import FunctionResult, Subject

# So many groups of annotations, and so many values without one, are tried, each with so many changes.
_GROUPS, _VALUES, _CHANGES = 6, 4, 10
# Of so many values, the reasons for missing axes are looked at.
_LOOKED_AT = 200


@rule("cheaper-sharding", Severity.WARNING, Looks.TRIALS)
class CheaperSharding(Rule):
    limits = MIN_WIRE_BYTES
    cost = "saved"
    measures = (Measure.WIRE, Measure.MEMORY)

    def check(self, programs: LintedPrograms) -> Iterator[Finding]:
        trials = programs.trials
        if not trials.can_try or not programs.with_collectives.report.is_sharded:
            return
        proposals = Proposals.of(trials)
        if proposals.mesh is None:
            return
        for value, remedies in _of_values(trials, proposals):
            yield _finding(value, remedies)
        for constraints in proposals.constraints[:_GROUPS]:
            changes = [proposals.removed(constraints), *proposals.swapped(list(constraints))]
            yield _finding(constraints[0], changes)
        for group in proposals.boundary[:_GROUPS]:
            different = {each.text: each for each in _of_boundary(group, proposals)}
            yield _finding(group[0], list(islice(different.values(), _CHANGES)))


def _of_boundary(group: Sequence[Subject], proposals: Proposals) -> Iterator[Remedy]:
    """Changes of the axes of inputs and results."""
    assert proposals.mesh is not None
    _, mesh = proposals.mesh
    # Axes of size one change nothing; of others, a tensor has few.
    named = [name for names in axes_of(group[0]) for name in names if mesh.axis_size(name) > 1]
    spare = [axis.name for axis in mesh.axes if axis.size > 1 and axis.name not in named]
    yield from proposals.swapped(group)
    for axis in spare:
        yield from proposals.with_axis(group, axis)
    for axis in named:
        for other in spare:
            yield from proposals.replaced(group, axis, other)
    for axis in named:
        yield from proposals.without_axis(group, axis)


def _of_values(trials: Trials, proposals: Proposals) -> Iterator[tuple[Subject, list[Remedy]]]:
    """Large values that lack an axis of a neighbor, each with the sharding with that axis."""
    run = trials.run
    if run is None:
        return
    seen: set[object] = set()
    sized = [(bytes_of(each.type) or 0, each) for each in run.final if isinstance(each, OpResult)]
    largest = sorted(sized, key=lambda pair: -pair[0])[:_LOOKED_AT]
    order = {subject: number for number, subject in enumerate(run.final)}
    found = 0
    for size, subject in sorted(largest, key=lambda pair: (-pair[0], order[pair[1]])):
        key = subject.type, run.final[subject]
        written = trials.written(subject)
        if not size or key in seen or written is None or is_input(written):
            continue
        remedies: dict[object, Remedy] = {}
        for absence in absences(run, subject):
            neighbor = run.final.get(absence.neighbor)
            if absence.dim < 0 or neighbor is None or absence.axis.sub_axis is not None:
                continue
            like = [axis.name for axis in neighbor.dims[absence.neighbor_dim].axes]
            own = run.final[subject]
            kept = [[name for name in names if name not in like] for names in names_of(own, subject.type)]
            axes = [*kept[: absence.dim], like, *kept[absence.dim + 1 :]]
            for each in proposals.remedy([place_of(written)], axes):
                remedies.setdefault((each.text, each.sdy), each)
        if remedies:
            seen.add(key)
            found += 1
            yield written, list(remedies.values())[:_CHANGES]
        if found == _VALUES:
            return


def _finding(subject: Subject, remedies: Sequence[Remedy]) -> Finding:
    what = "this value"
    steps: tuple[Narrowing, ...] = ()
    notes: tuple[Note, ...] = ()
    op: Op = subject.function if isinstance(subject, FunctionResult) else owning_op(subject)
    if isinstance(op, ShardingConstraintOp):
        what = "this constraint"
    if isinstance(subject, FunctionResult):
        what = result_text(*subject)
    elif isinstance(subject, BlockArgument) and isinstance(op, FuncOp):
        what, steps = argument_text(op, subject.index), (argument(subject.index),)
        notes = first_use(subject)
    return Finding(
        op,
        f"another sharding of {what} saves {{saved}}",
        steps=steps,
        notes=notes,
        cost=Fraction(bytes_of(subject.type) or 0),
        remedies=remedies,
        is_better_only=True,
    )
