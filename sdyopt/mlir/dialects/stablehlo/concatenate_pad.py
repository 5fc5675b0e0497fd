"""stablehlo.concatenate, pad and dynamic_pad."""

from __future__ import annotations

from collections.abc import Sequence

from sdyopt.mlir.asm.format.assembly_format import assembly
from sdyopt.mlir.dialects.stablehlo import types
from sdyopt.mlir.dialects.stablehlo.dialect import listing, stablehlo
from sdyopt.mlir.dialects.stablehlo.type_compatibility import (
    INFERS_COMPATIBLE_TYPES,
    concatenated_dimension,
    constant_integers,
    most_specific_dimension,
)
from sdyopt.mlir.dialects.stablehlo.types import bounds_of, encoding_with
from sdyopt.mlir.ir import op_fields
from sdyopt.mlir.ir.block import Region
from sdyopt.mlir.ir.constraints import I64_ARRAY, I64_ATTR, non_negative
from sdyopt.mlir.ir.op_fields import attr, operands, result
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.shape_traits import (
    SAME_ELEMENT_TYPE,
    are_compatible_sizes,
    same_attribute_sizes,
    same_element_types,
    same_ranks,
    same_types,
)
from sdyopt.mlir.ir.traits import NO_MEMORY_EFFECT
from sdyopt.mlir.ir.types import DYNAMIC, RankedTensor, Type


@stablehlo.op("concatenate", NO_MEMORY_EFFECT, SAME_ELEMENT_TYPE, INFERS_COMPATIBLE_TYPES)
class ConcatenateOp(Op):
    """Concatenates tensors along one dimension."""

    inputs = operands(types.TENSOR)
    dimension = attr(non_negative(I64_ATTR))
    out = result(types.TENSOR)

    assembly = assembly(
        "custom<OperandsWithCommas>($inputs) `dim` `=` custom<Integer>($dimension) attr-dict `:` "
        "functional-type(operands, results)"
    )

    @staticmethod
    def infer_result_types(signature: OpSignature, regions: Sequence[Region]) -> list[Type]:
        inputs, concatenated = signature[ConcatenateOp.inputs], signature[ConcatenateOp.dimension]
        first = inputs[0]
        if not first.rank:  # concatenate_c4
            raise signature.error_without_op_note("rank-0 values cannot be concatenated")
        if concatenated >= first.rank:
            raise signature.error_without_op_note(
                f"dimension {concatenated} is out-of-bounds for input rank {first.rank}"
            )
        for index, type in enumerate(inputs):  # concatenate_c2
            _check_input(signature, index, first, type)
        merged = [(DYNAMIC, DYNAMIC)] * first.rank
        merged[concatenated] = (0, DYNAMIC)
        for type in inputs:
            bounds = bounds_of(type) or (DYNAMIC,) * type.rank
            for index, dimension in enumerate(zip(type.shape, bounds, strict=True)):
                if index == concatenated:
                    merged[index] = concatenated_dimension(merged[index], dimension)
                else:
                    merged[index] = most_specific_dimension(signature, index, merged[index], dimension)
        encoding = next((type.encoding for type in inputs if type.encoding is not None), None)
        bounds = tuple(bound for _, bound in merged) if any(map(bounds_of, inputs)) else ()
        shape = tuple(size for size, _ in merged)
        return [RankedTensor(shape, first.element, encoding_with(encoding, bounds))]


def _check_input(signature: OpSignature, index: int, first: RankedTensor, type: RankedTensor) -> None:
    if type.rank != first.rank:
        raise signature.error_without_op_note(f"operands (0) and ({index}) do not match rank")
    for dimension, sizes in enumerate(zip(first.shape, type.shape, strict=True)):
        if dimension != signature[ConcatenateOp.dimension] and not are_compatible_sizes(*sizes):
            raise signature.error_without_op_note(
                f"shapes of operand (0) and ({index}) are not compatible at non-concat index {dimension}: "
                f"({listing(first.shape)}) != ({listing(type.shape)})"
            )


_PADDING_FIELDS = ("edge_padding_low", "edge_padding_high", "interior_padding")


