"""The gather operations of stablehlo, and the dimension numbers of gather and scatter."""

from __future__ import annotations

from collections.abc import Sequence

from sdyopt.mlir.asm.format.attribute_format import attribute_format, dialect_attribute
from sdyopt.mlir.asm.printer.attribute_printer import plain_type
from sdyopt.mlir.dialects.stablehlo.assembly_directives import DimensionNumbers
from sdyopt.mlir.dialects.stablehlo.dialect import (
    Dimensions,
    check_all_within,
    check_distinct,
    check_within,
    integers_of,
    is_sorted,
    is_unique,
    listing,
    stablehlo,
)
from sdyopt.mlir.dialects.stablehlo.type_compatibility import (
    INFERS_COMPATIBLE_TYPES,
    are_compatible,
    dimensions_of,
)
from sdyopt.mlir.dialects.stablehlo.types import INT_TENSOR, STATIC_1D_INT_TENSOR, TENSOR, encoding_with
from sdyopt.mlir.ir import op_fields
from sdyopt.mlir.ir.attribute import Attribute
from sdyopt.mlir.ir.block import Region
from sdyopt.mlir.ir.builtin_attributes import FALSE, DenseElements
from sdyopt.mlir.ir.constraints import BOOL_ATTR, I64_ARRAY, I64_ATTR, of_class
from sdyopt.mlir.ir.folding import constant_value
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.shape_traits import are_compatible_sizes, same_element_types
from sdyopt.mlir.ir.traits import NO_MEMORY_EFFECT, PURE
from sdyopt.mlir.ir.types import DYNAMIC, RankedTensor, Type
from sdyopt.mlir.ir.verify_signature import infer_and_compare_types


@dialect_attribute(stablehlo, "gather", "StableHLO_GatherDimensionNumbers")
class GatherDimensions(Attribute):
    """`#stablehlo.gather<…>`. The fields have the names of its entries."""

    offset_dims: tuple[int, ...] = ()
    collapsed_slice_dims: tuple[int, ...] = ()
    operand_batching_dims: tuple[int, ...] = ()
    start_indices_batching_dims: tuple[int, ...] = ()
    start_index_map: tuple[int, ...] = ()
    index_vector_dim: int = 0
    dialect = "stablehlo"
    assembly = attribute_format("<", DimensionNumbers("gather dimension numbers"))


@dialect_attribute(stablehlo, "scatter", "StableHLO_ScatterDimensionNumbers")
class ScatterDimensions(Attribute):
    """`#stablehlo.scatter<…>`. The fields have the names of its entries."""

    update_window_dims: tuple[int, ...] = ()
    inserted_window_dims: tuple[int, ...] = ()
    input_batching_dims: tuple[int, ...] = ()
    scatter_indices_batching_dims: tuple[int, ...] = ()
    scatter_dims_to_operand_dims: tuple[int, ...] = ()
    index_vector_dim: int = 0
    dialect = "stablehlo"
    assembly = attribute_format("<", DimensionNumbers("scatter dimension numbers"))


GATHER_DIMENSIONS = of_class(GatherDimensions, "Attribute that models the dimension information for gather")
SCATTER_DIMENSIONS = of_class(
    ScatterDimensions, "Attribute that models the dimension information for scatter"
)


@stablehlo.op("gather", NO_MEMORY_EFFECT, INFERS_COMPATIBLE_TYPES, same_element_types("operand", "result"))
class GatherOp(Op):
    """Gathers the slices of `operand` that start at `start_indices`."""

    operand = op_fields.operand(TENSOR)
    start_indices = op_fields.operand(INT_TENSOR)
    dimension_numbers = op_fields.attr(GATHER_DIMENSIONS)
    slice_sizes = op_fields.attr(I64_ARRAY)
    indices_are_sorted = op_fields.default_valued_optional_attr(BOOL_ATTR, FALSE)
    result = op_fields.result(TENSOR)

    @staticmethod
    def infer_result_types(signature: OpSignature, regions: Sequence[Region]) -> list[Type]:
        operand, indices = signature[GatherOp.operand], signature[GatherOp.start_indices]
        dims, sizes = signature[GatherOp.dimension_numbers], signature[GatherOp.slice_sizes]
        _check_gather(signature, dims, operand, indices, len(sizes))
        _check_slice_sizes(signature, dims, operand, sizes)
        return [_result_type(signature, dims, operand, indices, sizes)]


