"""Slices, pads, updates, gathers and scatters: limits and indices refer to elements, not to padding."""

from __future__ import annotations

from sdyopt.mlir.dialects.stablehlo.compare_select import ClampOp
from sdyopt.mlir.dialects.stablehlo.concatenate_pad import PadOp
from sdyopt.mlir.dialects.stablehlo.elementwise import AndOp
from sdyopt.mlir.dialects.stablehlo.gather import GatherOp
from sdyopt.mlir.dialects.stablehlo.scatter import ScatterOp
from sdyopt.mlir.dialects.stablehlo.slicing import DynamicSliceOp, DynamicUpdateSliceOp, SliceOp
from sdyopt.mlir.ir.builtin_attributes import dense_array
from sdyopt.mlir.ir.types import I64, RankedTensor, tensor
from sdyopt.mlir.ir.value import Value
from sdyopt.shardy.partition.index_arithmetic import broadcast_components, clamp_index, largest_index
from sdyopt.shardy.partition.local_builder import ranked, shape_of
from sdyopt.shardy.partition.padding import (
    Padded,
    Padder,
    pads,
    unpadded_result_shape,
    unpadded_shape,
    unsupported,
)


@pads(SliceOp)
def pad_slice(op: SliceOp, padder: Padder) -> Padded:
    """A slice may include the padding of a dimension that it takes from the start."""
    starts, limits, strides = list(op.start_indices), list(op.limit_indices), op.strides
    padded = padder.padded_type(op.out)
    assert isinstance(padded, RankedTensor)
    for dim, size in enumerate(padded.shape):
        available = shape_of(op.operand)[dim]
        if size == unpadded_result_shape(op)[dim] and available == unpadded_shape(op, 0)[dim]:
            continue
        is_sharded = bool(padder.types.axes_per_dim(op.out)[dim])
        if not is_sharded:
            continue
        limits[dim] = min(starts[dim] + size * strides[dim], available)
        if starts[dim] or -(-limits[dim] // strides[dim]) != size:
            raise unsupported(op, dim)
    padder.rewriter.set_attribute(op, "limit_indices", dense_array(I64, limits))
    return None


@pads(PadOp)
def pad_pad(op: PadOp, padder: Padder) -> Padded:
    """The high padding reaches to the padded size; the padding of the operand becomes the padding value."""
    padded = padder.padded_type(op.out)
    assert isinstance(padded, RankedTensor)
    unpadded, shape = unpadded_shape(op, 0), shape_of(op.operand)
    high, overwritten = list(op.edge_padding_high), []
    for dim, size in enumerate(padded.shape):
        low, interior = op.edge_padding_low[dim], op.interior_padding[dim]
        if (low, high[dim], interior) != (0, 0, 0) and shape[dim] != unpadded[dim]:
            overwritten.append(dim)
        expanded = shape[dim] + max(0, shape[dim] - 1) * interior
        high[dim] = size - low - expanded
    operand = padder.mask(op, op.operand, unpadded, overwritten, op.padding_value)
    if operand is not op.operand:
        padder.rewriter.set_operands(op, [operand, op.padding_value])
    padder.rewriter.set_attribute(op, "edge_padding_high", dense_array(I64, high))
    return None


@pads(DynamicSliceOp)
def pad_dynamic_slice(op: DynamicSliceOp, padder: Padder) -> Padded:
    """A slice of a whole dimension includes its padding."""
    padded = padder.padded_type(op.out)
    assert isinstance(padded, RankedTensor)
    padder.rewriter.set_attribute(op, "slice_sizes", dense_array(I64, padded.shape))
    return None


@pads(DynamicUpdateSliceOp)
def pad_dynamic_update_slice(op: DynamicUpdateSliceOp, padder: Padder) -> Padded:
    """Start indices are clamped as before: the update does not reach into the padding."""
    builder, starts = padder.builder(op), list(op.start_indices)
    sizes = unpadded_shape(op, 1)
    for dim, (size, padded_size) in enumerate(zip(unpadded_shape(op, 0), shape_of(op.operand), strict=True)):
        if size != padded_size and sizes[dim] != size:
            starts[dim] = clamp_index(builder, starts[dim], size - sizes[dim])
    if starts != list(op.start_indices):
        padder.rewriter.set_operands(op, [op.operand, op.update, *starts])
    return None


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
            padder.with_sharding(broadcast_components(builder, each, type, dims.index_vector_dim), sharding)
            for each in (lows, highs)
        )
        indices = builder.create(ClampOp, [low, op.start_indices, high], [type]).result
        padder.rewriter.set_operands(op, [op.operand, padder.with_sharding(indices, sharding)])
    for dim, size in enumerate(unpadded):
        if size != shape[dim] and sizes[dim] == size and size > 1:
            sizes[dim] = shape[dim]
    padder.rewriter.set_attribute(op, "slice_sizes", dense_array(I64, sizes))
    return None


@pads(ScatterOp)
def pad_scatter(op: ScatterOp, padder: Padder) -> Padded:
    """Updates in the padding have indices that are out of bounds, so they have no effect."""
    dims = op.scatter_dimension_numbers
    number = len(op.inputs)
    unpadded, shape = unpadded_shape(op, number), shape_of(op.scatter_indices)
    builder, sharding = padder.builder(op), padder.types.sharding(op.scatter_indices)
    mask: Value | None = None
    for dim, size in enumerate(unpadded):
        if size == shape[dim]:
            continue
        if dim in dims.scatter_indices_batching_dims:
            # These updates go to the padding of the inputs.
            continue
        kept = padder.is_before(builder, shape, dim, size, sharding)
        mask = kept if mask is None else padder.with_sharding(builder.binary(AndOp, mask, kept), sharding)
    if mask is not None:
        if not dims.scatter_dims_to_operand_dims:
            raise unsupported(op, 0)
        type = ranked(op.scatter_indices)
        outside = padder.with_sharding(builder.integers(type, [-1]), sharding)
        indices = padder.with_sharding(builder.select(mask, op.scatter_indices, outside), sharding)
        padder.rewriter.set_operands(op, [*op.inputs, indices, *op.updates])
    return None
