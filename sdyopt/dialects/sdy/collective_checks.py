"""What has to hold for a collective: that its out_sharding is what it makes of the operand's."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from typing import Any

from sdyopt.asm.printer.attribute_printer import plain_attribute
from sdyopt.dialects.sdy.axes import AxisRef, axis_ref_text, axis_refs_text, sorted_and_merged, with_axes
from sdyopt.dialects.sdy.axis_lists import AllToAllParam, AllToAllParams, AxesPerDim, AxisRefList
from sdyopt.dialects.sdy.mesh import Mesh
from sdyopt.dialects.sdy.mesh_op import mesh_of
from sdyopt.dialects.sdy.sharding import DimensionSharding, TensorSharding
from sdyopt.dialects.sdy.sharding_checks import SeenAxes, check_sharding
from sdyopt.dialects.sdy.value_shardings import rank_of, sharding_of, sharding_or_replicated
from sdyopt.ir.operation import Op

# (number of a dimension, its sharding, axes to work along) -> the axes that shard it afterwards.
_Apply = Callable[[int, DimensionSharding, Iterable[AxisRef]], tuple[AxisRef, ...]]


def check_collective(op: Any, allows_missing_sharding: bool, allows_different_meshes: bool) -> None:
    """What holds for all collectives: the operand has a sharding, and both are alike in mesh and rank."""
    operand: TensorSharding | None = sharding_of(op.tensor)
    if operand is None and not allows_missing_sharding:
        raise op.op_error("collective on operand without sharding")
    mesh = check_sharding(op, op.out_sharding, op.signature.result_types[0], op.op_error)
    if operand is None:
        return
    if not allows_different_meshes:
        operand_mesh = mesh_of(operand, op)
        if operand_mesh is not None and operand_mesh is not mesh:
            raise _mesh_error(op, "result mesh does not match operand mesh", operand_mesh)
    if op.out_sharding.rank != operand.rank:
        raise op.op_error(
            f"result sharding has rank {op.out_sharding.rank} but operand sharding has rank {operand.rank}"
        )


def check_gather(op: Any, axes: AxesPerDim, word: str) -> None:
    """Taking axes from the end of each dimension gives the result."""
    mesh = _mesh(op)

    def apply(number: int, dim: DimensionSharding, axes: Iterable[AxisRef]) -> tuple[AxisRef, ...]:
        return _gathered(op, number, dim, tuple(axes), mesh, word)

    _check_axes_per_dim(op, axes, apply, mesh)


def check_slice(op: Any, axes: AxesPerDim) -> None:
    """Adding axes at the end of each dimension gives the result."""
    mesh = _mesh(op)
    _check_axes_per_dim(op, axes, lambda number, dim, axes: with_axes(dim.axes, axes, mesh), mesh)


def check_unreduced(op: Any, axes: Iterable[AxisRef], words: str) -> None:
    """The unreduced axes of operand and operation together are those of the result."""
    operand = sharding_of(op.tensor)
    assert operand is not None
    expected = sorted_and_merged(chain(operand.unreduced_axes, axes), _mesh(op))
    if expected != op.out_sharding.unreduced_axes:
        raise op.op_error(f"out_unreduced_axes should be in_unreduced_axes + {words}")


def check_replicated_to_unreduced(op: Any, axes: AxisRefList) -> None:
    """Axes along which there were copies are added to the unreduced ones, and nothing else changes."""
    operand = sharding_of(op.tensor)
    assert operand is not None
    if operand.dims != op.out_sharding.dims:
        raise op.op_error("input and output must share the same dimension shardings")
    if not axes:
        raise op.op_error("r2u axes must not be empty")
    _check_list(op, axes, "r2u")
    dim_axes = [axis for dim in operand.dims for axis in dim.axes]
    for axis in axes:
        _check_no_overlap(op, "r2u", axis, dim_axes, "operand dimension sharding")
        _check_no_overlap(op, "r2u", axis, operand.unreduced_axes, "operand unreduced axes")
    check_unreduced(op, axes, "r2u_axes")


def check_all_reduce(op: Any, axes: AxisRefList) -> None:
    """Nothing but unreduced axes changes, and the axes were not in use otherwise."""
    out = op.out_sharding
    operand = sharding_or_replicated(op.tensor, out.mesh_or_ref)
    if not operand.is_equivalent(out):
        raise op.op_error("operand and result shardings are not equivalent")
    _check_list(op, axes, "reduction")
    taken = [axis for dim in operand.dims for axis in dim.axes] + list(operand.replicated_axes)
    for axis in axes:
        words = "operand dimension sharding or replicated axes"
        _check_no_overlap(op, "reduction", axis, taken, words)
        _check_no_overlap(op, "reduction", axis, out.unreduced_axes, "result unreduced axes")


def check_permute(op: Any) -> None:
    """Each dimension stays split into as many parts, and another mesh has its devices in another order."""
    operand, out = sharding_of(op.tensor), op.out_sharding
    assert operand is not None
    mesh, operand_mesh = _mesh(op), mesh_of(operand, op)
    assert operand_mesh is not None
    if mesh.axes != operand_mesh.axes:
        raise _mesh_error(op, "result mesh has different axes than operand mesh", operand_mesh)
    if operand.mesh_or_ref is not out.mesh_or_ref and mesh.device_ids == operand_mesh.device_ids:
        message = "result mesh name is different but same device ids as operand"
        raise _mesh_error(op, message, operand_mesh)
    for number, (before, after) in enumerate(zip(operand.dims, out.dims, strict=True)):
        if before.axes != after.axes and before.sharded_size(mesh) != after.sharded_size(mesh):
            raise op.op_error(
                f"sharded size of result doesn't match operand on dimension {number}: "
                f"{after.sharded_size(mesh)} != {before.sharded_size(mesh)}"
            )


def check_all_to_all(op: Any, params: AllToAllParams) -> None:
    """Moving axes from source to target dimensions gives the result, and other dimensions stay."""
    if not params:
        raise op.op_error("parameter list is empty")
    _check_moves(op, params)
    operand, mesh = sharding_of(op.tensor), _mesh(op)
    assert operand is not None
    for move in params:
        source = _gathered(op, move.source, operand.dims[move.source], move.axes, mesh, "all-to-all")
        _check_dim(op, move.source, source)
        _check_dim(op, move.target, with_axes(operand.dims[move.target].axes, move.axes, mesh))
    for number, dim in enumerate(operand.dims):
        if number not in params.touched_dims:
            _check_dim(op, number, dim.axes)


def _check_moves(op: Any, params: AllToAllParams) -> None:
    rank = rank_of(op.signature.result_types[0])
    seen_axes, seen_dims = SeenAxes(_mesh(op)), set[int]()
    previous = -1
    for move in params:
        _raise_if(op, seen_axes.list_problem(move.axes))
        for dim, word in ((move.source, "source"), (move.target, "target")):
            if not 0 <= dim < rank:
                raise op.op_error(f"{word} dimension {dim} is out of range [0, {rank})")
        _check_new_dims(op, move, seen_dims)
        if previous >= move.source:
            raise op.op_error(
                f"source dimensions are not sorted in ascending order: {move.source} appears after {previous}"
            )
        previous = move.source


def _check_new_dims(op: Op, move: AllToAllParam, seen: set[int]) -> None:
    for dim in (move.source, move.target):
        if dim in seen:
            raise op.op_error(f"overlapping source/target dimensions in all-to-all params: {dim}")
        seen.add(dim)


# --- Parts ----------------------------------------------------------------------------------------


def _mesh(op: Any) -> Mesh:
    """The mesh of the result, which has been found before."""
    mesh = mesh_of(op.out_sharding, op)
    assert mesh is not None
    return mesh


def _mesh_error(op: Any, message: str, operand_mesh: Mesh) -> Exception:
    note = f"operand mesh: {plain_attribute(operand_mesh)}"
    error: Exception = op.op_error(message).note(note, op.tensor.location)
    return error


def _check_axes_per_dim(op: Any, axes: AxesPerDim, apply: _Apply, mesh: Mesh) -> None:
    out = op.out_sharding
    operand = sharding_or_replicated(op.tensor, out.mesh_or_ref)
    seen = SeenAxes(mesh)
    for dim_axes in axes:
        _raise_if(op, seen.list_problem(dim_axes))
    if out.rank != len(axes):
        raise op.op_error(f"result sharding has rank {out.rank} but collective axes has rank {len(axes)}")
    if operand.rank != out.rank:  # an operand without a sharding, and a maximal mesh
        raise op.op_error(f"result sharding has rank {out.rank} but operand sharding has rank {operand.rank}")
    for number, (dim, dim_axes) in enumerate(zip(operand.dims, axes, strict=True)):
        _check_dim(op, number, apply(number, dim, dim_axes))


def _check_dim(op: Any, number: int, expected: Sequence[AxisRef]) -> None:
    if expected != op.out_sharding.dims[number].axes:
        raise op.op_error(
            f"result sharding doesn't match expected sharding [{axis_refs_text(expected)}] "
            f"on dimension {number}"
        )


def _gathered(
    op: Op, number: int, dim: DimensionSharding, axes: Sequence[AxisRef], mesh: Mesh, word: str
) -> tuple[AxisRef, ...]:
    """The axes of a dimension without some at their end."""
    left = list(dim.axes)
    for axis in reversed(axes):
        if not left or not axis.is_suffix_of(left[-1], mesh):
            raise op.op_error(
                f"can't apply {word} axis {axis_ref_text(axis)} to operand sharding on dimension {number}"
            )
        prefix = left.pop().prefix_without(axis)
        if prefix is not None:
            left.append(prefix)
    return tuple(left)


def _check_list(op: Any, axes: AxisRefList, word: str) -> None:
    _raise_if(op, SeenAxes(_mesh(op)).sorted_list_problem(axes.axes, word))


def _check_no_overlap(op: Op, word: str, axis: AxisRef, others: Iterable[AxisRef], what: str) -> None:
    if any(axis.overlaps(other) for other in others):
        raise op.op_error(f"{word} axis {axis_ref_text(axis)} overlaps with {what}")


def _raise_if(op: Op, problem: str | None) -> None:
    if problem is not None:
        raise op.op_error(problem)
