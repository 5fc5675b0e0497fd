"""stablehlo operations that cut pieces out of tensors, or replace them."""

from __future__ import annotations

from collections.abc import Sequence

from sdyopt.asm.format.assembly_format import AttrDict, Custom, FunctionalType, Operand, assembly
from sdyopt.asm.format.print_template import Template
from sdyopt.asm.parser.op_parser import OpAsmParser
from sdyopt.dialects.stablehlo import types
from sdyopt.dialects.stablehlo.assembly_directives import (
    AllOperands,
    OperandsWithCommas,
    i64_list_attr,
)
from sdyopt.dialects.stablehlo.bounds import bounds_of, encoding_with
from sdyopt.dialects.stablehlo.dialect import stablehlo
from sdyopt.dialects.stablehlo.traits import INFERS_COMPATIBLE_TYPES
from sdyopt.ir import op_fields
from sdyopt.ir.attribute import DictAttr
from sdyopt.ir.block import Region
from sdyopt.ir.constraints import I64_ARRAY
from sdyopt.ir.elements_attributes import DenseArray
from sdyopt.ir.op_fields import attr, operand, operands, result
from sdyopt.ir.op_signature import OpSignature
from sdyopt.ir.operation import Op
from sdyopt.ir.shape_traits import SAME_ELEMENT_TYPE, same_attribute_sizes, same_element_types, same_types
from sdyopt.ir.traits import NO_MEMORY_EFFECT, PURE
from sdyopt.ir.types import DYNAMIC, I64, RankedTensor, Type, tensor

_RANGE_FIELDS = ("start_indices", "limit_indices", "strides")


def _parse_ranges(op_parser: OpAsmParser) -> None:
    """Reads `[0:4, 1:9:2]`: start, limit, and stride unless it is 1."""

    def one() -> tuple[int, int, int]:
        start = op_parser.integer()
        op_parser.expect(":")
        limit = op_parser.integer()
        return start, limit, op_parser.integer() if op_parser.accept(":") else 1

    ranges: list[tuple[int, int, int]] = []
    op_parser.expect("[")
    while not op_parser.accept("]"):
        if ranges:
            op_parser.expect(",")
        ranges.append(one())
    for index, field in enumerate(_RANGE_FIELDS):
        op_parser.attributes[field] = DenseArray(I64, tuple(r[index] for r in ranges))


def _write_ranges(out: Template, signature: OpSignature, attributes: DictAttr) -> None:
    lists = [signature.start_indices, signature.limit_indices, signature.strides]
    if len(set(map(len, lists))) > 1:  # not valid, and not to be read back
        words = zip(_RANGE_FIELDS, lists, strict=True)
        out.word(f"[{', '.join(f'{field}: ' + ', '.join(map(str, values)) for field, values in words)}]")
        return
    out.word(f"[{', '.join(map(_range_text, *lists))}]")


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
    """Every so manieth index from a first to a last one, in each dimension."""

    __slots__ = ()

    operand = operand(types.TENSOR)
    start_indices = attr(I64_ARRAY)
    limit_indices = attr(I64_ARRAY)
    strides = attr(I64_ARRAY)
    out = result(types.TENSOR)

    assembly = assembly(
        Operand("operand"),
        Custom(_parse_ranges, _write_ranges, elides=_RANGE_FIELDS),
        AttrDict(),
        ":",
        FunctionalType(),
    )

    @staticmethod
    def infer_result_types(signature: OpSignature, regions: Sequence[Region]) -> list[Type]:
        source, rank = signature.operand, signature.operand.rank
        if len(signature.start_indices) != rank:  # slice_c2
            raise signature.located_error(
                f"the number of elements in start_indices ({len(signature.start_indices)}) does not match the"
                f" rank of the operand ({rank})"
            )
        bounds = bounds_of(source)
        shape = tuple(_sliced_size(signature, index, bounds) for index in range(rank))
        encoding = encoding_with(source.encoding, [DYNAMIC] * len(bounds))
        return [RankedTensor(shape, source.element, encoding)]


