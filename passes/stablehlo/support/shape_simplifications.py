"""The patterns of stablehlo-aggressive-simplification for operations that move elements."""

from __future__ import annotations

from sdyopt.mlir.dialects.stablehlo.gather import GatherOp
from sdyopt.mlir.dialects.stablehlo.nullary import IotaOp
from sdyopt.mlir.dialects.stablehlo.shapes import (
    BroadcastInDimOp,
    GetDimensionSizeOp,
    ReshapeOp,
    ReverseOp,
    TransposeOp,
)
from sdyopt.mlir.dialects.stablehlo.slicing import (
    ConcatenateOp,
    DynamicSliceOp,
    DynamicUpdateSliceOp,
    PadOp,
    SliceOp,
)
from sdyopt.mlir.dialects.stablehlo.type_compatibility import constant_integers, ranked
from sdyopt.mlir.ir.builtin_attributes import DenseElements, IntegerAttr, element_size
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.types import I64, ComplexType, FloatType, IntegerType, RankedTensor
from sdyopt.mlir.ir.value import Value

from .dynamic_simplifications import integers
from .folds import Patterns, constant_of, create_constant, result_type, splat_of
from .replacement import inherent, is_iota, new_value, replace_with_new, replace_with_value


def _have_same_size(left: RankedTensor, right: RankedTensor) -> bool:
    is_static = left.has_static_shape and right.has_static_shape
    return is_static and left.num_elements == right.num_elements


# --- Broadcasts ---------------------------------------------------------------------------


def is_reshape(signature: OpSignature) -> bool:
    """Whether a broadcast neither repeats nor moves elements."""
    before, after = signature.operand_types[0], signature.result_types[0]
    if not isinstance(before, RankedTensor) or not isinstance(after, RankedTensor):
        return False
    dimensions = list(BroadcastInDimOp.broadcast_dimensions.of_signature(signature))
    return dimensions == sorted(dimensions) and _have_same_size(before, after)


SHAPE_SIMPLIFICATIONS = Patterns()


@SHAPE_SIMPLIFICATIONS.pattern(BroadcastInDimOp, "BroadcastInDimOp_MergeComposition", benefit=2)
def merge_broadcasts(op: BroadcastInDimOp, rewriter: Rewriter) -> bool:
    """Merges two broadcasts, unless the inner one becomes a reshape."""
    inner = op.operand.defining_op
    if not isinstance(inner, BroadcastInDimOp) or inner.signature.cached(is_reshape):
        return False
    merged = integers([op.broadcast_dimensions[dim] for dim in inner.broadcast_dimensions])
    return replace_with_new(op, BroadcastInDimOp, inner.operands, rewriter, {"broadcast_dimensions": merged})


@SHAPE_SIMPLIFICATIONS.pattern(BroadcastInDimOp, "BroadcastInDimOp_ReplaceWithReshape", benefit=2)
def broadcast_to_reshape(op: BroadcastInDimOp, rewriter: Rewriter) -> bool:
    return op.signature.cached(is_reshape) and replace_with_new(op, ReshapeOp, op.operands, rewriter)


@SHAPE_SIMPLIFICATIONS.pattern(BroadcastInDimOp, "BroadcastInDimOp_RemoveNoop")
def remove_broadcast(op: BroadcastInDimOp, rewriter: Rewriter) -> bool:
    return is_iota(op.broadcast_dimensions) and replace_with_value(op, op.operand, rewriter)


@SHAPE_SIMPLIFICATIONS.pattern(BroadcastInDimOp, "BroadcastInDimOp_ReplaceWithTranspose")
def broadcast_to_transpose(op: BroadcastInDimOp, rewriter: Rewriter) -> bool:
    source, dimensions = ranked(op.operand), op.broadcast_dimensions
    if not _have_same_size(source, result_type(op)) or source.rank != result_type(op).rank:
        return False
    inverse = [list(dimensions).index(dim) for dim in range(source.rank)]
    return replace_with_new(op, TransposeOp, op.operands, rewriter, {"permutation": integers(inverse)})


# --- Reshapes and transposes --------------------------------------------------------------


