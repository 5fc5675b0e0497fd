"""slice, dynamic_slice and dynamic_update_slice: the sizes along sharded dimensions become local ones."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from sdyopt.base.releases import Behavior
from sdyopt.mlir.dialects.sdy.axes import axis_refs_text
from sdyopt.mlir.dialects.stablehlo.compare_select import ClampOp
from sdyopt.mlir.dialects.stablehlo.elementwise import AddOp, AndOp, SubtractOp
from sdyopt.mlir.dialects.stablehlo.slicing import DynamicSliceOp, DynamicUpdateSliceOp, SliceOp
from sdyopt.mlir.ir.builtin_attributes import dense_array
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.types import I1, I64, tensor
from sdyopt.mlir.ir.value import Value
from sdyopt.shardy.partition.index_arithmetic import clamp_index, largest_index
from sdyopt.shardy.partition.local_builder import LocalBuilder, ranked, shape_of
from sdyopt.shardy.partition.local_context import LocalContext
from sdyopt.shardy.partition.registry import Lowered, lowering

_NEEDS_RESHARD = "This requires a reshard which should have been handled by previous passes."
_HELP = "run -sdy-resolve-permutation-factors and -sdy-reshard-to-collectives before"


@lowering(SliceOp)
def lower_slice(op: SliceOp, local: LocalContext) -> Lowered:
    """A slice is local if it takes sharded dimensions whole, or every n-th element of whole shards."""
    axes_per_dim = local.axes_per_dim(op.operand)
    check_same_axes(op, op.operand, local, _NEEDS_RESHARD)
    limits = list(op.limit_indices)
    if not any(axes_per_dim):
        return None
    global_shape, result_shape = op.signature[SliceOp.operand].shape, op.signature[SliceOp.out].shape
    for dim, axes in enumerate(axes_per_dim):
        if not axes:
            continue
        size, stride = shape_of(op.operand)[dim], op.strides[dim]
        # A dimension of size 0 has empty shards.
        shards = global_shape[dim] // size if size else 0
        if shards == 1:
            continue
        takes_all = result_shape[dim] * stride == shards * size
        if op.start_indices[dim] or size % stride or not takes_all:
            raise op.op_error(
                f"dimension {dim} is sharded but the slice is not a full slice and requires device "
                "communication."
            ).help(_HELP)
        limits[dim] = size
    return [local.builder(op).slice(op.operand, op.start_indices, limits, op.strides)]


@lowering(DynamicSliceOp)
def lower_dynamic_slice(op: DynamicSliceOp, local: LocalContext) -> Lowered:
    """A dynamic slice is local if it takes sharded dimensions whole."""
    _check_whole_dims(op, op.operand, op.slice_sizes, local)
    type = local.local_tensor(op.out, op)
    if Behavior.SHARDED_UPDATES.active and any(local.axes_per_dim(op.operand)):
        return [local.builder(op).dynamic_slice(op.operand, op.start_indices, type.shape)]
    local.rewriter.set_attribute(op, "slice_sizes", dense_array(I64, type.shape))
    return None


@lowering(DynamicUpdateSliceOp)
def lower_dynamic_update_slice(op: DynamicUpdateSliceOp, local: LocalContext) -> Lowered:
    """Updates the part of the updated range that is in the shard of this device.

    Along a dimension that the update covers, the update is sharded like the operand. Along any other sharded
    dimension of the operand, every device has the whole update.
    """
    check_same_axes(op, op.operand, local, _NEEDS_RESHARD)
    axes_per_dim = local.axes_per_dim(op.operand)
    sizes = op.signature[DynamicUpdateSliceOp.update].shape
    whole = op.signature[DynamicUpdateSliceOp.operand].shape
    dims = [dim for dim, axes in enumerate(axes_per_dim) if axes and sizes[dim] != whole[dim]]
    if not dims:
        return None
    update_axes = local.axes_per_dim(op.update)
    for dim, (axes, others) in enumerate(zip(axes_per_dim, update_axes, strict=True)):
        if others != (() if dim in dims else axes):
            raise op.op_error(
                f"dimension {dim} of the update is sharded along other axes than the operand"
            ).help(_HELP)
    if all(sizes[dim] == 1 for dim in dims) and _selects_updates(op, dims, local):
        return [_select_update(op, dims, local)]
    builder, mesh = local.builder(op), local.common_mesh(op)
    starts = list(op.start_indices)
    for dim in dims:
        last = whole[dim] - sizes[dim]
        start = clamp_index(builder, starts[dim], last)
        offset = local.offset(builder, axes_per_dim[dim], mesh, shape_of(op.operand)[dim])
        starts[dim] = builder.binary(SubtractOp, start, builder.convert(offset, ranked(start).element))
    if all(sizes[dim] == 1 for dim in dims):
        return [_update_element(builder, op, dims, starts)]
    return [_update_range(builder, op, dims, starts)]


def _selects_updates(op: DynamicUpdateSliceOp, dims: Sequence[int], local: LocalContext) -> bool:
    """Whether the whole shard is selected, as in C++; not if a sum of an index and a size may overflow."""
    if not Behavior.SHARDED_UPDATES.active or local.options.update_in_place:
        return False
    whole = op.signature[DynamicUpdateSliceOp.operand].shape
    return all(
        largest_index(ranked(op.start_indices[dim]).element, whole[dim] + 1) == whole[dim] + 1 for dim in dims
    )


def _select_update(op: DynamicUpdateSliceOp, dims: Sequence[int], local: LocalContext) -> Value:
    """Updates the shard, and selects the result if all indices are in the shard."""
    builder, mesh = local.builder(op), local.common_mesh(op)
    whole, axes_per_dim = op.signature[DynamicUpdateSliceOp.operand].shape, local.axes_per_dim(op.operand)
    starts, masks = list(op.start_indices), []
    for dim in dims:
        type, size = ranked(starts[dim]), shape_of(op.operand)[dim]
        zero, last = builder.integers(type, [0]), builder.integers(type, [whole[dim] - 1])
        start = builder.create(ClampOp, [zero, starts[dim], last], [type]).result
        low = builder.convert(local.offset(builder, axes_per_dim[dim], mesh, size), type.element)
        end = builder.binary(AddOp, start, builder.integers(type, [1]))
        high = builder.binary(AddOp, low, builder.integers(type, [size]))
        is_above, is_below = builder.compare(start, low, "GE"), builder.compare(end, high, "LE")
        masks.append(builder.binary(AndOp, is_above, is_below))
        starts[dim] = builder.select(masks[-1], builder.binary(SubtractOp, start, low), zero)
    operands, type = [op.operand, op.update, *starts], ranked(op.operand)
    updated = builder.create(DynamicUpdateSliceOp, operands, [type]).result
    mask = reduce(lambda a, b: builder.binary(AndOp, a, b), masks)
    return builder.select(builder.broadcast(mask, tensor(type.shape, I1)), updated, op.operand)


def _update_element(
    builder: LocalBuilder, op: DynamicUpdateSliceOp, dims: Sequence[int], starts: list[Value]
) -> Value:
    """Writes the old element back if the index is in another shard: reads and writes clamp indices alike."""
    shape, update_shape = shape_of(op.operand), shape_of(op.update)
    mask: Value | None = None
    for dim in dims:
        type = ranked(starts[dim])
        lower = builder.compare(starts[dim], builder.integers(type, [0]), "GE")
        upper = builder.compare(starts[dim], builder.integers(type, [shape[dim] - 1]), "LE")
        in_shard = builder.binary(AndOp, lower, upper)
        mask = in_shard if mask is None else builder.binary(AndOp, mask, in_shard)
    assert mask is not None
    old = builder.dynamic_slice(op.operand, starts, update_shape)
    mask = builder.broadcast(mask, tensor(update_shape, I1))
    update = builder.select(mask, op.update, old)
    return builder.create(DynamicUpdateSliceOp, [op.operand, update, *starts], [op.operand.type]).result


def _update_range(
    builder: LocalBuilder, op: DynamicUpdateSliceOp, dims: Sequence[int], starts: list[Value]
) -> Value:
    """Pads the shard with margins of the update's size, updates it, and removes the margins."""
    shape, update_shape = shape_of(op.operand), shape_of(op.update)
    margins = [update_shape[dim] if dim in dims else 0 for dim in range(len(shape))]
    padding = builder.zero(tensor((), ranked(op.operand).element))
    padded = builder.pad(op.operand, padding, margins, margins)
    for dim in dims:
        type = ranked(starts[dim])
        starts[dim] = builder.binary(AddOp, starts[dim], builder.integers(type, [margins[dim]]))
    updated = builder.create(DynamicUpdateSliceOp, [padded, op.update, *starts], [padded.type]).result
    limits = [margin + size for margin, size in zip(margins, shape, strict=True)]
    return builder.slice(updated, margins, limits)


def _check_whole_dims(op: Op, operand: Value, sizes: Sequence[int], local: LocalContext) -> None:
    whole = op.signature.operand_types[0].shape  # type: ignore[attr-defined]  # verified to be a tensor
    for dim, axes in enumerate(local.axes_per_dim(operand)):
        if axes and sizes[dim] != whole[dim]:
            raise op.op_error(
                f"dimension {dim} is sharded but the slice is not a full slice and requires device "
                "communication."
            ).help(_HELP)


def check_same_axes(op: Op, operand: Value, local: LocalContext, reason: str) -> None:
    """Checks that the operand and the result of an operation are sharded along the same axes."""
    result_axes = local.axes_per_dim(op.results[0])
    for dim, (axes, others) in enumerate(zip(local.axes_per_dim(operand), result_axes, strict=True)):
        if axes != others:
            raise op.op_error(
                f"dimension {dim} has mismatched sharding axes ({axis_refs_text(axes)} vs "
                f"{axis_refs_text(others)}). {reason}"
            ).help(_HELP)
