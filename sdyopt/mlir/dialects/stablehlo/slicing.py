"""stablehlo.slice, concatenate and pad, and their dynamic forms."""

from __future__ import annotations

from collections.abc import Sequence

from sdyopt.mlir.asm.format.assembly_format import assembly
from sdyopt.mlir.asm.format.format_elements import custom
from sdyopt.mlir.asm.format.print_template import Template
from sdyopt.mlir.asm.parser.op_parser import OpAsmParser
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
from sdyopt.mlir.ir.attribute import DictAttr
from sdyopt.mlir.ir.block import Region
from sdyopt.mlir.ir.builtin_attributes import DenseArray
from sdyopt.mlir.ir.op_fields import attr, operand, operands, result
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
from sdyopt.mlir.ir.traits import I64_ARRAY, I64_ATTR, NO_MEMORY_EFFECT, PURE, non_negative
from sdyopt.mlir.ir.types import DYNAMIC, I64, RankedTensor, Type, tensor

_RANGE_FIELDS = ("start_indices", "limit_indices", "strides")


def _range_text(start: int, limit: int, stride: int) -> str:
    return f"{start}:{limit}" if stride == 1 else f"{start}:{limit}:{stride}"


@stablehlo.op(
    "slice",
    same_attribute_sizes(*_RANGE_FIELDS),
    NO_MEMORY_EFFECT,
    SAME_ELEMENT_TYPE,
    INFERS_COMPATIBLE_TYPES,
)
class SliceOp(Op):
    """Extracts, in each dimension, the elements from start to limit (exclusive), with a stride."""

    operand = operand(types.TENSOR)
    start_indices = attr(I64_ARRAY)
    limit_indices = attr(I64_ARRAY)
    strides = attr(I64_ARRAY)
    out = result(types.TENSOR)

    @staticmethod
    def _parse_ranges(op_parser: OpAsmParser) -> None:
        """Parses `[0:4, 1:9:2]`: start, limit and an optional stride, 1 by default."""

        def parse_range() -> tuple[int, int, int]:
            start = op_parser.integer()
            op_parser.expect(":")
            limit = op_parser.integer()
            return start, limit, op_parser.integer() if op_parser.accept(":") else 1

        ranges: list[tuple[int, int, int]] = []
        op_parser.expect("[")
        while not op_parser.accept("]"):
            if ranges:
                op_parser.expect(",")
            ranges.append(parse_range())
        for index, field in enumerate(_RANGE_FIELDS):
            op_parser.attributes[field] = DenseArray(I64, tuple(r[index] for r in ranges))

    @staticmethod
    def _write_ranges(out: Template, signature: OpSignature, attributes: DictAttr) -> None:
        lists = [
            signature[SliceOp.start_indices],
            signature[SliceOp.limit_indices],
            signature[SliceOp.strides],
        ]
        if len(set(map(len, lists))) > 1:  # invalid; as in StableHLO, this text cannot be parsed again
            fields = zip(_RANGE_FIELDS, lists, strict=True)
            out.word(f"[{', '.join(f'{name}: {listing(values)}' for name, values in fields)}]")
            return
        out.word(f"[{', '.join(map(_range_text, *lists))}]")

    assembly = assembly(
        "$operand custom<ranges>($start_indices, $limit_indices, $strides) attr-dict `:` "
        "functional-type(operands, results)",
        ranges=custom(_parse_ranges, _write_ranges),
    )

    @staticmethod
    def infer_result_types(signature: OpSignature, regions: Sequence[Region]) -> list[Type]:
        source, count = signature[SliceOp.operand], len(signature[SliceOp.start_indices])
        if count != source.rank:  # slice_c2
            raise signature.error_without_op_note(
                f"the number of elements in start_indices ({count}) does not match the rank of the operand "
                f"({source.rank})"
            )
        bounds = bounds_of(source)
        shape = tuple(_sliced_size(signature, index, bounds) for index in range(source.rank))
        encoding = encoding_with(source.encoding, [DYNAMIC] * len(bounds))
        return [RankedTensor(shape, source.element, encoding)]