@stablehlo.op("dynamic_gather", NO_MEMORY_EFFECT)
class DynamicGatherOp(Op):
    """gather with the slice sizes given by an operand."""

    operand = op_fields.operand(TENSOR)
    start_indices = op_fields.operand(INT_TENSOR)
    slice_sizes = op_fields.operand(STATIC_1D_INT_TENSOR)
    dimension_numbers = op_fields.attr(GATHER_DIMENSIONS)
    indices_are_sorted = op_fields.default_valued_optional_attr(BOOL_ATTR, FALSE)
    out = op_fields.result(TENSOR)

    def verify_in_context(self) -> None:
        constant = constant_value(self.slice_sizes.defining_op)
        sizes = integers_of(constant) if isinstance(constant, DenseElements) else None
        infer_and_compare_types(
            self.signature, lambda: dynamic_gather_types(self.signature, sizes), are_compatible, plain_type
        )


def dynamic_gather_types(signature: OpSignature, sizes: Sequence[int] | None) -> list[Type]:
    operand, indices = signature[DynamicGatherOp.operand], signature[DynamicGatherOp.start_indices]
    dims = signature[DynamicGatherOp.dimension_numbers]
    (count,) = signature[DynamicGatherOp.slice_sizes].shape
    _check_gather(signature, dims, operand, indices, count)
    if sizes is None:
        sizes = (DYNAMIC,) * count
    else:
        _check_slice_sizes(signature, dims, operand, sizes)
    return [_result_type(signature, dims, operand, indices, sizes)]


# --- Checks ---------------------------------------------------------------------------------------


def _check_gather(
    signature: OpSignature,
    dims: GatherDimensions,
    operand: RankedTensor,
    indices: RankedTensor,
    size_count: int,
) -> None:
    """Checks the dimension numbers against the operands and the number of slice sizes."""
    _check_counts(signature, dims, operand, indices)
    if not is_sorted(dims.offset_dims):  # gather_c4
        raise signature.error_without_op_note(
            f"expects offset_dims to be sorted, got: [{listing(dims.offset_dims)}]"
        )
    if not is_unique(dims.offset_dims):
        raise signature.error_without_op_note(
            f"expects offset_dims to not repeat, got: [{listing(dims.offset_dims)}]"
        )
    collapsed, batching = dims.collapsed_slice_dims, dims.operand_batching_dims
    # gather_c6
    check_distinct(signature, collapsed, batching, "collapsed_slice_dims", "operand_batching_dims")
    for dimensions, name in (  # gather_c7, gather_c8, gather_c10, gather_c11
        (collapsed, "collapsed_slice_dims"),
        (batching, "operand_batching_dims"),
    ):
        if not is_sorted(dimensions):
            raise signature.error_without_op_note(
                f"expects {name} to be sorted, got: [{listing(dimensions)}]"
            )
        check_all_within(signature, dimensions, operand.rank, name, "rank-of('operand')")
    _check_batching(signature, dims, operand, indices)
    check_distinct(signature, dims.start_index_map, batching, "start_index_map", "operand_batching_dims")
    check_all_within(signature, dims.start_index_map, operand.rank, "start_index_map", "rank-of('operand')")
    if size_count != operand.rank:  # gather_c20
        raise signature.error_without_op_note(
            f"slice_sizes size ({size_count}) not equal to operand rank ({operand.rank})"
        )


def _check_counts(
    signature: OpSignature, dims: GatherDimensions, operand: RankedTensor, indices: RankedTensor
) -> None:
    offset, collapsed = len(dims.offset_dims), len(dims.collapsed_slice_dims)
    batching, vector = len(dims.operand_batching_dims), dims.index_vector_dim
    if operand.rank != offset + collapsed + batching:  # gather_c1
        raise signature.error_without_op_note(
            f"offset_dims size ({offset}) plus collapse_slice_dims size ({collapsed}) plus "
            f"operand_batching_dims size ({batching}) is not equal to operand rank ({operand.rank})"
        )
    check_within(  # gather_c2
        signature, vector, indices.rank, "index_vector_dim", "rank-of('start_indices')", is_inclusive=True
    )
    # Without an index vector dimension, the indices are scalars.
    size = 1 if vector == indices.rank else indices.shape[vector]
    if size not in (DYNAMIC, len(dims.start_index_map)):  # gather_c3
        raise signature.error_without_op_note(
            f"start_index_map size ({len(dims.start_index_map)}) is not equal to size of index dimension "
            f"({vector}) of start_indices ({size})"
        )


