"""stablehlo.scatter and select_and_scatter."""

from __future__ import annotations

from collections.abc import Sequence

from sdyopt.mlir.dialects.stablehlo.dialect import (
    I64_ELEMENTS,
    Dimensions,
    are_shapes_compatible,
    check_all_within,
    check_distinct,
    check_within,
    is_sorted,
    is_unique,
    listing,
    quoted,
    stablehlo,
)
from sdyopt.mlir.dialects.stablehlo.gather import SCATTER_DIMENSIONS, ScatterDimensions
from sdyopt.mlir.dialects.stablehlo.reducer import (
    RegionSignature,
    RegionSignatures,
    RegionVerifyingOp,
    check_reducer,
    checked_window,
    have_compatible_shapes_and_element_types,
    padding_pairs,
    region_signature,
    window_result_shape,
)
from sdyopt.mlir.dialects.stablehlo.type_compatibility import INFERS_COMPATIBLE_TYPES
from sdyopt.mlir.dialects.stablehlo.types import INTEGER_OR_INDEX_TENSOR, TENSOR
from sdyopt.mlir.ir import op_fields
from sdyopt.mlir.ir.block import Region
from sdyopt.mlir.ir.builtin_attributes import FALSE
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.shape_traits import are_compatible_sizes
from sdyopt.mlir.ir.traits import BOOL_ATTR, I64_ARRAY, ONE_BLOCK, RECURSIVE_EFFECTS, SAME_SIZE_OPERANDS
from sdyopt.mlir.ir.types import DYNAMIC, I1, RankedTensor, Type, element_of, tensor


@stablehlo.op("scatter", RECURSIVE_EFFECTS, SAME_SIZE_OPERANDS, INFERS_COMPATIBLE_TYPES)
class ScatterOp(RegionVerifyingOp):
    """Combines the slices of the inputs that start at `scatter_indices` with the updates."""

    inputs = op_fields.operands(TENSOR)
    scatter_indices = op_fields.operand(INTEGER_OR_INDEX_TENSOR)
    updates = op_fields.operands(TENSOR)
    scatter_dimension_numbers = op_fields.attr(SCATTER_DIMENSIONS)
    indices_are_sorted = op_fields.default_valued_optional_attr(BOOL_ATTR, FALSE)
    unique_indices = op_fields.default_valued_optional_attr(BOOL_ATTR, FALSE)
    outs = op_fields.results(TENSOR)
    update_computation = op_fields.region(ONE_BLOCK)

    @staticmethod
    def infer_result_types(signature: OpSignature, regions: Sequence[Region]) -> list[Type]:
        return accumulator_types(signature[ScatterOp.inputs], regions[0])

    @staticmethod
    def verify_region_signatures(signature: OpSignature, regions: RegionSignatures) -> None:
        dims, indices = signature[ScatterOp.scatter_dimension_numbers], signature[ScatterOp.scatter_indices]
        inputs, updates = signature[ScatterOp.inputs], signature[ScatterOp.updates]
        for types, what in ((inputs, "inputs"), (updates, "updates")):  # scatter_c1, scatter_c3
            if not all(are_shapes_compatible(types[0].shape, type.shape) for type in types):
                raise signature.error_without_op_note(f"Not all {what} have compatible shapes.")
        check_within(  # scatter_c22
            signature,
            dims.index_vector_dim,
            indices.rank,
            "index_vector_dim",
            "rank-of('scatter_indices')",
            is_inclusive=True,
        )
        # scatter_c6, scatter_c23
        check_reducer(signature, regions[0], inputs, [tensor((), type.element) for type in updates], ())
        # Without an index vector dimension, the indices are scalars.
        indices_shape = indices.shape + (1,) * (dims.index_vector_dim == indices.rank)
        checked = _ScatterTypes(signature, dims, indices_shape)
        for update in updates:
            checked.check_update_rank(update)
        for input, update in zip(inputs, updates, strict=True):
            checked.check_dimension_numbers(input, update)
        for input, update in zip(inputs, updates, strict=True):
            checked.check_update_shape(input, update)


def accumulator_types(inputs: Sequence[RankedTensor], region: Region) -> list[Type]:
    """The input types, with the element types that the reducer region returns unless the region is empty."""
    returned = region_signature(region).returned_types if region.blocks else inputs
    return [
        RankedTensor(input.shape, element_of(type), input.encoding)
        for input, type in zip(inputs, returned, strict=False)
    ]