def _sliced_size(signature: OpSignature, index: int, bounds: Sequence[int]) -> int:
    """The size of one result dimension. Raises a SignatureError for an invalid range."""
    start, limit = signature[SliceOp.start_indices][index], signature[SliceOp.limit_indices][index]
    stride = signature[SliceOp.strides][index]
    size, what = signature[SliceOp.operand].shape[index], "size"
    if size == DYNAMIC and bounds:
        size, what = bounds[index], "bound"
    if start < 0:  # slice_c3
        raise signature.error_without_op_note(f"negative start index {start} in dimension {index}")
    if size != DYNAMIC and limit > size:  # slice_c3
        raise signature.error_without_op_note(
            f"limit index {limit} is larger than dimension {what} {size} in dimension {index}"
        )
    if start > limit:  # slice_c3
        raise signature.error_without_op_note(
            f"start index {start} is larger than limit index {limit} in dimension {index}"
        )
    if stride <= 0:  # slice_c4
        raise signature.error_without_op_note(
            f"stride must be positive but got {stride} in dimension {index}"
        )
    return -((start - limit) // stride)  # slice_c5


@stablehlo.op("dynamic_slice", same_element_types("operand", out="result"), PURE, INFERS_COMPATIBLE_TYPES)
class DynamicSliceOp(Op):
    """Extracts a slice of static size at start indices given by operands."""

    operand = operand(types.TENSOR)
    start_indices = operands(types.SCALAR_INT_TENSOR)
    slice_sizes = attr(I64_ARRAY)
    out = result(types.TENSOR)

    assembly = assembly(
        "$operand `,` custom<OperandsWithCommas>($start_indices) `sizes` `=` "
        "custom<DenseI64Array>($slice_sizes) attr-dict `:` functional-type(operands, results)"
    )

    @staticmethod
    def infer_result_types(signature: OpSignature, regions: Sequence[Region]) -> list[Type]:
        source, sizes = signature[DynamicSliceOp.operand], signature[DynamicSliceOp.slice_sizes]
        starts = signature[DynamicSliceOp.start_indices]
        if len(starts) != len(sizes):  # dynamic_slice_c2
            raise signature.error_without_op_note(
                f"has mismatched number of slice sizes ({len(sizes)}) and number of start indices "
                f"({len(starts)})"
            )
        if source.rank != len(starts):  # dynamic_slice_c2
            raise signature.error_without_op_note(
                f"has mismatched number of start indices ({len(starts)}) and the rank of operand "
                f"({source.rank})"
            )
        _check_index_types(signature, starts)  # dynamic_slice_c3
        for index, (slice_size, size) in enumerate(zip(sizes, source.shape, strict=True)):  # dynamic_slice_c4
            if slice_size < 0:
                raise signature.error_without_op_note(
                    f"has negative size index to dynamic slice: {slice_size}"
                )
            if size != DYNAMIC and slice_size > size:
                raise signature.error_without_op_note(
                    f"has slice size {slice_size} greater than dimension size {size} in dimension {index} of "
                    "operand"
                )
        return [tensor(sizes, source.element)]


@stablehlo.op(
    "dynamic_update_slice",
    same_element_types("operand", "update", out="result"),
    PURE,
    INFERS_COMPATIBLE_TYPES,
)
class DynamicUpdateSliceOp(Op):
    """Replaces a slice of `operand` with `update`; the start indices are given by operands."""

    operand = op_fields.operand(types.TENSOR)
    update = op_fields.operand(types.TENSOR)
    start_indices = operands(types.SCALAR_INT_TENSOR)
    out = result(types.TENSOR)

    assembly = assembly("operands attr-dict `:` functional-type(operands, results)")

    @staticmethod
    def infer_result_types(signature: OpSignature, regions: Sequence[Region]) -> list[Type]:
        source, update = signature[DynamicUpdateSliceOp.operand], signature[DynamicUpdateSliceOp.update]
        starts = signature[DynamicUpdateSliceOp.start_indices]
        if update.rank != source.rank:  # dynamic_update_slice_c3
            raise signature.error_without_op_note(
                f"update rank does not match operand rank: {update.rank} vs {source.rank}."
            )
        if len(starts) != source.rank:  # dynamic_update_slice_c4
            raise signature.error_without_op_note(
                f"expects number of start_indices to match operand rank: {len(starts)} vs {source.rank}."
            )
        _check_index_types(signature, starts)  # dynamic_update_slice_c5
        for index, (update_size, size) in enumerate(zip(update.shape, source.shape, strict=True)):
            if DYNAMIC not in (update_size, size) and update_size > size:  # dynamic_update_slice_c6
                raise signature.error_without_op_note(
                    f"expects size at dimension {index} of update to be in range [0, {size}]. "
                    f"Got: {update_size}."
                )
        return [source]


@stablehlo.op(
    "real_dynamic_slice",
    same_element_types("operand", out="result"),
    same_types("start_indices", "limit_indices", "strides"),
    NO_MEMORY_EFFECT,
)
class RealDynamicSliceOp(Op):
    """slice with start, limit and stride given by operands."""

    operand = op_fields.operand(types.TENSOR)
    start_indices = op_fields.operand(types.DIMENSION_TENSOR)
    limit_indices = op_fields.operand(types.DIMENSION_TENSOR)
    strides = op_fields.operand(types.DIMENSION_TENSOR)
    out = result(types.TENSOR)

    assembly = assembly("operands attr-dict `:` functional-type(operands, results)")

    @staticmethod
    def verify_signature(signature: OpSignature) -> None:
        rank = signature[RealDynamicSliceOp.operand].rank
        fields = (
            RealDynamicSliceOp.start_indices,
            RealDynamicSliceOp.limit_indices,
            RealDynamicSliceOp.strides,
        )
        for name, field in zip(_RANGE_FIELDS, fields, strict=True):
            size = signature[field].shape[0]
            if size != rank:
                raise signature.error_without_op_note(
                    f"has mismatched number of operand rank ({rank}) and {name} size ({size})"
                )


def _check_index_types(signature: OpSignature, types: Sequence[RankedTensor]) -> None:
    """Checks that all start indices have the same element type."""
    if any(type.element is not types[0].element for type in types):
        raise signature.error_without_op_note("start indices must have same element type")


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