def _sliced_size(signature: OpSignature, index: int, bounds: Sequence[int]) -> int:
    start: int = signature.start_indices[index]
    limit: int = signature.limit_indices[index]
    stride: int = signature.strides[index]
    size, what = signature.operand.shape[index], "size"
    if size == DYNAMIC and bounds:
        size, what = bounds[index], "bound"
    if start < 0:  # slice_c3
        raise signature.located_error(f"negative start index {start} in dimension {index}")
    if size != DYNAMIC and limit > size:  # slice_c3
        raise signature.located_error(
            f"limit index {limit} is larger than dimension {what} {size} in dimension {index}"
        )
    if start > limit:  # slice_c3
        raise signature.located_error(
            f"start index {start} is larger than limit index {limit} in dimension {index}"
        )
    if stride <= 0:  # slice_c4
        raise signature.located_error(f"stride must be positive but got {stride} in dimension {index}")
    return -((start - limit) // stride)  # slice_c5


@stablehlo.op("dynamic_slice", same_element_types("operand", out="result"), PURE, INFERS_COMPATIBLE_TYPES)
class DynamicSliceOp(Op):
    """A piece of a given size from where operands say."""

    __slots__ = ()

    operand = operand(types.TENSOR)
    start_indices = operands(types.SCALAR_INT_TENSOR)
    slice_sizes = attr(I64_ARRAY)
    out = result(types.TENSOR)

    assembly = assembly(
        Operand("operand"),
        ",",
        OperandsWithCommas("start_indices"),
        "sizes",
        "=",
        i64_list_attr("slice_sizes"),
        AttrDict(),
        ":",
        FunctionalType(),
    )

    @staticmethod
    def infer_result_types(signature: OpSignature, regions: Sequence[Region]) -> list[Type]:
        source, sizes, starts = signature.operand, signature.slice_sizes, signature.start_indices
        if len(starts) != len(sizes):  # dynamic_slice_c2
            raise signature.located_error(
                f"has mismatched number of slice sizes ({len(sizes)}) and number of start indices "
                f"({len(starts)})"
            )
        if source.rank != len(starts):  # dynamic_slice_c2
            raise signature.located_error(
                f"has mismatched number of start indices ({len(starts)}) and the rank of operand "
                f"({source.rank})"
            )
        _check_index_types(signature, starts)  # dynamic_slice_c3
        for index, (size, full) in enumerate(zip(sizes, source.shape, strict=True)):  # dynamic_slice_c4
            if size < 0:
                raise signature.located_error(f"has negative size index to dynamic slice: {size}")
            if full != DYNAMIC and size > full:
                raise signature.located_error(
                    f"has slice size {size} greater than dimension size {full} in dimension {index} of "
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
    """The operand with a piece of it replaced, where other operands say."""

    __slots__ = ()

    operand = op_fields.operand(types.TENSOR)
    update = op_fields.operand(types.TENSOR)
    start_indices = operands(types.SCALAR_INT_TENSOR)
    out = result(types.TENSOR)

    assembly = assembly(AllOperands(), AttrDict(), ":", FunctionalType())

    @staticmethod
    def infer_result_types(signature: OpSignature, regions: Sequence[Region]) -> list[Type]:
        source, update, starts = signature.operand, signature.update, signature.start_indices
        if update.rank != source.rank:  # dynamic_update_slice_c3
            raise signature.located_error(
                f"update rank does not match operand rank: {update.rank} vs {source.rank}."
            )
        if len(starts) != source.rank:  # dynamic_update_slice_c4
            raise signature.located_error(
                f"expects number of start_indices to match operand rank: {len(starts)} vs {source.rank}."
            )
        _check_index_types(signature, starts)  # dynamic_update_slice_c5
        for index, (size, full) in enumerate(zip(update.shape, source.shape, strict=True)):
            if size != DYNAMIC and full != DYNAMIC and size > full:  # dynamic_update_slice_c6
                raise signature.located_error(
                    f"expects size at dimension {index} of update to be in range [0, {full}]. Got: {size}."
                )
        return [source]


@stablehlo.op(
    "real_dynamic_slice",
    same_element_types("operand", out="result"),
    same_types("start_indices", "limit_indices", "strides"),
    NO_MEMORY_EFFECT,
)
class RealDynamicSliceOp(Op):
    """Every so manieth index from a first to a last one, all of which operands say."""

    __slots__ = ()

    operand = op_fields.operand(types.TENSOR)
    start_indices = op_fields.operand(types.DIMENSION_TENSOR)
    limit_indices = op_fields.operand(types.DIMENSION_TENSOR)
    strides = op_fields.operand(types.DIMENSION_TENSOR)
    out = result(types.TENSOR)

    assembly = assembly(AllOperands(), AttrDict(), ":", FunctionalType())

    @staticmethod
    def verify_signature(signature: OpSignature) -> None:
        rank = signature.operand.rank
        for name in _RANGE_FIELDS:
            size = getattr(signature, name).shape[0]
            if size != rank:
                raise signature.located_error(
                    f"has mismatched number of operand rank ({rank}) and {name} size ({size})"
                )


def _check_index_types(signature: OpSignature, types: Sequence[RankedTensor]) -> None:
    """Indices must be of one type; the reference does not tell floats apart, which they cannot be."""
    if any(type.element is not types[0].element for type in types):
        raise signature.located_error("start indices must have same element type")
