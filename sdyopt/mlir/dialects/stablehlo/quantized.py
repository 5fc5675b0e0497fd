"""Checks of quantized element types: scales, zero points and quantization dimensions."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from struct import pack, unpack

from sdyopt.mlir.dialects.quant import QuantizedType, UniformQuantized, UniformQuantizedPerAxis
from sdyopt.mlir.dialects.stablehlo.diagnostic_text import quoted
from sdyopt.mlir.dialects.stablehlo.type_compatibility import have_compatible_element_types
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.types import DYNAMIC, ComplexType, FloatType, IntegerType, RankedTensor, Type


def bit_width(type: Type) -> int:
    """The bit width of an element type; for a quantized type, of its storage type."""
    if isinstance(type, ComplexType):
        return 2 * bit_width(type.element)
    if isinstance(type, QuantizedType):
        return bit_width(type.storage)
    assert isinstance(type, IntegerType | FloatType)
    return type.width


def quantized_axis(type: RankedTensor) -> int | None:
    """The quantization dimension of a per-axis quantized tensor, or None."""
    return type.element.axis if isinstance(type.element, UniformQuantizedPerAxis) else None


def check_element_types(signature: OpSignature, source: RankedTensor, target: RankedTensor) -> None:
    """Checks that the element types are compatible, if neither is quantized."""
    is_quantized = isinstance(source.element, QuantizedType) or isinstance(target.element, QuantizedType)
    if not is_quantized and not have_compatible_element_types(source, target):
        raise signature.error_without_op_note(
            "expects operand and result to have compatible element type. Got: "
            f"{quoted(source)} and {quoted(target)}"
        )


def check_same_per_tensor_scale(signature: OpSignature, source: RankedTensor, target: RankedTensor) -> None:
    """Checks that the element types are equal if both are per-tensor quantized."""
    left, right = source.element, target.element
    if isinstance(left, UniformQuantized) and isinstance(right, UniformQuantized) and left is not right:
        raise signature.error_without_op_note(
            f"expect same quantization scale and zero_point but got {quoted(source)} vs {quoted(target)}"
        )


def check_same_per_axis_scales(signature: OpSignature, source: RankedTensor, target: RankedTensor) -> None:
    """Checks that scales and zero points are equal if both tensors are per-axis quantized.

    If one tensor has more scales, its additional scales and zero points are ignored.
    """
    left, right = source.element, target.element
    if not isinstance(left, UniformQuantizedPerAxis) or not isinstance(right, UniformQuantizedPerAxis):
        return
    count = min(len(left.scales), len(right.scales))
    if left.scales[:count] != right.scales[:count] or left.zero_points[:count] != right.zero_points[:count]:
        raise signature.error_without_op_note(
            f"expect same quantization scales and zero_points but got {quoted(source)} vs {quoted(target)}"
        )


def check_reshape_scales(signature: OpSignature, source: RankedTensor, target: RankedTensor) -> None:
    """Checks that a reshape keeps the scales and zero points.

    The size of the quantization dimension and the product of the sizes before it must not change; dynamic
    sizes are not checked.
    """
    check_same_per_tensor_scale(signature, source, target)
    check_same_per_axis_scales(signature, source, target)
    axis, target_axis = quantized_axis(source), quantized_axis(target)
    if axis is None or target_axis is None:
        return
    sizes = (source.shape[axis], target.shape[target_axis])
    if DYNAMIC not in sizes and sizes[0] != sizes[1]:
        raise signature.error_without_op_note(
            "expect same quantization dimension size for operand and result "
            f"{quoted(source)} and {quoted(target)}"
        )
    if source.has_static_shape and target.has_static_shape:
        before = (prod(source.shape[:axis]), prod(target.shape[:target_axis]))
        if before[0] != before[1]:
            raise signature.error_without_op_note(
                "product of dimensions before quantization dimension must match between operand and result "
                f"for {before[0]} and {before[1]}"
            )


def check_broadcast_scales(
    signature: OpSignature,
    source: RankedTensor,
    target: RankedTensor,
    broadcast_dimensions: Sequence[int],
) -> None:
    """Checks the quantization of a broadcast if operand and result are per-axis quantized.

    The result must be quantized along the dimension that the operand's quantization dimension maps to. If the
    size of the operand's quantization dimension is 1, all scales and zero points of the result must equal the
    operand's first scale and zero point.
    """
    left, right = source.element, target.element
    if not isinstance(left, UniformQuantizedPerAxis) or not isinstance(right, UniformQuantizedPerAxis):
        return
    mapped_axis = broadcast_dimensions[left.axis]
    if right.axis != mapped_axis:
        raise signature.error_without_op_note(
            f"result quantization_dimension {right.axis} not same as broadcast_dimensions[{left.axis}] "
            f"= {mapped_axis}"
        )
    if source.shape[left.axis] != 1:
        return
    for index, (scale, zero_point) in enumerate(zip(right.scales, right.zero_points, strict=True)):
        if scale != left.scales[0]:
            raise signature.error_without_op_note(
                f"mismatch result scale {index} ({_scale_text(scale)}) and operand scale 0 "
                f"({_scale_text(left.scales[0])})"
            )
        if zero_point != left.zero_points[0]:
            raise signature.error_without_op_note(
                f"mismatch result zero_point {index} ({zero_point}) and operand zero_point 0 "
                f"({left.zero_points[0]})"
            )


def _scale_text(bits: int) -> str:
    """An `f64` bit pattern in the notation of C's `%e`."""
    (value,) = unpack("<d", pack("<Q", bits))
    return f"{value:e}"
