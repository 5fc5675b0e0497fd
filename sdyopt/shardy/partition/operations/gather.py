"""`gather`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sdyopt.mlir.dialects.sdy.mesh import Mesh
from sdyopt.mlir.dialects.stablehlo.compare_select import ClampOp
from sdyopt.mlir.dialects.stablehlo.elementwise import AddOp, AndOp, SubtractOp
from sdyopt.mlir.dialects.stablehlo.gather import GatherOp
from sdyopt.mlir.dialects.stablehlo.reduction import ReduceOp
from sdyopt.mlir.ir.builtin_attributes import boolean, dense_array
from sdyopt.mlir.ir.types import I1, I64, RankedTensor, tensor
from sdyopt.mlir.ir.value import Value
from sdyopt.shardy.partition.local_builder import (
    LocalBuilder,
    broadcast_components,
    largest_index,
    ranked,
    shape_of,
)
from sdyopt.shardy.partition.local_context import FULL_RESHARD_HELP, LocalContext
from sdyopt.shardy.partition.local_types import LocalTypes
from sdyopt.shardy.partition.padding import Padded, Padder, pads, unpadded_shape
from sdyopt.shardy.partition.partial_results import check_is_combined
from sdyopt.shardy.partition.registry import Lowered, lowering
from sdyopt.shardy.partition.replication import Dim, by_rule, crosses_shards, dims_with_factors
from sdyopt.shardy.sharding.axis_lists import sharded_size
from sdyopt.shardy.sharding.op_sharding_rule_registry import sharding_rule_of


@lowering(GatherOp)
def lower_gather(op: GatherOp, local: LocalContext) -> Lowered:
    """Gathers from the shard of this device.

    Along a sharded dimension, slices have the whole size or are single elements. This device has only some of
    the single elements: indices become local, and a mask selects those in its shard.
    """
    axes_per_dim = local.axes_per_dim(op.operand)
    if not any(axes_per_dim):
        return None
    mesh = local.common_mesh(op)
    sizes, selected = _local_slice_sizes(op, mesh, local)
    builder, indices, mask = local.builder(op), op.start_indices, None
    if selected:
        check_is_combined(
            op,
            [axis for dim in selected for axis in axes_per_dim[dim]],
            mesh,
            local,
            "Expected the gather to have one user and the user is an sdy.all_reduce.",
            "The axes of the sdy.all_reduce should match the sharded "
            "collapsed operand dimensions of the gather.",
        )
        indices, mask = _localize_indices(op, selected, mesh, builder, local)
    attributes = {
        **dict(op.signature.attributes),
        "slice_sizes": dense_array(I64, sizes),
        "indices_are_sorted": boolean(op.indices_are_sorted),
        **dict(op.attributes),
    }
    type = local.local_tensor(op.result, op)
    slices = builder.create(GatherOp, [op.operand, indices], [type], attributes).result
    if mask is None:
        return [slices]
    return [builder.select(_broadcast_mask(op, mask, type, builder), slices, builder.zero(type))]


def _local_slice_sizes(op: GatherOp, mesh: Mesh, local: LocalContext) -> tuple[list[int], list[int]]:
    """The local slice sizes, and the sharded dimensions in which slices are single elements."""
    sizes, selected = list(op.slice_sizes), []
    whole = op.signature[GatherOp.operand].shape
    for dim, axes in enumerate(local.axes_per_dim(op.operand)):
        if not axes or dim in op.dimension_numbers.operand_batching_dims:
            continue
        if sizes[dim] == 1:
            selected.append(dim)
        elif sizes[dim] == whole[dim]:
            sizes[dim] //= sharded_size(axes, mesh)
        else:
            raise op.op_error(
                f"dimension {dim} of the operand is sharded, but slices of size {sizes[dim]} are not whole"
            ).help(FULL_RESHARD_HELP)
    return sizes, selected


def _localize_indices(
    op: GatherOp, selected: Sequence[int], mesh: Mesh, builder: LocalBuilder, local: LocalContext
) -> tuple[Value, Value]:
    """Local indices, and a mask of the slices that are in the shard of this device."""
    dims = op.dimension_numbers
    indices: Value = op.start_indices
    mask: Value | None = None
    if any(dim in selected for dim in dims.start_index_map):
        indices, mask = _shift_indices(op, selected, mesh, builder, local)
    for dim in selected:
        if dim in dims.start_index_map:
            continue
        # Without an index, the slices start at 0: the first shard has them.
        axes = local.axes_per_dim(op.operand)[dim]
        offset = local.offset(builder, axes, mesh, shape_of(op.operand)[dim])
        is_first = builder.compare(offset, builder.index(0, ranked(offset).element), "EQ")
        if mask is None:
            mask = is_first
        else:
            mask = builder.binary(AndOp, mask, builder.broadcast(is_first, ranked(mask)))
    assert mask is not None
    return indices, mask


def _shift_indices(
    op: GatherOp, selected: Sequence[int], mesh: Mesh, builder: LocalBuilder, local: LocalContext
) -> tuple[Value, Value]:
    dims, type = op.dimension_numbers, ranked(op.start_indices)
    whole, axes_per_dim = op.signature[GatherOp.operand].shape, local.axes_per_dim(op.operand)
    clamped = _clamp(op, [whole[dim] - 1 for dim in dims.start_index_map], builder)
    scalar = tensor((), type.element)
    lows, highs = [], []
    for dim in dims.start_index_map:
        if dim in selected:
            size = shape_of(op.operand)[dim]
            offset = local.offset(builder, axes_per_dim[dim], mesh, size)
            low = builder.convert(offset, type.element)
            high = builder.binary(AddOp, low, builder.integers(scalar, [size - 1]))
        else:
            low = builder.integers(scalar, [0])
            high = builder.integers(scalar, [largest_index(type.element, whole[dim] - 1)])
        lows.append(low)
        highs.append(high)
    mesh_or_ref = local.first_sharding(op).mesh_or_ref
    low = broadcast_components(builder, lows, type, dims.index_vector_dim, mesh_or_ref)
    high = broadcast_components(builder, highs, type, dims.index_vector_dim, mesh_or_ref)
    shifted = builder.binary(SubtractOp, clamped, low)
    is_above = builder.compare(clamped, low, "GE")
    is_below = builder.compare(clamped, high, "LE")
    return shifted, builder.binary(AndOp, is_above, is_below)


def _clamp(op: GatherOp, largest: Sequence[int], builder: LocalBuilder) -> Value:
    """Clamps indices to the operand, as gather itself does."""
    type = ranked(op.start_indices)
    largest = [largest_index(type.element, limit) for limit in largest]
    lower = builder.integers(type, [0])
    if len(largest) == 1:
        upper = builder.integers(type, largest)
    else:
        bounds = builder.integers(tensor((len(largest),), type.element), largest)
        upper = builder.broadcast(bounds, type, [op.dimension_numbers.index_vector_dim])
    return builder.create(ClampOp, [lower, op.start_indices, upper], [type]).result


def _broadcast_mask(op: GatherOp, mask: Value, type: RankedTensor, builder: LocalBuilder) -> Value:
    """A mask of the result: whether all components of the index vector of an element are in the shard."""
    dims, shape = op.dimension_numbers, shape_of(mask)
    vector_dim = dims.index_vector_dim
    if shape and vector_dim < len(shape):
        kept = tuple([size for dim, size in enumerate(shape) if dim != vector_dim])
        true = builder.integers(tensor((), I1), [1])
        attributes = {"dimensions": dense_array(I64, [vector_dim])}
        body = builder.reducer(I1, AndOp)
        mask = builder.create(ReduceOp, [mask, true], [tensor(kept, I1)], attributes, [body]).result
    batch_dims = [dim for dim in range(type.rank) if dim not in dims.offset_dims]
    positions = batch_dims if shape_of(mask) else []
    return builder.broadcast(mask, tensor(type.shape, I1), positions)


@crosses_shards(GatherOp)
def gather(op: GatherOp, types: LocalTypes) -> Iterator[Dim]:
    """Dimensions by the rule, and those of size 1 that the result has: all shards but one are padding."""
    yield from by_rule(op, types)
    rule = sharding_rule_of(op)
    if rule is None:
        return
    dims = op.dimension_numbers
    for dim, (size, mapping) in enumerate(zip(shape_of(op.operand), rule.operands[0].dims, strict=True)):
        if size == 1 and dim not in dims.operand_batching_dims:
            yield from dims_with_factors(rule, set(mapping.factors) - set(rule.reduction))


@pads(GatherOp)
def pad_gather(op: GatherOp, padder: Padder) -> Padded:
    """Indices are clamped as before, so slices contain no padding; those of a whole dimension include it."""
    dims, type = op.dimension_numbers, ranked(op.start_indices)
    unpadded, shape, sizes = unpadded_shape(op, 0), shape_of(op.operand), list(op.slice_sizes)
    builder = padder.builder(op)
    clamped_dims = [
        dim for dim in dims.start_index_map if unpadded[dim] != shape[dim] and sizes[dim] != unpadded[dim]
    ]
    if clamped_dims:
        scalar = tensor((), type.element)
        sharding = padder.types.sharding(op.start_indices)
        lows = [builder.integers(scalar, [0]) for _ in dims.start_index_map]
        highs = [
            builder.integers(scalar, [largest_index(type.element, unpadded[dim] - sizes[dim])])
            for dim in dims.start_index_map
        ]
        low, high = (
            padder.with_sharding(broadcast_components(builder, part, type, dims.index_vector_dim), sharding)
            for part in (lows, highs)
        )
        indices = builder.create(ClampOp, [low, op.start_indices, high], [type]).result
        padder.rewriter.set_operands(op, [op.operand, padder.with_sharding(indices, sharding)])
    for dim, size in enumerate(unpadded):
        if size != shape[dim] and sizes[dim] == size and size > 1:
            sizes[dim] = shape[dim]
    padder.rewriter.set_attribute(op, "slice_sizes", dense_array(I64, sizes))
    return None