class _ScatterTypes:
    """The dimension numbers and index shape of a scatter, which inputs and updates are checked against."""

    def __init__(self, signature: OpSignature, dims: ScatterDimensions, indices_shape: Dimensions) -> None:
        self.signature = signature
        self.dims = dims
        self.indices_shape = indices_shape

    def check_update_rank(self, update: RankedTensor) -> None:
        expected = len(self.indices_shape) - 1 + len(self.dims.update_window_dims)
        if update.rank != expected:  # scatter_c4
            raise self.signature.error_without_op_note(
                f"expects updates tensor must be of rank {expected} ( == rank-of('scatter_indices') - 1 + "
                "size-of('update_window_dims'), where 'scatter_indices' is expanded by a trailing 1 "
                "dimension "
                f"if 'index_vector_dim' == rank-of('scatter_indices')), but got {update.rank}."
            )

    def check_dimension_numbers(self, input: RankedTensor, update: RankedTensor) -> None:
        window, inserted, batching = (
            self.dims.update_window_dims,
            self.dims.inserted_window_dims,
            self.dims.input_batching_dims,
        )
        count = len(window) + len(inserted) + len(batching)
        if input.rank != count:  # scatter_c2
            raise self.signature.error_without_op_note(
                "Expects rank-of operand to match size-of('update_window_dims') + "
                f"size-of('inserted_window_dims') + size-of('input_batching_dims') i.e. {count} but got "
                f"{input.rank}."
            )
        self._check_sorted(window, "update_window_dims")  # scatter_c7
        if not is_unique(window):
            raise self.signature.error_without_op_note(
                f"Expects update_window_dims to not repeat; got: [{listing(window)}]."
            )
        check_all_within(
            self.signature, window, update.rank, "update_window_dims", "rank-of('updates')"
        )  # scatter_c8
        check_distinct(
            self.signature, inserted, batching, "inserted_window_dims", "input_batching_dims"
        )  # scatter_c9
        for dimensions, name in (  # scatter_c10 to scatter_c13
            (inserted, "inserted_window_dims"),
            (batching, "input_batching_dims"),
        ):
            self._check_sorted(dimensions, name)
            check_all_within(self.signature, dimensions, input.rank, name, "rank-of('operand')")
        self._check_batching(input)
        self._check_index_vectors()
        targets, name = self.dims.scatter_dims_to_operand_dims, "scatter_dims_to_operand_dims"
        check_distinct(self.signature, targets, batching, name, "input_batching_dims")  # scatter_c20
        check_all_within(self.signature, targets, input.rank, name, "rank-of('operand')")  # scatter_c21

    def _check_sorted(self, dimensions: Dimensions, name: str) -> None:
        if not is_sorted(dimensions):
            raise self.signature.error_without_op_note(
                f"Expects {name} to be sorted; got: [{listing(dimensions)}]."
            )

    def _check_batching(self, input: RankedTensor) -> None:
        input_dims, indices_dims = self.dims.input_batching_dims, self.dims.scatter_indices_batching_dims
        name = "scatter_indices_batching_dims"
        if not is_unique(indices_dims):  # scatter_c14
            raise self.signature.error_without_op_note(
                f"Expects {name} to not repeat; got: [{listing(indices_dims)}]."
            )
        # scatter_c15
        check_all_within(
            self.signature, indices_dims, len(self.indices_shape), name, "rank-of('scatter_indices')"
        )
        if self.dims.index_vector_dim in indices_dims:  # scatter_c16
            raise self.signature.error_without_op_note(
                f"expects {name} not to include index_vector_dim {self.dims.index_vector_dim}."
            )
        if len(input_dims) != len(indices_dims):  # scatter_c17
            raise self.signature.error_without_op_note(
                "input_batching_dims and scatter_indices_batching_dims should have the same size."
            )
        for number, (left, right) in enumerate(zip(input_dims, indices_dims, strict=True)):
            if not are_compatible_sizes(input.shape[left], self.indices_shape[right]):  # scatter_c18
                raise self.signature.error_without_op_note(
                    f"input_batching_dims[{number}] and scatter_indices_batching_dims[{number}] must have "
                    f"compatible sizes, but got {input.shape[left]} and {self.indices_shape[right]}."
                )

    def _check_index_vectors(self) -> None:
        size, count = (
            self.indices_shape[self.dims.index_vector_dim],
            len(self.dims.scatter_dims_to_operand_dims),
        )
        if size not in (DYNAMIC, count):  # scatter_c19
            raise self.signature.error_without_op_note(
                f"Scatter op has {count} elements in scatter_dims_to_operand_dims and the bound of dimension "
                f"index_vector_dim={self.dims.index_vector_dim} of scatter_indices is {size}. These "
                "two numbers must "
                "be equal."
            )

    def check_update_shape(self, input: RankedTensor, update: RankedTensor) -> None:
        """Checks the window dimensions of an update against its input, and the others against the indices."""
        dropped = {*self.dims.inserted_window_dims, *self.dims.input_batching_dims}
        window_sizes = [size for dimension, size in enumerate(input.shape) if dimension not in dropped]
        for dimension, limit in zip(self.dims.update_window_dims, window_sizes, strict=True):
            size = update.shape[dimension]
            if DYNAMIC not in (size, limit) and size > limit:  # scatter_c4
                raise self.signature.error_without_op_note(
                    "expects bounds of the window dimensions of updates to not exceed the bounds of the "
                    f"corresponding dimensions of operand. For dimension {dimension}, updates bound "
                    f"is {size}, "
                    f"operand bound is {limit}."
                )
        scatter_sizes = [
            size
            for dimension, size in enumerate(self.indices_shape)
            if dimension != self.dims.index_vector_dim
        ]
        scatter_dims = [d for d in range(update.rank) if d not in self.dims.update_window_dims]
        for dimension, expected in zip(scatter_dims, scatter_sizes, strict=True):
            size = update.shape[dimension]
            if not are_compatible_sizes(size, expected):  # scatter_c4
                raise self.signature.error_without_op_note(
                    "expects bounds of the scatter dimensions of updates to be same as the bounds of the "
                    f"corresponding dimensions of scatter indices. For scatter dimension {dimension}, "
                    "updates "
                    f"bound is {size} , scatter_indices bound is {expected}."
                )


