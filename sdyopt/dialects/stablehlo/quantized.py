"""Checks of quantised elements: which scales and zeros go together."""

from __future__ import annotations

from math import prod
from struct import pack, unpack

from sdyopt.asm.printer.attribute_printer import plain_type
from sdyopt.dialects.quant import QuantizedType, UniformQuantized, UniformQuantizedPerAxis
from sdyopt.dialects.stablehlo.type_compatibility import are_compatible_elements
from sdyopt.ir.op_signature import OpSignature
from sdyopt.ir.types import DYNAMIC, ComplexType, FloatType, IntegerType, RankedTensor, Type


def bit_width(type: Type) -> int:
    """The bits of an element; those of a quantised one are the stored number's."""
    if isinstance(type, ComplexType):
        return 2 * bit_width(type.element)
    if isinstance(type, QuantizedType):
        return bit_width(type.storage)
    assert isinstance(type, IntegerType | FloatType)
    return type.width


def quantized_axis(type: RankedTensor) -> int | None:
    """The dimension whose indices have scales of their own, if there is one."""
    return type.element.axis if isinstance(type.element, UniformQuantizedPerAxis) else None


def check_element_types(signature: OpSignature, source: RankedTensor, target: RankedTensor) -> None:
    """Elements must be compatible, unless any are quantised, for which there are other checks."""
    is_quantized = isinstance(source.element, QuantizedType) or isinstance(target.element, QuantizedType)
    if not is_quantized and not are_compatible_elements(source, target):
        raise signature.located_error(
            "expects operand and result to have compatible element type. Got: "
            f"'{plain_type(source)}' and '{plain_type(target)}'"
        )


def check_same_scale(signature: OpSignature, source: RankedTensor, target: RankedTensor) -> None:
    """If both have one scale and zero, they must be the same."""
    left, right = source.element, target.element
    if isinstance(left, UniformQuantized) and isinstance(right, UniformQuantized) and left is not right:
        raise signature.located_error(
            "expect same quantization scale and zero_point but got "
            f"'{plain_type(source)}' vs '{plain_type(target)}'"
        )


def check_same_scales(signature: OpSignature, source: RankedTensor, target: RankedTensor) -> None:
    """If both have scales and zeros per axis, they must be the same."""
    left, right = source.element, target.element
    if not isinstance(left, UniformQuantizedPerAxis) or not isinstance(right, UniformQuantizedPerAxis):
        return
    count = min(len(left.scales), len(right.scales))
    if left.scales[:count] != right.scales[:count] or left.zero_points[:count] != right.zero_points[:count]:
        raise signature.located_error(
            "expect same quantization scales and zero_points but got "
            f"'{plain_type(source)}' vs '{plain_type(target)}'"
        )


def check_reshape_scales(signature: OpSignature, source: RankedTensor, target: RankedTensor) -> None:
    """Reshaping keeps scales, and what lies before the axis that they belong to."""
    check_same_scale(signature, source, target)
    check_same_scales(signature, source, target)
    axis, target_axis = quantized_axis(source), quantized_axis(target)
    if axis is None or target_axis is None:
        return
    sizes = (source.shape[axis], target.shape[target_axis])
    if DYNAMIC not in sizes and sizes[0] != sizes[1]:
        raise signature.located_error(
            "expect same quantization dimension size for operand and result "
            f"'{plain_type(source)}' and '{plain_type(target)}'"
        )
    if source.has_static_shape and target.has_static_shape:
        before = (prod(source.shape[:axis]), prod(target.shape[:target_axis]))
        if before[0] != before[1]:
            raise signature.located_error(
                "product of dimensions before quantization dimension must match between operand and result "
                f"for {before[0]} and {before[1]}"
            )


def check_broadcast_scales(signature: OpSignature) -> None:
    """Broadcasting moves the axis that scales belong to, and repeats a single one."""
    source, target = signature.operand.element, signature.out.element
    if not isinstance(source, UniformQuantizedPerAxis) or not isinstance(target, UniformQuantizedPerAxis):
        return
    moved = signature.broadcast_dimensions[source.axis]
    if target.axis != moved:
        raise signature.located_error(
            f"result quantization_dimension {target.axis} not same as broadcast_dimensions[{source.axis}] "
            f"= {moved}"
        )
    if signature.operand.shape[source.axis] != 1:
        return
    for index, (scale, zero) in enumerate(zip(target.scales, target.zero_points, strict=True)):
        if scale != source.scales[0]:
            raise signature.located_error(
                f"mismatch result scale {index} ({_number(scale)}) and operand scale 0 "
                f"({_number(source.scales[0])})"
            )
        if zero != source.zero_points[0]:
            raise signature.located_error(
                f"mismatch result zero_point {index} ({zero}) and operand zero_point 0 "
                f"({source.zero_points[0]})"
            )


def _number(bits: int) -> str:
    (value,) = unpack("<d", pack("<Q", bits))
    return f"{value:e}"