def _check_batching(
    signature: OpSignature, dims: GatherDimensions, operand: RankedTensor, indices: RankedTensor
) -> None:
    operand_dims, indices_dims = dims.operand_batching_dims, dims.start_indices_batching_dims
    name = "start_indices_batching_dims"
    if not is_unique(indices_dims):  # gather_c13
        raise signature.error_without_op_note(f"expects {name} to not repeat, got: [{listing(indices_dims)}]")
    check_all_within(signature, indices_dims, indices.rank, name, "rank-of('start_indices')")  # gather_c14
    if dims.index_vector_dim in indices_dims:  # gather_c15
        raise signature.error_without_op_note(
            f"expects {name} not to include index_vector_dim {dims.index_vector_dim}"
        )
    if len(operand_dims) != len(indices_dims):  # gather_c16
        raise signature.error_without_op_note(
            "operand_batching_dims and start_indices_batching_dims should have the same size"
        )
    for number, (left, right) in enumerate(zip(operand_dims, indices_dims, strict=True)):
        sizes = operand.shape[left], indices.shape[right]
        if not are_compatible_sizes(*sizes):  # gather_c17
            raise signature.error_without_op_note(
                f"operand_batching_dims[{number}] and start_indices_batching_dims[{number}] must have "
                f"compatible sizes, but got {sizes[0]} and {sizes[1]}"
            )


def _check_slice_sizes(
    signature: OpSignature, dims: GatherDimensions, operand: RankedTensor, sizes: Dimensions
) -> None:
    for dimensions, name in (  # gather_c9, gather_c12
        (dims.collapsed_slice_dims, "collapsed_slice_dims"),
        (dims.operand_batching_dims, "operand_batching_dims"),
    ):
        for dimension in dimensions:
            if sizes[dimension] > 1:
                raise signature.error_without_op_note(
                    f"Expects that for each dim in {name}, slice_sizes[dim] should be <= 1, but got "
                    f"{sizes[dimension]}"
                )
    for index, (slice_size, size) in enumerate(zip(sizes, operand.shape, strict=True)):
        if slice_size < 0 or (size != DYNAMIC and slice_size > size):  # gather_c21
            raise signature.error_without_op_note(
                f"slice size ({slice_size}) is out of bounds for operand dimension ({size}) at index {index}"
            )


# --- Result ---------------------------------------------------------------------------------------


def _result_type(
    signature: OpSignature,
    dims: GatherDimensions,
    operand: RankedTensor,
    indices: RankedTensor,
    sizes: Dimensions,
) -> Type:
    """The result type: `offset_dims` come from the slices, the other dimensions from the indices."""
    vector = dims.index_vector_dim
    rank = len(dims.offset_dims) + len([d for d in range(indices.rank) if d != vector])
    check_all_within(signature, dims.offset_dims, rank, "offset_dims", "implied-result-rank")  # gather_c5
    dropped = {*dims.collapsed_slice_dims, *dims.operand_batching_dims}
    slice_dimensions = iter([(size, DYNAMIC) for d, size in enumerate(sizes) if d not in dropped])
    batch_dimensions = iter([dimension for d, dimension in enumerate(dimensions_of(indices)) if d != vector])
    offset_dims = set(dims.offset_dims)
    result = [next(slice_dimensions if d in offset_dims else batch_dimensions) for d in range(rank)]
    shape, bounds = [size for size, _ in result], [bound for _, bound in result]
    return RankedTensor(tuple(shape), operand.element, encoding_with(indices.encoding, bounds))


@stablehlo.op("torch_index_select", PURE)
class TorchIndexSelectOp(Op):
    """Selects the slices of the operand along `dim` that `index` lists, as torch.index_select does."""

    operand = op_fields.operand(TENSOR)
    index = op_fields.operand(TENSOR)
    dim = op_fields.attr(I64_ATTR)
    batch_dims = op_fields.attr(I64_ATTR)
    out = op_fields.result(TENSOR)
