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
from sdyopt.mlir.ir.cse import constant_value
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.shape_traits import are_compatible_sizes, same_element_types
from sdyopt.mlir.ir.traits import BOOL_ATTR, I64_ARRAY, I64_ATTR, NO_MEMORY_EFFECT, PURE, of_class
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
        types = _GatherTypes(signature, dims, operand, indices)
        types.check_gather(len(sizes))
        types.check_slice_sizes(sizes)
        return [types.result_type(sizes)]


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
    types = _GatherTypes(signature, dims, operand, indices)
    types.check_gather(count)
    if sizes is None:
        sizes = (DYNAMIC,) * count
    else:
        types.check_slice_sizes(sizes)
    return [types.result_type(sizes)]


# --- Checks ---------------------------------------------------------------------------------------


class _GatherTypes:
    """The dimension numbers and operand types of a gather, which are checked against each other."""

    def __init__(
        self, signature: OpSignature, dims: GatherDimensions, operand: RankedTensor, indices: RankedTensor
    ) -> None:
        self.signature = signature
        self.dims = dims
        self.operand = operand
        self.indices = indices

    def check_gather(self, size_count: int) -> None:
        """Checks the dimension numbers against the operands and the number of slice sizes."""
        self._check_counts()
        if not is_sorted(self.dims.offset_dims):  # gather_c4
            raise self.signature.error_without_op_note(
                f"expects offset_dims to be sorted, got: [{listing(self.dims.offset_dims)}]"
            )
        if not is_unique(self.dims.offset_dims):
            raise self.signature.error_without_op_note(
                f"expects offset_dims to not repeat, got: [{listing(self.dims.offset_dims)}]"
            )
        collapsed, batching = self.dims.collapsed_slice_dims, self.dims.operand_batching_dims
        # gather_c6
        check_distinct(self.signature, collapsed, batching, "collapsed_slice_dims", "operand_batching_dims")
        for dimensions, name in (  # gather_c7, gather_c8, gather_c10, gather_c11
            (collapsed, "collapsed_slice_dims"),
            (batching, "operand_batching_dims"),
        ):
            if not is_sorted(dimensions):
                raise self.signature.error_without_op_note(
                    f"expects {name} to be sorted, got: [{listing(dimensions)}]"
                )
            check_all_within(self.signature, dimensions, self.operand.rank, name, "rank-of('operand')")
        self._check_batching()
        check_distinct(
            self.signature, self.dims.start_index_map, batching, "start_index_map", "operand_batching_dims"
        )
        check_all_within(
            self.signature,
            self.dims.start_index_map,
            self.operand.rank,
            "start_index_map",
            "rank-of('operand')",
        )
        if size_count != self.operand.rank:  # gather_c20
            raise self.signature.error_without_op_note(
                f"slice_sizes size ({size_count}) not equal to operand rank ({self.operand.rank})"
            )

    def _check_counts(self) -> None:
        offset, collapsed = len(self.dims.offset_dims), len(self.dims.collapsed_slice_dims)
        batching, vector = len(self.dims.operand_batching_dims), self.dims.index_vector_dim
        if self.operand.rank != offset + collapsed + batching:  # gather_c1
            raise self.signature.error_without_op_note(
                f"offset_dims size ({offset}) plus collapse_slice_dims size ({collapsed}) plus "
                f"operand_batching_dims size ({batching}) is not equal to operand rank ({self.operand.rank})"
            )
        check_within(  # gather_c2
            self.signature,
            vector,
            self.indices.rank,
            "index_vector_dim",
            "rank-of('start_indices')",
            is_inclusive=True,
        )
        # Without an index vector dimension, the indices are scalars.
        size = 1 if vector == self.indices.rank else self.indices.shape[vector]
        if size not in (DYNAMIC, len(self.dims.start_index_map)):  # gather_c3
            raise self.signature.error_without_op_note(
                f"start_index_map size ({len(self.dims.start_index_map)}) is not equal to size of "
                "index dimension "
                f"({vector}) of start_indices ({size})"
            )

    def _check_batching(self) -> None:
        operand_dims, indices_dims = self.dims.operand_batching_dims, self.dims.start_indices_batching_dims
        name = "start_indices_batching_dims"
        if not is_unique(indices_dims):  # gather_c13
            raise self.signature.error_without_op_note(
                f"expects {name} to not repeat, got: [{listing(indices_dims)}]"
            )
        check_all_within(
            self.signature, indices_dims, self.indices.rank, name, "rank-of('start_indices')"
        )  # gather_c14
        if self.dims.index_vector_dim in indices_dims:  # gather_c15
            raise self.signature.error_without_op_note(
                f"expects {name} not to include index_vector_dim {self.dims.index_vector_dim}"
            )
        if len(operand_dims) != len(indices_dims):  # gather_c16
            raise self.signature.error_without_op_note(
                "operand_batching_dims and start_indices_batching_dims should have the same size"
            )
        for number, (left, right) in enumerate(zip(operand_dims, indices_dims, strict=True)):
            sizes = self.operand.shape[left], self.indices.shape[right]
            if not are_compatible_sizes(*sizes):  # gather_c17
                raise self.signature.error_without_op_note(
                    f"operand_batching_dims[{number}] and start_indices_batching_dims[{number}] must have "
                    f"compatible sizes, but got {sizes[0]} and {sizes[1]}"
                )

    def check_slice_sizes(self, sizes: Dimensions) -> None:
        for dimensions, name in (  # gather_c9, gather_c12
            (self.dims.collapsed_slice_dims, "collapsed_slice_dims"),
            (self.dims.operand_batching_dims, "operand_batching_dims"),
        ):
            for dimension in dimensions:
                if sizes[dimension] > 1:
                    raise self.signature.error_without_op_note(
                        f"Expects that for each dim in {name}, slice_sizes[dim] should be <= 1, but got "
                        f"{sizes[dimension]}"
                    )
        for index, (slice_size, size) in enumerate(zip(sizes, self.operand.shape, strict=True)):
            if slice_size < 0 or (size != DYNAMIC and slice_size > size):  # gather_c21
                raise self.signature.error_without_op_note(
                    f"slice size ({slice_size}) is out of bounds for operand dimension ({size}) at "
                    f"index {index}"
                )

    def result_type(self, sizes: Dimensions) -> Type:
        """The result type: `offset_dims` come from the slices, the other dimensions from the indices."""
        vector = self.dims.index_vector_dim
        rank = len(self.dims.offset_dims) + len([d for d in range(self.indices.rank) if d != vector])
        check_all_within(
            self.signature, self.dims.offset_dims, rank, "offset_dims", "implied-result-rank"
        )  # gather_c5
        dropped = {*self.dims.collapsed_slice_dims, *self.dims.operand_batching_dims}
        slice_dimensions = iter([(size, DYNAMIC) for d, size in enumerate(sizes) if d not in dropped])
        batch_dimensions = iter(
            [dimension for d, dimension in enumerate(dimensions_of(self.indices)) if d != vector]
        )
        offset_dims = set(self.dims.offset_dims)
        result = [next(slice_dimensions if d in offset_dims else batch_dimensions) for d in range(rank)]
        shape, bounds = [size for size, _ in result], [bound for _, bound in result]
        return RankedTensor(tuple(shape), self.operand.element, encoding_with(self.indices.encoding, bounds))


# --- Result ---------------------------------------------------------------------------------------


@stablehlo.op("torch_index_select", PURE)
class TorchIndexSelectOp(Op):
    """Selects the slices of the operand along `dim` that `index` lists, as torch.index_select does."""

    operand = op_fields.operand(TENSOR)
    index = op_fields.operand(TENSOR)
    dim = op_fields.attr(I64_ATTR)
    batch_dims = op_fields.attr(I64_ATTR)
    out = op_fields.result(TENSOR)
