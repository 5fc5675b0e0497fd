"""Edits of annotations in an imported program."""

from __future__ import annotations

from collections.abc import Callable

from sdyopt.mlir.dialects.sdy.axes import ManualAxes
from sdyopt.mlir.dialects.sdy.mesh import SHARDING
from sdyopt.mlir.dialects.sdy.ops import ManualComputationOp, ShardingGroupOp
from sdyopt.mlir.dialects.sdy.sharding import (
    DimensionSharding,
    MeshOrRef,
    ShardingPerValue,
    TensorSharding,
    fully_replicated,
)
from sdyopt.mlir.dialects.sdy.sharding_edits import set_sharding
from sdyopt.mlir.dialects.sdy.value_shardings import DataFlowEdgeOp, owning_op, rank_of, sharding_of
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.value import BlockArgument, OpResult
from sdyopt.shardy.record import FunctionResult, Subject
from tests.explanations.programs import Edit, Imported, Recorded

Change = Callable[[TensorSharding], TensorSharding]


def change_annotation(program: Recorded, subject: Subject | None, change: Change) -> list[Edit]:
    """Changes the annotation of a subject, if it has one."""
    return _edit(program, subject, change, None)


def annotate(program: Recorded, subject: Subject | None, mesh: MeshOrRef, change: Change) -> list[Edit]:
    """Like `change_annotation`; a subject without one gets a changed fully open sharding on `mesh`."""
    return _edit(program, subject, change, mesh)


def with_dim(sharding: TensorSharding, dim: int, new: DimensionSharding) -> TensorSharding:
    """The sharding with another sharding of one dimension."""
    dims = list(sharding.dims)
    dims[dim] = new
    return sharding.with_dims(tuple(dims))


def _edit(program: Recorded, subject: Subject | None, change: Change, mesh: MeshOrRef | None) -> list[Edit]:
    number = None if subject is None else program.number(subject)
    if number is None:
        return []

    def edit(imported: Imported) -> None:
        found = imported.subject(number)
        if isinstance(found, FunctionResult):
            _edit_result(found, change, mesh)
            return
        # All members of a sharding group have one annotation.
        members = [found, *(member for member in _group(imported, found) if member is not found)]
        annotated = [sharding for member in members if (sharding := sharding_of(member)) is not None]
        for member in members:
            old = sharding_of(member) or next(iter(annotated), None) or _open(member, mesh)
            if old is not None:
                _set(member, change(old), change)

    return [edit]


def _edit_result(result: FunctionResult, change: Change, mesh: MeshOrRef | None) -> None:
    function, index = result
    old = function.result_attributes[index].get(SHARDING)
    if old is None and mesh is not None:
        old = fully_replicated(rank_of(function.function_type.results[index]), mesh, is_closed=False)
    if isinstance(old, TensorSharding):
        Rewriter().set_result_attribute(function, index, SHARDING, change(old))


def _open(value: OpResult | BlockArgument, mesh: MeshOrRef | None) -> TensorSharding | None:
    return None if mesh is None else fully_replicated(rank_of(value.type), mesh, is_closed=False)


def _group(imported: Imported, value: OpResult | BlockArgument) -> list[OpResult | BlockArgument]:
    """The members of the sharding groups of a value."""
    ops = [op for op in imported.ops if isinstance(op, ShardingGroupOp)]
    ids = {op.group_id for op in ops if op.input is value}
    members = [op.input for op in ops if op.group_id in ids]
    return [member for member in members if isinstance(member, OpResult | BlockArgument)]


def _set(value: OpResult | BlockArgument, sharding: TensorSharding, change: Change) -> None:
    set_sharding(value, sharding, Rewriter())
    op = owning_op(value)
    if isinstance(op, DataFlowEdgeOp):
        _change_manual(op, change)


def _change_manual(edge: DataFlowEdgeOp, change: Change) -> None:
    """Changes the sharding of a manual computation from which an edge has replicated and unreduced axes."""
    owner = edge.input
    assert isinstance(owner, OpResult | BlockArgument)
    op = owning_op(owner)
    if isinstance(op, ManualComputationOp):
        is_input = isinstance(owner, BlockArgument)
        shardings = list(op.in_shardings if is_input else op.out_shardings)
        old = shardings[owner.index]
        shardings[owner.index] = _with_manual_axes_of(old, change(old), op.manual_axes)
        name = "in_shardings" if is_input else "out_shardings"
        Rewriter().set_attribute(op, name, ShardingPerValue(tuple(shardings)))


def _with_manual_axes_of(old: TensorSharding, new: TensorSharding, manual: ManualAxes) -> TensorSharding:
    """The new sharding, with the manual axes of the old one: the types in the body depend on them."""
    dims = []
    for old_dim, new_dim in zip(old.dims, new.dims, strict=True):
        kept = [axis for axis in old_dim.axes if axis.name in manual]
        free = [axis for axis in new_dim.axes if axis.name not in manual]
        dims.append(DimensionSharding((*kept, *free), new_dim.is_closed, new_dim.priority))
    return new.with_dims(tuple(dims))
