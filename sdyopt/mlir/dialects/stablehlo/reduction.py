"""stablehlo.reduce, reduce_window and sort."""

from __future__ import annotations

from collections.abc import Sequence

from sdyopt.mlir.asm.format.assembly_format import Custom, assembly
from sdyopt.mlir.dialects.stablehlo.attribute_constraints import I64_ELEMENTS
from sdyopt.mlir.dialects.stablehlo.bounds import bounds_of, encoding_with
from sdyopt.mlir.dialects.stablehlo.control_flow import is_boolean_scalar
from sdyopt.mlir.dialects.stablehlo.diagnostic_text import quoted
from sdyopt.mlir.dialects.stablehlo.dialect import stablehlo
from sdyopt.mlir.dialects.stablehlo.reduce_assembly import applied_op, parse_reduce, write_reduce
from sdyopt.mlir.dialects.stablehlo.reducer import check_reducer
from sdyopt.mlir.dialects.stablehlo.region_signatures import (
    SINGLE_BLOCK,
    RegionSignature,
    RegionSignatures,
    RegionVerifyingOp,
    region_signature,
)
from sdyopt.mlir.dialects.stablehlo.traits import INFERS_COMPATIBLE_TYPES
from sdyopt.mlir.dialects.stablehlo.types import TENSOR
from sdyopt.mlir.dialects.stablehlo.window import (
    WindowDimension,
    checked_window,
    padding_pairs,
    window_result_shape,
)
from sdyopt.mlir.ir import op_fields
from sdyopt.mlir.ir.block import Region
from sdyopt.mlir.ir.builtin_attributes import FALSE, IntegerAttr
from sdyopt.mlir.ir.constraints import BOOL_ATTR, I64_ARRAY, I64_ATTR, ONE_BLOCK
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.shape_traits import SAME_SHAPE, are_compatible_shapes
from sdyopt.mlir.ir.traits import RECURSIVE_EFFECTS, SAME_SIZE_OPERANDS
from sdyopt.mlir.ir.types import I64, RankedTensor, Type, element_of, tensor


@stablehlo.op("reduce", RECURSIVE_EFFECTS, SAME_SIZE_OPERANDS, INFERS_COMPATIBLE_TYPES, SINGLE_BLOCK)
class ReduceOp(RegionVerifyingOp):
    """Reduces the inputs along some dimensions, starting from the initial values."""

    __slots__ = ()

    inputs = op_fields.operands(TENSOR)
    init_values = op_fields.operands(TENSOR)
    dimensions = op_fields.attr(I64_ARRAY)
    out = op_fields.results(TENSOR)
    body = op_fields.region(ONE_BLOCK)

    assembly = assembly(Custom(parse_reduce, write_reduce, elides=["dimensions"]))

    def hides_regions(self) -> bool:
        return applied_op(self) is not None

    @staticmethod
    def verify_region_signatures(signature: OpSignature, regions: RegionSignatures) -> None:
        shape, _ = signature.cached(_kept_dimensions)
        inputs, init_values = signature[ReduceOp.inputs], signature[ReduceOp.init_values]
        check_reducer(signature, regions[0], inputs, init_values, shape)

    @staticmethod
    def infer_result_types(signature: OpSignature, regions: Sequence[Region]) -> Sequence[Type]:
        shape, bounds = signature.cached(_kept_dimensions)
        inputs = signature[ReduceOp.inputs]
        encoding = encoding_with(inputs[0].encoding, bounds) if bounds else None
        elements = _accumulator_element_types(regions[0], inputs)
        return [RankedTensor(tuple(shape), element, encoding) for element in elements]


def _kept_dimensions(signature: OpSignature) -> tuple[list[int], list[int]]:
    """The sizes and bounds of the first input's dimensions that are not reduced. Raises a SignatureError."""
    inputs = signature[ReduceOp.inputs]
    if not inputs:
        raise signature.error_without_op_note("requires at least 1 input value")
    first = inputs[0]
    check_compatible_inputs(signature, inputs)
    reduced = set()
    for dimension in signature[ReduceOp.dimensions]:
        if not 0 <= dimension < first.rank:  # reduce_c4
            raise signature.error_without_op_note(
                f"Out-of-bounds dimension {dimension}, expected to be in range [0, {first.rank})"
            )
        if dimension in reduced:  # reduce_c5
            raise signature.error_without_op_note(f"Duplicate reduction dimension: {dimension}")
        reduced.add(dimension)
    return _without(first.shape, reduced), _without(bounds_of(first), reduced)


def _without(values: Sequence[int], dropped: set[int]) -> list[int]:
    return [value for index, value in enumerate(values) if index not in dropped]


def check_compatible_inputs(signature: OpSignature, inputs: Sequence[Type]) -> None:
    """Checks that all inputs have shapes compatible with the first one."""
    for index, input in enumerate(inputs):
        if not are_compatible_shapes([inputs[0], input]):  # reduce_c1, reduce_window_c2
            raise signature.error_without_op_note(
                f"expects all inputs to have compatible shapes. Shape at input-index {index} is not "
                "compatible with shape at input-index 0"
            )


def _accumulator_element_types(region: Region, inputs: Sequence[Type]) -> list[Type]:
    """The result element types: those the region returns, or those of the inputs if the region is empty."""
    types = inputs if region.is_empty else region_signature(region).returned_types
    return [element_of(type) for type in types[: len(inputs)]]