@SHAPE_SIMPLIFICATIONS.pattern(ReshapeOp, "ReshapeOp_MergeComposition", benefit=2)
def merge_reshapes(op: ReshapeOp, rewriter: Rewriter) -> bool:
    inner = op.operand.defining_op
    return isinstance(inner, ReshapeOp) and replace_with_new(op, ReshapeOp, inner.operands, rewriter)


@SHAPE_SIMPLIFICATIONS.pattern(ReshapeOp, "ReshapeOp_RemoveNoop")
def remove_noop(op: Op, rewriter: Rewriter) -> bool:
    """Replaces an operation that changes at most the type by its operand, if it does not."""
    return replace_with_value(op, op.operand_at(0), rewriter)


@SHAPE_SIMPLIFICATIONS.pattern(TransposeOp, "TransposeOp_TransposeOfTranspose", benefit=2)
def merge_transposes(op: TransposeOp, rewriter: Rewriter) -> bool:
    inner = op.operand.defining_op
    if not isinstance(inner, TransposeOp):
        return False
    merged = integers([inner.permutation[dim] for dim in op.permutation])
    return replace_with_new(op, TransposeOp, inner.operands, rewriter, {"permutation": merged})


@SHAPE_SIMPLIFICATIONS.pattern(TransposeOp, "TransposeOp_RemoveNoop")
def remove_transpose(op: TransposeOp, rewriter: Rewriter) -> bool:
    return is_iota(op.permutation) and replace_with_value(op, op.operand, rewriter)


@SHAPE_SIMPLIFICATIONS.pattern(TransposeOp, "TransposeIsReshape")
def transpose_to_reshape(op: TransposeOp, rewriter: Rewriter) -> bool:
    """Reshapes instead, if only dimensions of size 1 move."""
    source = ranked(op.operand)
    if not source.has_static_shape or not result_type(op).has_static_shape:
        return False
    moved = [dim for dim in op.permutation if source.shape[dim] != 1]
    if moved != sorted(moved):
        return False
    return replace_with_new(op, ReshapeOp, op.operands, rewriter, keeps_attributes=False)


@SHAPE_SIMPLIFICATIONS.pattern(ReverseOp, "ReverseOp_RemoveNoop")
def remove_reverse(op: ReverseOp, rewriter: Rewriter) -> bool:
    source = ranked(op.operand)
    is_static = source.has_static_shape
    if not (
        splat_of(op.operand) is not None
        or (is_static and all(source.shape[dimension] == 1 for dimension in op.dimensions))
        or not op.dimensions
        or (is_static and source.num_elements == 0)
    ):
        return False
    return replace_with_value(op, op.operand, rewriter, keeps_attributes=False)


# --- Concatenations, slices, paddings -----------------------------------------------------


@SHAPE_SIMPLIFICATIONS.pattern(ConcatenateOp, "ConcatenateOpFlatten")
def flatten_concatenate(op: ConcatenateOp, rewriter: Rewriter) -> bool:
    """Takes the operands of concatenations along the same dimension that have no other use."""
    operands: list[Value] = []
    for value in op.operands:
        inner = value.defining_op
        is_inner = isinstance(inner, ConcatenateOp) and inner.dimension == op.dimension
        operands += inner.operands if inner is not None and is_inner and value.has_one_use else [value]
    if operands == list(op.operands):
        return False
    rewriter.set_operands(op, operands)
    return True


@SHAPE_SIMPLIFICATIONS.pattern(ConcatenateOp, "ConcatenateOpNoop")
def remove_concatenate(op: ConcatenateOp, rewriter: Rewriter) -> bool:
    return len(op.operands) == 1 and replace_with_value(op, op.operand_at(0), rewriter, False)


@SHAPE_SIMPLIFICATIONS.pattern(ConcatenateOp, "ConcatenateOpRemoveEmpty")
def drop_empty_operands(op: ConcatenateOp, rewriter: Rewriter) -> bool:
    kept = [value for value in op.operands if ranked(value).shape[op.dimension] != 0]
    if not kept or len(kept) == len(op.operands):
        return False
    rewriter.set_operands(op, kept)
    return True


