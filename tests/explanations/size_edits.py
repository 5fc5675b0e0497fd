"""Edits of meshes and of axes whose sizes do not divide a dimension."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import prod

from sdyopt.analysis.sharding_record.absences import Absence
from sdyopt.mlir.dialects.sdy.axes import AxisRef, difference
from sdyopt.mlir.dialects.sdy.mesh import Mesh, MeshAxis
from sdyopt.mlir.dialects.sdy.mesh_op import MeshOp
from sdyopt.mlir.dialects.sdy.sharding import DimensionSharding, MeshOrRef, fully_replicated
from sdyopt.mlir.dialects.sdy.value_shardings import DataFlowEdgeOp
from sdyopt.mlir.ir.attribute import SymbolRef
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.value import OpResult
from sdyopt.shardy.record import Subject
from sdyopt.shardy.sharding.axis_lists import Axes, sharded_size
from sdyopt.shardy.sharding.propagation.step_input import Reason
from tests.explanations.annotations import annotate, with_dim
from tests.explanations.competitor_edits import without_competitor
from tests.explanations.programs import Edit, Imported
from tests.explanations.undoing import Target, Undoing, axes_before, only_in_dim, replicated_along


def added_axis(absence: Absence) -> AxisRef | None:
    """The axis that takes the place of one whose size does not divide; None if none does."""
    for refusal in absence.refusals:
        if refusal.reason is Reason.NOT_DIVISIBLE or (
            refusal.reason is Reason.OVERFLOW and not refusal.conflicting
        ):
            return AxisRef(f"added_{absence.factor}")
    return None


def along_dividing_axis(undoing: Undoing) -> list[Edit]:
    """Shards the neighbor along an added axis whose size divides, in place of the one that does not.

    Another added axis shards the more major factors of the dimension fully.
    """
    absence, factor, rule = undoing.absence, undoing.absence.factor, undoing.site.rule
    added, position = added_axis(absence), absence.neighbor_position
    factors = list(rule.tensors)[position].dims[absence.neighbor_dim].factors
    major = factors[: factors.index(factor)]
    major_axes = tuple([axis for each in major for axis in undoing.axes_of(each, position)])
    own_axes = axes_before(undoing.axes_of(factor, position), undoing.refusal.axes)
    rest = _rest(prod(rule.factor_sizes[each] for each in major), major_axes, undoing.result.mesh)
    own_rest = _rest(rule.factor_sizes[factor], own_axes, undoing.result.mesh)
    if added is None or rest is None or own_rest is None or own_rest == 1:
        return []
    divisor = next(divisor for divisor in range(2, own_rest + 1) if own_rest % divisor == 0)
    new = [MeshAxis(f"{added.name}_major", rest)] if rest > 1 else []
    added_refs = [AxisRef(axis.name) for axis in new]
    dim = DimensionSharding((*major_axes, *added_refs, *own_axes, added), True)
    at_neighbor = replace(undoing, refusal=undoing.refusal._replace(culprit=position))
    return [
        *[_with_axis(undoing.mesh_or_ref, axis) for axis in (*new, MeshAxis(added.name, divisor))],
        *at_neighbor.annotate(
            lambda old: only_in_dim(with_dim(old, absence.neighbor_dim, dim), dim.axes, absence.neighbor_dim),
        ),
    ]


def _rest(size: int, axes: Axes, mesh: Mesh) -> int | None:
    """The size that axes leave; None if they do not divide it."""
    sharded = sharded_size(axes, mesh)
    return None if size % sharded else size // sharded


def without_overflow(undoing: Undoing) -> list[Edit]:
    """Drops the overflow axes of a tensor, where they come from or in the tensor."""
    if not undoing.refusal.conflicting:
        return along_dividing_axis(undoing)
    if undoing.target is Target.ANNOTATION:
        return without_competitor(undoing)
    sharding = undoing.site.shardings[undoing.position]
    assert sharding is not None
    mesh = undoing.result.mesh
    others = difference(undoing.refusal.conflicting, undoing.refusal.axes, mesh)
    dim = undoing.dim_of(undoing.refusal.factor)
    assert dim is not None
    kept = undoing.local(axes_before(sharding.dims[dim].axes, undoing.refusal.conflicting))
    new = DimensionSharding(kept, False)
    return undoing.annotate(lambda old: replicated_along(with_dim(old, dim, new), others, mesh))


def with_major_factor_sharded(undoing: Undoing) -> list[Edit]:
    """Shards the more major factors of the dimension fully, along an added axis."""
    factor, rule = undoing.refusal.factor, undoing.site.rule
    dim = undoing.dim_of(factor)
    assert dim is not None
    factors = list(rule.tensors)[undoing.position].dims[dim].factors
    major = factors[: factors.index(factor)]
    axes = tuple([axis for each in major for axis in undoing.axes_of(each, undoing.position)])
    rest = _rest(prod(rule.factor_sizes[each] for each in major), axes, undoing.result.mesh)
    if rest is None or rest == 1:
        return []
    added = MeshAxis(f"added_major_{factor}", rest)
    new = DimensionSharding((*undoing.local(axes), AxisRef(added.name)), False)
    return [
        _with_axis(undoing.mesh_or_ref, added),
        *undoing.annotate(lambda old: only_in_dim(with_dim(old, dim, new), new.axes, dim)),
    ]


def _with_axis(mesh_or_ref: MeshOrRef, axis: MeshAxis) -> Edit:
    """Adds an axis to a mesh of the program."""
    root = mesh_or_ref.root if isinstance(mesh_or_ref, SymbolRef) else None

    def edit(imported: Imported) -> None:
        for op in imported.ops:
            if isinstance(op, MeshOp) and op.sym_name == root:
                Rewriter().set_attribute(op, "mesh", Mesh((*op.mesh.axes, axis)))

    return edit


def on_one_mesh(undoing: Undoing) -> list[Edit]:
    """Gives the operands and results on other meshes than the neighbor open shardings on its mesh."""
    run, site, mesh_or_ref = undoing.program.run, undoing.absence.site, undoing.mesh_or_ref
    mesh = run.mesh_of(mesh_or_ref)
    edits: list[Edit] = []
    for subject in dict.fromkeys(site.subjects):
        sharding = None if subject is None else run.final.get(subject)
        if subject is None or sharding is None or run.mesh_of(sharding.mesh_or_ref) in (mesh, None):
            continue
        for each in _in_one_attribute(subject):
            edits += annotate(
                undoing.program,
                each,
                mesh_or_ref,
                lambda old: fully_replicated(old.rank, mesh_or_ref, is_closed=False),
            )
    return edits


def _in_one_attribute(subject: Subject) -> Sequence[Subject]:
    """The results whose shardings are in one attribute with that of a subject, and must be on one mesh."""
    if isinstance(subject, OpResult) and not isinstance(subject.op, DataFlowEdgeOp):
        return subject.op.results
    return [subject]