@stablehlo.op("reduce_window", RECURSIVE_EFFECTS, SAME_SIZE_OPERANDS, SINGLE_BLOCK, INFERS_COMPATIBLE_TYPES)
class ReduceWindowOp(RegionVerifyingOp):
    """Reduces the inputs over a sliding window."""

    __slots__ = ()

    inputs = op_fields.operands(TENSOR)
    init_values = op_fields.operands(TENSOR)
    window_dimensions = op_fields.attr(I64_ARRAY)
    window_strides = op_fields.optional_attr(I64_ARRAY)
    base_dilations = op_fields.optional_attr(I64_ARRAY)
    window_dilations = op_fields.optional_attr(I64_ARRAY)
    padding = op_fields.optional_attr(I64_ELEMENTS)
    out = op_fields.results(TENSOR)
    body = op_fields.region(ONE_BLOCK)

    @staticmethod
    def verify_region_signatures(signature: OpSignature, regions: RegionSignatures) -> None:
        signature.cached(_reduce_window_dimensions)
        check_reducer(
            signature,
            regions[0],
            signature[ReduceWindowOp.inputs],
            signature[ReduceWindowOp.init_values],
            signature[ReduceWindowOp.window_dimensions],
        )

    @staticmethod
    def infer_result_types(signature: OpSignature, regions: Sequence[Region]) -> Sequence[Type]:
        window = signature.cached(_reduce_window_dimensions)
        inputs = signature[ReduceWindowOp.inputs]
        elements = _accumulator_element_types(regions[0], inputs)
        return [
            _window_result_type(input, element, window)
            for input, element in zip(inputs, elements, strict=True)
        ]


def _reduce_window_dimensions(signature: OpSignature) -> list[WindowDimension]:
    inputs = signature[ReduceWindowOp.inputs]
    if not inputs:  # reduce_window_c1
        raise signature.error_without_op_note("requires at least 1 input value")
    check_compatible_inputs(signature, inputs)
    padding = padding_pairs(signature, signature[ReduceWindowOp.padding])
    sizes = signature[ReduceWindowOp.window_dimensions]
    for input in inputs:
        if input.rank != len(sizes):  # reduce_window_c4
            raise signature.error_without_op_note(
                "expects window-dimensions size == input rank, but got window-dimensions size: "
                f"{len(sizes)} and input: {quoted(input)} with rank = {input.rank}."
            )
    return checked_window(
        signature,
        sizes,
        signature[ReduceWindowOp.window_strides],
        padding,
        signature[ReduceWindowOp.base_dilations],
        signature[ReduceWindowOp.window_dilations],
    )


def _window_result_type(input: RankedTensor, element: Type, window: Sequence[WindowDimension]) -> Type:
    shape = tuple(window_result_shape(input.shape, window))
    bounds = bounds_of(input)
    if not bounds:
        return tensor(shape, element)
    return RankedTensor(shape, element, encoding_with(input.encoding, window_result_shape(bounds, window)))


@stablehlo.op("sort", RECURSIVE_EFFECTS, SAME_SHAPE, INFERS_COMPATIBLE_TYPES)
class SortOp(RegionVerifyingOp):
    """Sorts the inputs together along one dimension.

    The comparator region compares their elements at two positions.
    """

    __slots__ = ()

    inputs = op_fields.operands(TENSOR)
    dimension = op_fields.default_valued_optional_attr(I64_ATTR, IntegerAttr(-1, I64))
    is_stable = op_fields.default_valued_optional_attr(BOOL_ATTR, FALSE)
    out = op_fields.results(TENSOR)
    comparator = op_fields.region(ONE_BLOCK)

    @staticmethod
    def verify_region_signatures(signature: OpSignature, regions: RegionSignatures) -> None:
        rank, dimension = signature[SortOp.inputs][0].rank, signature[SortOp.dimension]
        if not -rank <= dimension < rank:  # sort_c4
            raise signature.error_without_op_note(
                f"dimension attribute value must be in range [-{rank}, {rank}), but found {dimension}"
            )
        _check_comparator(signature, regions[0])

    @staticmethod
    def infer_result_types(signature: OpSignature, regions: Sequence[Region]) -> Sequence[Type]:
        return signature.operand_types  # sort_c2


def _check_comparator(signature: OpSignature, comparator: RegionSignature) -> None:
    inputs = signature.operand_types
    if len(comparator.argument_types) != 2 * len(inputs):  # sort_c5
        raise signature.error_without_op_note(f"comparator block should have {2 * len(inputs)} arguments")
    for index, argument in enumerate(comparator.argument_types):
        expected = tensor((), element_of(inputs[index // 2]))
        if argument is not expected:  # sort_c5
            raise signature.error_without_op_note(
                f"comparator block argument #{index} should be of type {quoted(expected)} but got "
                f"{quoted(argument)}"
            )
    if len(comparator.returned_types) != 1:  # sort_c5
        raise signature.error_without_op_note(
            f"comparator must return single output but got {len(comparator.returned_types)}"
        )
    if not is_boolean_scalar(comparator.returned_types[0]):  # sort_c5
        raise signature.error_without_op_note(
            f"comparator must return tensor<i1> but got {quoted(comparator.returned_types[0])}"
        )