@SHAPE_SIMPLIFICATIONS.pattern(SliceOp, "SliceOp_RemoveNoop")
def remove_slice(op: SliceOp, rewriter: Rewriter) -> bool:
    return ranked(op.operand).has_static_shape and replace_with_value(op, op.operand, rewriter)


@SHAPE_SIMPLIFICATIONS.pattern(SliceOp, "SliceOpConcatSimplify")
def slice_part_of_concatenate(op: SliceOp, rewriter: Rewriter) -> bool:
    """Slices a concatenation of only those operands that have elements of the slice."""
    joined = op.operand.defining_op
    if not isinstance(joined, ConcatenateOp) or not result_type(op).has_static_shape:
        return False
    dimension, type = joined.dimension, result_type(joined)
    start, limit = op.start_indices[dimension], op.limit_indices[dimension]
    sizes = [ranked(value).shape[dimension] for value in joined.operands]
    if any(size < 0 for size in sizes) or type.encoding is not None:
        return False
    ends = [sum(sizes[: index + 1]) for index in range(len(sizes))]
    needed = [i for i, end in enumerate(ends) if end > start and end - sizes[i] < limit]
    # An empty slice becomes a constant, by another pattern.
    if start >= limit or not needed or len(needed) == len(sizes):
        return False
    if len(needed) > 1 and not joined.results[0].has_one_use:
        return False
    first, last = needed[0], needed[-1]
    shape = list(type.shape)
    shape[dimension] = sum(sizes[first : last + 1])
    part = rewriter.create(
        ConcatenateOp,
        joined.operands[first : last + 1],
        [RankedTensor(tuple(shape), type.element)],
        dict(joined.signature.attributes.entries),
        before=op,
        location=joined.lazy_location,
    )
    offset = ends[first] - sizes[first]
    starts, limits = list(op.start_indices), list(op.limit_indices)
    starts[dimension] -= offset
    limits[dimension] -= offset
    attributes = inherent(op, "strides") | {
        "start_indices": integers(starts),
        "limit_indices": integers(limits),
    }
    return replace_with_new(op, SliceOp, part.results, rewriter, attributes, keeps_attributes=False)


@SHAPE_SIMPLIFICATIONS.pattern(DynamicSliceOp, "DynamicSliceOpToSlice")
def dynamic_slice_to_slice(op: DynamicSliceOp, rewriter: Rewriter) -> bool:
    source = ranked(op.operand)
    numbers = [constant_integers(start_index) for start_index in op.start_indices]
    if not source.has_static_shape:
        return False
    starts = []
    for number, size, extent in zip(numbers, op.slice_sizes, source.shape, strict=True):
        if number is None:
            return False
        starts.append(min(max(number[0], 0), extent - size))
    attributes = {
        "start_indices": integers(starts),
        "limit_indices": integers([a + b for a, b in zip(starts, op.slice_sizes, strict=True)]),
        "strides": integers([1] * source.rank),
    }
    return replace_with_new(op, SliceOp, [op.operand], rewriter, attributes)


@SHAPE_SIMPLIFICATIONS.pattern(DynamicUpdateSliceOp, "DynamicUpdateSliceOp_FoldToUpdateOperand")
def use_update(op: DynamicUpdateSliceOp, rewriter: Rewriter) -> bool:
    """Replaces an update of all elements by the new ones."""
    type = ranked(op.operand)
    if not type.has_static_shape or op.update.type is not type:
        return False
    if any(constant_integers(start) != [0] for start in op.start_indices):
        return False
    return replace_with_value(op, op.update, rewriter)


@SHAPE_SIMPLIFICATIONS.pattern(DynamicUpdateSliceOp, "DynamicUpdateSliceOp_RemoveNoop")
def remove_update(op: DynamicUpdateSliceOp, rewriter: Rewriter) -> bool:
    """Removes an update by no elements; these are a constant, by another pattern."""
    update = constant_of(op.update)
    if update is None or update.type.num_elements != 0:
        return False
    return replace_with_value(op, op.operand, rewriter)


