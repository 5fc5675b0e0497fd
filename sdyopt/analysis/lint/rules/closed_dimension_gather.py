"""closed-dimension-gather: a closed dimension of a constraint forces an all-gather.

    %1 = sdy.sharding_constraint %0 <@mesh, [{"data"}, {}]> : tensor<64x4096xf32>

`%0` is sharded along `"model"` in dimension 1, and the users of `%1` could take it so. But the constraint
closes the dimension, so the value is gathered. In JAX, `None` in a `PartitionSpec` closes a dimension;
`P.UNCONSTRAINED` leaves it open.

The rule opens the dimension in a copy of the program, partitions it again, and reports the constraint if the
program then sends less. Write `{?}`, or `P.UNCONSTRAINED`, unless the value must be replicated.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction

from sdyopt.analysis.changes.edits import AnnotationEdit, Change, dims_text
from sdyopt.analysis.changes.effect import CostedProgram, Measure, bytes_of_runs
from sdyopt.analysis.changes.estimates import EstimatedCost
from sdyopt.analysis.figures.local_shapes import bytes_of
from sdyopt.analysis.figures.source_locations import source_location
from sdyopt.analysis.figures.units import bytes_text
from sdyopt.analysis.figures.user_lines import is_auto
from sdyopt.analysis.lint.program import LintedProgram
from sdyopt.analysis.lint.rule import MIN_WIRE_BYTES, Finding, LintedPrograms, Looks, Rule, rule
from sdyopt.base.diagnostics.diagnostic import Severity
from sdyopt.base.diagnostics.location import resolve_file_location
from sdyopt.mlir.dialects.sdy.collectives import AllGatherOp
from sdyopt.mlir.dialects.sdy.mesh import MeshAxis
from sdyopt.mlir.dialects.sdy.mesh_op import find_mesh
from sdyopt.mlir.dialects.sdy.ops import ShardingConstraintOp
from sdyopt.mlir.dialects.sdy.sharding import TensorSharding
from sdyopt.mlir.error_help.table import brackets, item
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.value import OpResult
from sdyopt.shardy.notation.partition_spec import specs_of


@rule("closed-dimension-gather", Severity.WARNING, Looks.TRIALS)
class ClosedDimensionGather(Rule):
    limits = MIN_WIRE_BYTES
    cost = "on the wire"

    def check(self, programs: LintedPrograms) -> Iterator[Finding]:
        trials = programs.trials
        if not trials.can_try or not _gathers(programs.with_collectives, self.limit("min_bytes")):
            return
        candidates, before = _candidates(trials.written_program), trials.figures
        if not candidates or before is None:
            return

        limit = EstimatedCost(before.seconds)

        def saved_by(opened: Sequence[tuple[ShardingConstraintOp, int]]) -> Fraction | None:
            """What is saved by a change with which the program is faster."""
            (trial,) = trials.of_changes([_opened(opened, trials.module)], 1, limit)
            return None if trial.figures is None else trial.effect.saved(Measure.WIRE)

        # Most programs need a single trial: if all together save nothing, none of them does alone.
        if not self._is_worth(saved_by(candidates)):
            return
        total = programs.with_collectives.wire_bytes
        for group in list(_by_place(candidates))[: trials.count]:
            saved = saved_by(group)
            if saved is None or not self._is_worth(saved):
                continue
            # One open dimension may be enough.
            tried = group if 1 < len(group) <= trials.count else []
            single = next(([pair] for pair in tried if saved_by([pair]) == saved), group)
            op, dim = single[0]
            dims = sorted({number for _, number in single})
            they, spec = "they are" if dims[1:] else "it is", specs_of(dims_text(op.sharding))
            yield Finding(
                op,
                f"this constraint to {spec} closes {_dims_text(dims)}, which forces a gather: if {they} "
                f"open, the program sends {bytes_text(saved)} less of {bytes_text(total)}",
                steps=(brackets("["), item(dim)),
                cost=saved,
                proposals=(_opened(single, trials.module),),
            )

    def _is_worth(self, saved: Fraction | None) -> bool:
        return bool(saved) and saved is not None and saved >= self.limit("min_bytes")


def _gathers(program: LintedProgram, least: Fraction) -> bool:
    """Whether a program gathers at least this many bytes."""
    sizes = [
        bytes_of_runs(collective)
        for op, collective in program.collectives.items()
        if isinstance(op, AllGatherOp)
    ]
    return bool(sizes) and sum(sizes, Fraction(0)) >= least


def _candidates(base: CostedProgram) -> list[tuple[ShardingConstraintOp, int]]:
    """The closed dimensions of constraints with a size divisible by an axis that the constraint does not use.

    Those of the largest values come first.
    """
    result = []
    for op in base.module.walk():
        if not isinstance(op, ShardingConstraintOp) or not is_auto(op):
            continue
        shape = base.shapes.shape_of(op.input.type, op.sharding)
        spare = _spare_axes(op.sharding, base)
        size = bytes_of(op.input.type, shape) or 0
        for dim, sharding in enumerate(op.sharding.dims):
            # JAX has no open dimension with axes.
            is_writable = not (sharding.axes and source_location(op.location).name_stack)
            is_divided = shape is not None and any(shape[dim] % axis.size == 0 for axis in spare)
            if sharding.is_closed and is_writable and is_divided:
                result.append((size, op, dim))
    return [(op, dim) for _, op, dim in sorted(result, key=lambda entry: -entry[0])]


def _by_place(
    candidates: list[tuple[ShardingConstraintOp, int]],
) -> Iterable[list[tuple[ShardingConstraintOp, int]]]:
    """The candidates in groups, each of one line of the user's program."""
    groups: dict[object, list[tuple[ShardingConstraintOp, int]]] = {}
    for op, dim in candidates:
        location = resolve_file_location(op.location)
        place = op if location is None else (location.file, location.line)
        groups.setdefault(place, []).append((op, dim))
    return groups.values()


def _dims_text(dims: list[int]) -> str:
    """`dimension 0`, `dimensions 0, 1 and 2`."""
    *first, last = map(str, dims)
    return f"dimensions {', '.join(first)} and {last}" if first else f"dimension {last}"


def _spare_axes(sharding: TensorSharding, base: CostedProgram) -> list[MeshAxis]:
    """The axes of the mesh that a sharding does not name."""
    mesh = base.shapes.mesh(sharding.mesh_or_ref)
    named = {axis.name for axis in sharding.axis_refs}
    return [axis for axis in (mesh.axes if mesh else ()) if axis.size > 1 and axis.name not in named]


def _opened(dimensions: Iterable[tuple[ShardingConstraintOp, int]], module: Op) -> Change:
    """Dimensions of constraints opened."""
    shardings: dict[ShardingConstraintOp, TensorSharding] = {}
    for op, dim in dimensions:
        sharding = shardings.get(op, op.sharding)
        dims = [
            dimension.opened() if dim == number else dimension
            for number, dimension in enumerate(sharding.dims)
        ]
        shardings[op] = sharding.with_dims(tuple(dims))
    edits = []
    for op, sharding in shardings.items():
        output, mesh = op.output, find_mesh(sharding.mesh_or_ref, module)
        assert isinstance(output, OpResult) and mesh is not None
        edits.append(AnnotationEdit(output, sharding, mesh))
    return Change(tuple(edits))