@stablehlo.op(
    "pad",
    same_attribute_sizes(*_PADDING_FIELDS),
    NO_MEMORY_EFFECT,
    SAME_ELEMENT_TYPE,
    INFERS_COMPATIBLE_TYPES,
)
class PadOp(Op):
    """Inserts a value before, after and between the elements; negative edge padding removes elements."""

    operand = op_fields.operand(types.TENSOR)
    padding_value = op_fields.operand(types.SCALAR_TENSOR)
    edge_padding_low = attr(I64_ARRAY)
    edge_padding_high = attr(I64_ARRAY)
    interior_padding = attr(I64_ARRAY)
    out = result(types.TENSOR)

    assembly = assembly(
        "$operand `,` $padding_value `,` `low` `=` custom<DenseI64Array>($edge_padding_low) `,` `high` `=` "
        "custom<DenseI64Array>($edge_padding_high) `,` `interior` `=` "
        "custom<DenseI64Array>($interior_padding) attr-dict `:` functional-type(operands, results)"
    )

    @staticmethod
    def infer_result_types(signature: OpSignature, regions: Sequence[Region]) -> list[Type]:
        source, count = signature[PadOp.operand], len(signature[PadOp.edge_padding_low])
        if count != source.rank:  # pad_c2
            raise signature.error_without_op_note(
                f"edge_padding_low length ({count}) must match operand rank ({source.rank})"
            )
        bounds = bounds_of(source)
        padded = [
            (
                _padded_size(signature, index, source.shape[index], "size"),
                _padded_size(signature, index, bound, "bound"),
            )
            for index, bound in enumerate(bounds or (DYNAMIC,) * source.rank)
        ]
        shape = tuple(size for size, _ in padded)
        encoding = encoding_with(source.encoding, [bound for _, bound in padded] if bounds else [])
        return [RankedTensor(shape, source.element, encoding)]


def _padded_size(signature: OpSignature, index: int, size: int, what: str) -> int:
    interior = signature[PadOp.interior_padding][index]
    if interior < 0:  # pad_c3
        raise signature.error_without_op_note(f"Interior padding cannot be negative: {interior}")
    if size == DYNAMIC:
        return DYNAMIC
    edges = signature[PadOp.edge_padding_low][index] + signature[PadOp.edge_padding_high][index]
    padded = size + edges + max(size - 1, 0) * interior
    if padded < 0:  # pad_c4
        raise signature.error_without_op_note(f"Padding result in negative {what} for dimension {index}")
    return padded


@stablehlo.op(
    "dynamic_pad",
    same_element_types("operand", "padding_value", out="result"),  # dynamic_pad_c1
    same_types(*_PADDING_FIELDS),  # dynamic_pad_c2
    same_ranks("operand", out="result"),  # dynamic_pad_c4
    NO_MEMORY_EFFECT,
)
class DynamicPadOp(Op):
    """pad with padding amounts given by operands."""

    operand = op_fields.operand(types.TENSOR)
    padding_value = op_fields.operand(types.SCALAR_TENSOR)
    edge_padding_low = op_fields.operand(types.STATIC_DIMENSION_TENSOR)
    edge_padding_high = op_fields.operand(types.STATIC_DIMENSION_TENSOR)
    interior_padding = op_fields.operand(types.STATIC_DIMENSION_TENSOR)
    out = result(types.TENSOR)

    assembly = assembly("operands attr-dict `:` functional-type(operands, results)")

    @staticmethod
    def verify_signature(signature: OpSignature) -> None:
        size, rank = signature[DynamicPadOp.edge_padding_low].shape[0], signature[DynamicPadOp.operand].rank
        if size != rank:  # dynamic_pad_c2
            raise signature.error_without_op_note(
                f"padding operands size ({size}) must match operand rank ({rank})"
            )

    def verify_in_context(self) -> None:
        interiors = constant_integers(self.interior_padding)
        if interiors is None:
            return
        if any(interior < 0 for interior in interiors):  # dynamic_pad_c3
            raise self.signature.error_without_op_note(
                f"interior_padding must be non-negative, but got {listing(interiors)}"
            )
        source, target = self.signature[DynamicPadOp.operand], self.signature[DynamicPadOp.out]
        lows, highs = constant_integers(self.edge_padding_low), constant_integers(self.edge_padding_high)
        if not source.has_static_shape or not target.has_static_shape or lows is None or highs is None:
            return
        columns = zip(source.shape, target.shape, lows, highs, interiors, strict=True)
        for index, (size, result_size, low, high, interior) in enumerate(columns):  # dynamic_pad_c4
            expected = size + low + max(size - 1, 0) * interior + high
            if result_size != expected:
                raise self.signature.error_without_op_note(
                    f"expected output dimension at index {index} to equal {expected}, but got {result_size}"
                )
