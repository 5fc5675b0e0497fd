"""The encodings of quantized types."""

from __future__ import annotations

from sdyopt.mlir.bytecode.builtin_encodings import DOUBLE
from sdyopt.mlir.bytecode.encodings import (
    SIGNED,
    SIGNED_LIST,
    TYPE,
    VARINT,
    Codec,
    DialectEncodings,
    attribute_of,
    listed,
    paired,
    type_of,
)
from sdyopt.mlir.dialects.quant import (
    AnyQuantized,
    CalibratedQuantized,
    UniformQuantized,
    UniformQuantizedPerAxis,
    UniformQuantizedSubChannel,
)
from sdyopt.mlir.ir.builtin_attributes import MAX_EXPANDED, DenseElements, dense, element_size
from sdyopt.mlir.ir.types import FloatType, IntegerType, Type, tensor

quant = DialectEncodings("quant")

_IS_SIGNED = Codec(lambda reader: bool(reader.varint() & 1), lambda writer, value: writer.varint(int(value)))

quant.type(
    1,
    AnyQuantized,
    *(_IS_SIGNED, TYPE, SIGNED, SIGNED),
    make=lambda is_signed, storage, *limits: AnyQuantized(is_signed, storage, None, *limits),
    take=lambda type: (type.is_signed, type.storage, type.minimum, type.maximum),
    applies=lambda type: type.expressed is None,
)
quant.type(
    2,
    AnyQuantized,
    *(_IS_SIGNED, TYPE, TYPE, SIGNED, SIGNED),
    applies=lambda type: type.expressed is not None,
)
quant.type(3, CalibratedQuantized, TYPE, DOUBLE, DOUBLE)
quant.type(
    4,
    UniformQuantized,
    *(_IS_SIGNED, TYPE, TYPE, DOUBLE, SIGNED, SIGNED, SIGNED),
    make=lambda is_signed, storage, expressed, scale, zero_point, minimum, maximum: UniformQuantized(
        is_signed, storage, expressed, minimum, maximum, scale, zero_point
    ),
    take=lambda type: (
        *(type.is_signed, type.storage, type.expressed, type.scale, type.zero_point),
        *(type.minimum, type.maximum),
    ),
)
quant.type(
    5,
    UniformQuantizedPerAxis,
    *(_IS_SIGNED, TYPE, TYPE, VARINT, SIGNED, SIGNED, listed(DOUBLE), SIGNED_LIST),
    make=lambda is_signed, storage, expressed, axis, minimum, maximum, scales, points: (
        UniformQuantizedPerAxis(is_signed, storage, expressed, minimum, maximum, axis, scales, points)
        if len(scales) == len(points)
        else "the numbers of scales and zero points of a quantized type differ"
    ),
    take=lambda type: (
        *(type.is_signed, type.storage, type.expressed, type.axis),
        *(type.minimum, type.maximum, type.scales, type.zero_points),
    ),
)


def _sub_channel(
    is_signed: bool,
    storage: Type,
    expressed: FloatType,
    limits: tuple[int, int],
    axes: tuple[int, ...],
    sizes: tuple[int, ...],
    scales: DenseElements,
    points: DenseElements,
) -> UniformQuantizedSubChannel | str:
    shape = scales.type.shape
    is_valid = len(axes) == len(sizes) and points.type.shape == shape and isinstance(storage, IntegerType)
    if not is_valid or scales.type.element is not expressed or points.type.element is not storage:
        return "the blocks, scales and zero points of a quantized type do not match"
    if scales.type.num_elements > MAX_EXPANDED:
        return f"a quantized type has more than {MAX_EXPANDED} scales"
    width = element_size(expressed)
    bits = [
        int.from_bytes(scales.expanded[at : at + width], "little")
        for at in range(0, len(scales.expanded), width)
    ]
    blocks = tuple(zip(axes, sizes, strict=True))
    return UniformQuantizedSubChannel(
        is_signed, storage, expressed, *limits, blocks, shape, tuple(bits), points.values
    )


def _sub_channel_parts(type: UniformQuantizedSubChannel) -> tuple[object, ...]:
    width, point_width = element_size(type.expressed), element_size(type.storage)
    mask = (1 << 8 * point_width) - 1
    scales = b"".join(bits.to_bytes(width, "little") for bits in type.scales)
    points = b"".join((point & mask).to_bytes(point_width, "little") for point in type.zero_points)
    return (
        *(type.is_signed, type.storage, type.expressed, (type.minimum, type.maximum)),
        *(tuple(axis for axis, _ in type.blocks), tuple(size for _, size in type.blocks)),
        dense(tensor(type.shape, type.expressed), scales),
        dense(tensor(type.shape, type.storage), points),
    )


quant.type(
    6,
    UniformQuantizedSubChannel,
    *(_IS_SIGNED, TYPE, type_of(FloatType), paired(SIGNED, SIGNED), SIGNED_LIST, SIGNED_LIST),
    *(attribute_of(DenseElements), attribute_of(DenseElements)),
    make=_sub_channel,
    take=_sub_channel_parts,
)
