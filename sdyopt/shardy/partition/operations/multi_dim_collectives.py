"""sdy.all_gather, reduce_scatter and all_to_all, which may rearrange several dimensions at once.

A StableHLO collective works along one dimension. For several, each of them is split into a device dimension,
whose indices belong to different devices, and the rest. The device dimensions are moved to the front and
merged into one, along which a single collective works. Then they are merged into dimensions of the result.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from sdyopt.mlir.dialects.sdy.axes import AxisRef
from sdyopt.mlir.dialects.sdy.collectives import AllGatherOp, AllToAllOp, ReduceScatterOp
from sdyopt.mlir.dialects.stablehlo import collectives as stablehlo
from sdyopt.mlir.dialects.stablehlo.type_compatibility import ranked
from sdyopt.mlir.ir.attribute import UnitAttr
from sdyopt.mlir.ir.builtin_attributes import integer
from sdyopt.mlir.ir.types import I64, tensor
from sdyopt.mlir.ir.value import Value
from sdyopt.shardy.partition.combiners import combiner_of
from sdyopt.shardy.partition.local_builder import LocalBuilder, shape_of
from sdyopt.shardy.partition.local_context import LocalContext, Lowered, lowering
from sdyopt.shardy.partition.partial_results import all_gather, combine_partial_results
from sdyopt.shardy.sharding.axis_lists import sharded_size

# --- all_gather -----------------------------------------------------------------------------------


@lowering(AllGatherOp)
def lower_all_gather(op: AllGatherOp, local: LocalContext) -> Lowered:
    """Gathers along one dimension at a time, or along all at once."""
    mesh = local.mesh(op.out_sharding, op)
    gathered = {dim: axes.axes for dim, axes in enumerate(op.gathering_axes) if axes}
    if len(gathered) > 1 and not local.options.per_dim_all_gather:
        factors = {dim: sharded_size(axes, mesh) for dim, axes in gathered.items()}
        all_axes = [axis for axes in gathered.values() for axis in axes]
        builder, shape = local.builder(op), shape_of(op.tensor)
        row = builder.reshape(op.tensor, (1, *shape))
        rows = all_gather(row, 0, all_axes, op.out_sharding, op, local)
        split = builder.reshape(rows, (*factors.values(), *shape))
        return [merge_device_dims(builder, split, list(factors))]
    value: Value = op.tensor
    for dim, axes in reversed(gathered.items()):
        value = all_gather(value, dim, axes, op.out_sharding, op, local)
    return [value]


def split_device_dims(builder: LocalBuilder, value: Value, factors: dict[int, int]) -> Value:
    """Splits dimensions into (factor, rest), and moves the former to the front, in the order of `factors`."""
    shape: list[int] = []
    positions: dict[int, int] = {}
    for dim, size in enumerate(shape_of(value)):
        if dim in factors:
            positions[dim] = len(shape)
            shape += [factors[dim], size // factors[dim]]
        else:
            shape.append(size)
    front = [positions[dim] for dim in factors]
    rest = [position for position in range(len(shape)) if position not in front]
    return builder.transpose(builder.reshape(value, shape), front + rest)


def merge_device_dims(builder: LocalBuilder, value: Value, dims: Sequence[int]) -> Value:
    """Merges each leading dimension of a value into one of the dimensions after them, as its major part.

    `dims` are the numbers of these dimensions, counted without the leading ones.
    """
    count = len(dims)
    sizes = shape_of(value)
    permutation: list[int] = []
    shape: list[int] = []
    for dim, size in enumerate(sizes[count:]):
        factors = [number for number in range(count) if dims[number] == dim]
        permutation += [*factors, dim + count]
        shape.append(prod(sizes[number] for number in factors) * size)
    return builder.reshape(builder.transpose(value, permutation), shape)


# --- reduce_scatter -------------------------------------------------------------------------------


@lowering(ReduceScatterOp)
def lower_reduce_scatter(op: ReduceScatterOp, local: LocalContext) -> Lowered:
    """Combines partial results, so that each device has a shard of the sum or other reduction."""
    mesh = local.mesh(op.out_sharding, op)
    scattered = {dim: axes.axes for dim, axes in enumerate(op.reduce_scatter_axes) if axes}
    if not scattered:
        return [op.tensor]
    builder, type = local.builder(op), local.local_tensor(op.output, op)
    if 0 in type.shape:  # which the verifier of reduce_scatter rejects
        return [builder.zero(type)]
    all_axes = [axis for axes in scattered.values() for axis in axes]
    combine = local.options.combine_multi_dimension_reduce_scatter
    combiner = combiner_of(op)
    if combiner is None or (len(scattered) > 1 and not combine):
        whole = combine_partial_results(op, all_axes, op.out_sharding, local)
        axes_per_dim = [axes.axes for axes in op.reduce_scatter_axes]
        return [local.slice_for_axes(builder, whole, axes_per_dim, mesh, type)]
    if len(scattered) == 1:
        ((dim, axes),) = scattered.items()
        return [_reduce_scatter(op, op.tensor, dim, axes, local)]
    factors = {dim: sharded_size(axes, mesh) for dim, axes in scattered.items()}
    split = split_device_dims(builder, op.tensor, factors)
    rest = shape_of(split)[len(factors) :]
    rows = builder.reshape(split, (prod(factors.values()), *rest))
    return [builder.reshape(_reduce_scatter(op, rows, 0, all_axes, local), rest)]


def _reduce_scatter(
    op: ReduceScatterOp, value: Value, dim: int, axes: Sequence[AxisRef], local: LocalContext
) -> Value:
    mesh = local.mesh(op.out_sharding, op)
    groups = local.replica_groups(axes, mesh, op.out_sharding.mesh_or_ref, op)
    shape = list(shape_of(value))
    shape[dim] //= groups.size
    attributes = {
        "scatter_dimension": integer(dim, I64),
        "replica_groups": groups.attribute,
        "channel_handle": local.new_channel(),
        "use_global_device_ids": UnitAttr(),
    }
    combiner = combiner_of(op)
    assert combiner is not None
    builder, element = local.builder(op), ranked(value).element
    body, type = builder.reducer(element, combiner), tensor(tuple(shape), element)
    return builder.create(stablehlo.ReduceScatterOp, [value], [type], attributes, [body]).result


# --- all_to_all -----------------------------------------------------------------------------------


@lowering(AllToAllOp)
def lower_all_to_all(op: AllToAllOp, local: LocalContext) -> Lowered:
    """Moves axes from source dimensions to target dimensions."""
    mesh = local.mesh(op.out_sharding, op)
    builder = local.builder(op)
    moves = sorted(op.params, key=lambda move: move.target)
    sizes = {move.target: sharded_size(move.axes, mesh) for move in moves}
    if len(moves) == 1:
        (move,) = moves
        if not move.axes:
            raise op.op_error("failed to resolve axes")
        if shape_of(op.tensor)[move.target] % sizes[move.target]:
            raise op.op_error("dimension not divisible by num devices per group")
        return [_all_to_all(op, op.tensor, move.target, move.source, move.axes, local)]
    for target, size in sizes.items():
        if shape_of(op.tensor)[target] % size:
            raise op.op_error("dynamic shape or dimension not divisible by num devices per param")
    all_axes = [axis for move in moves for axis in move.axes]
    split = split_device_dims(builder, op.tensor, sizes)
    rest = shape_of(split)[len(moves) :]
    rows = builder.reshape(split, (prod(sizes.values()), *rest))
    exchanged = _all_to_all(op, rows, 0, 0, all_axes, local)
    split = builder.reshape(exchanged, (*sizes.values(), *rest))
    return [merge_device_dims(builder, split, [move.source for move in moves])]


def _all_to_all(
    op: AllToAllOp, value: Value, split: int, concat: int, axes: Sequence[AxisRef], local: LocalContext
) -> Value:
    mesh = local.mesh(op.out_sharding, op)
    groups = local.replica_groups(axes, mesh, op.out_sharding.mesh_or_ref, op)
    shape = list(shape_of(value))
    shape[split] //= groups.size
    shape[concat] *= groups.size
    attributes = {
        "split_dimension": integer(split, I64),
        "concat_dimension": integer(concat, I64),
        "split_count": integer(groups.size, I64),
        "replica_groups": groups.attribute,
        "channel_handle": local.new_channel(),
    }
    type = tensor(tuple(shape), ranked(value).element)
    return local.builder(op).create(stablehlo.AllToAllOp, [value], [type], attributes).result