@stablehlo.op("select_and_scatter", INFERS_COMPATIBLE_TYPES, RECURSIVE_EFFECTS)
class SelectAndScatterOp(RegionVerifyingOp):
    """Scatters source values to the positions that `select` picks in the operand's windows.

    There is a window for each source value. `scatter` combines the values scattered to a position, starting
    from `init_value`.
    """

    operand = op_fields.operand(TENSOR)
    source = op_fields.operand(TENSOR)
    init_value = op_fields.operand(TENSOR)
    window_dimensions = op_fields.optional_attr(I64_ARRAY)
    window_strides = op_fields.optional_attr(I64_ARRAY)
    padding = op_fields.optional_attr(I64_ELEMENTS)
    out = op_fields.result(TENSOR)
    select = op_fields.region(ONE_BLOCK)
    scatter = op_fields.region(ONE_BLOCK)

    @staticmethod
    def infer_result_types(signature: OpSignature, regions: Sequence[Region]) -> list[Type]:
        return accumulator_types([signature[SelectAndScatterOp.operand]], regions[1])

    @staticmethod
    def verify_region_signatures(signature: OpSignature, regions: RegionSignatures) -> None:
        select, scatter = regions
        operand, source = signature[SelectAndScatterOp.operand], signature[SelectAndScatterOp.source]
        init_value = signature[SelectAndScatterOp.init_value]
        _check_select(signature, select, operand)
        # select_and_scatter_c10
        check_reducer(signature, scatter, [tensor((), source.element)], [init_value], ())
        sizes = signature[SelectAndScatterOp.window_dimensions] or ()
        if operand.rank != len(sizes):  # select_and_scatter_c4
            raise signature.error_without_op_note(
                "expects window-dimensions size == operand rank, but got window-dimensions size: "
                f"{len(sizes)} and operand-type: {quoted(operand)} with rank = {operand.rank}."
            )
        window = checked_window(
            signature,
            sizes,
            signature[SelectAndScatterOp.window_strides],
            padding_pairs(signature, signature[SelectAndScatterOp.padding]),
        )
        expected = tensor(tuple(window_result_shape(operand.shape, window)), operand.element)
        # select_and_scatter_c1
        if not have_compatible_shapes_and_element_types(expected, source, ignores_precision=True):
            raise signature.error_without_op_note(
                f"expects source-type to be {quoted(expected)}, but got{quoted(source)}"
            )


def _check_select(signature: OpSignature, select: RegionSignature, operand: RankedTensor) -> None:
    """Checks that the select region takes two scalars of the operand's element type and returns a bool."""
    if len(select.argument_types) != 2:  # select_and_scatter_c9
        raise signature.error_without_op_note(
            f"expects the select-region to take 2 parameters, but takes {len(select.argument_types)}"
        )
    expected = tensor((), operand.element)
    for index, argument in enumerate(select.argument_types):
        if not have_compatible_shapes_and_element_types(expected, argument, ignores_precision=True):
            raise signature.error_without_op_note(
                f"expects the type of select-region's parameter at index {index} to be "
                f"{quoted(expected)}, but got {quoted(argument)}"
            )
    if len(select.returned_types) != 1:
        raise signature.error_without_op_note(
            f"expects select-region to return single value, but got: {len(select.returned_types)}"
        )
    (type,) = select.returned_types
    if not isinstance(type, RankedTensor) or type.element is not I1 or type.rank != 0:
        raise signature.error_without_op_note(
            f"expects the return-type of select-region to be tensor<i1>, but got: {quoted(type)}"
        )