@SHAPE_SIMPLIFICATIONS.pattern(PadOp, "PadOp_RemoveNoop")
def remove_pad(op: PadOp, rewriter: Rewriter) -> bool:
    if any(op.edge_padding_low) or any(op.edge_padding_high) or any(op.interior_padding):
        return False
    return replace_with_value(op, op.operand, rewriter, keeps_attributes=False)


@SHAPE_SIMPLIFICATIONS.pattern(PadOp, "PadOpBroadcastEmptyTensor")
def pad_to_broadcast(op: PadOp, rewriter: Rewriter) -> bool:
    """Broadcasts the padding value if the operand has no elements."""
    type = ranked(op.operand)
    is_empty = type.has_static_shape and type.num_elements == 0
    if not is_empty or not result_type(op).has_static_shape:
        return False
    attributes = {"broadcast_dimensions": integers([])}
    return replace_with_new(
        op, BroadcastInDimOp, [op.padding_value], rewriter, attributes, keeps_attributes=False
    )


# --- Gathers, iotas, dimension sizes ------------------------------------------------------


@SHAPE_SIMPLIFICATIONS.pattern(GatherOp, "GatherOpCanon")
def gather_to_slice(op: GatherOp, rewriter: Rewriter) -> bool:
    """Slices instead, if there is one constant index."""
    index, source, dims = constant_of(op.start_indices), ranked(op.operand), op.dimension_numbers
    if index is None or dims.index_vector_dim != 0 or index.type.rank > 1 or not source.has_static_shape:
        return False
    if index.type.num_elements != len(dims.start_index_map):
        return False
    numbers = constant_integers(op.start_indices)
    assert numbers is not None
    starts = [0] * source.rank
    for dimension, number in zip(dims.start_index_map, numbers, strict=True):
        starts[dimension] = min(max(number, 0), source.shape[dimension] - op.slice_sizes[dimension])
    type = result_type(op)
    attributes = {
        "start_indices": integers(starts),
        "limit_indices": integers([a + b for a, b in zip(starts, op.slice_sizes, strict=True)]),
        "strides": integers([1] * source.rank),
    }
    if not dims.collapsed_slice_dims:
        return replace_with_new(op, SliceOp, [op.operand], rewriter, attributes, keeps_attributes=False)
    sliced = RankedTensor(tuple(op.slice_sizes), type.element)
    value = new_value(op, SliceOp, [op.operand], sliced, rewriter, attributes)
    return replace_with_new(op, ReshapeOp, [value], rewriter, keeps_attributes=False)


@SHAPE_SIMPLIFICATIONS.pattern(IotaOp, "IotaOp_FoldScalarToZero")
def iota_to_zero(op: IotaOp, rewriter: Rewriter) -> bool:
    type = result_type(op)
    if type.shape[op.iota_dimension] != 1:
        return False
    if not isinstance(type.element, IntegerType | FloatType | ComplexType):
        return False
    zero = DenseElements(type, bytes(element_size(type.element)))
    rewriter.replace(op, create_constant(zero, op, rewriter))
    return True


_FIRST_DIMENSION = IntegerAttr(0, I64)


@SHAPE_SIMPLIFICATIONS.pattern(IotaOp, "IotaOpBroadcast")
def iota_to_broadcast(op: IotaOp, rewriter: Rewriter) -> bool:
    type = result_type(op)
    if type.rank < 2:
        return False
    row = RankedTensor((type.shape[op.iota_dimension],), type.element)
    value = new_value(op, IotaOp, (), row, rewriter, {"iota_dimension": _FIRST_DIMENSION})
    attributes = {"broadcast_dimensions": integers([op.iota_dimension])}
    return replace_with_new(op, BroadcastInDimOp, [value], rewriter, attributes, keeps_attributes=False)


@SHAPE_SIMPLIFICATIONS.pattern(GetDimensionSizeOp, "GetDimensionSizeOpCanon")
def fold_dimension_size(op: GetDimensionSizeOp, rewriter: Rewriter) -> bool:
    size, type = ranked(op.operand).shape[op.dimension], result_type(op)
    if size < 0:
        return False
    data = (size & 0xFFFFFFFF).to_bytes(4, "little")
    rewriter.replace(op, create_constant(DenseElements(type, data), op, rewriter))
    return True
