"""Compatibility of types: shapes, quantized types, the traits that check it, and shapes in operands.

Compatible types are merged in two ways. In the most specific type, a dimension has the static size that any
of the types has, else the smallest bound; this type is inferred for elementwise operations. In the least
specific type, a dimension is static only if it is static in all types; else it is dynamic, bounded by the
largest size or bound if each type has one; this type is inferred for the results of branches.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from struct import pack, unpack

from sdyopt.base.diagnostics.ids import ErrorKind
from sdyopt.mlir.dialects.quant import QuantizedType, UniformQuantized, UniformQuantizedPerAxis
from sdyopt.mlir.dialects.stablehlo.dialect import integers_of, listing, quoted
from sdyopt.mlir.dialects.stablehlo.types import bounds_of, encoding_with
from sdyopt.mlir.ir.block import Region
from sdyopt.mlir.ir.builtin_attributes import DenseElements
from sdyopt.mlir.ir.cse import constant_value
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.shape_traits import are_compatible_shapes, are_compatible_sizes
from sdyopt.mlir.ir.traits import InfersTypes, Trait
from sdyopt.mlir.ir.types import (
    DYNAMIC,
    ComplexType,
    FloatType,
    IndexType,
    IntegerType,
    RankedTensor,
    ShapedType,
    TupleType,
    Type,
    element_of,
)
from sdyopt.mlir.ir.value import Value

_INCOMPATIBLE = ErrorKind("requires compatible {what} for all {values}", at="types")


def ranked(value: Value) -> RankedTensor:
    """The type of a value that is a tensor with a rank."""
    assert isinstance(value.type, RankedTensor)
    return value.type


def have_compatible_element_types(left: Type, right: Type) -> bool:
    """Whether element types are equal, or quantized and differ only in scales, zero points or axis.

    The element type of a type that is not shaped is the type itself.
    """
    left, right = element_of(left), element_of(right)
    if not isinstance(left, QuantizedType) or not isinstance(right, QuantizedType):
        return left is right
    return (
        left.storage is right.storage
        and left.minimum == right.minimum
        and left.maximum == right.maximum
        and left.expressed is right.expressed
        and isinstance(left, UniformQuantizedPerAxis) == isinstance(right, UniformQuantizedPerAxis)
    )


def are_compatible(left: Type, right: Type) -> bool:
    """Whether two types have compatible shapes and element types, and sizes within each other's bounds."""
    if left is right:
        return True
    if not isinstance(left, ShapedType) or not isinstance(right, ShapedType):
        return have_compatible_element_types(left, right)
    return (
        are_compatible_shapes([left, right])
        and _is_within_bounds(left, right)
        and _is_within_bounds(right, left)
        and have_compatible_element_types(left, right)
    )


def are_all_compatible(lefts: Sequence[Type], rights: Sequence[Type]) -> bool:
    """Whether two lists of types have equal length and are pairwise compatible."""
    return len(lefts) == len(rights) and all(map(are_compatible, lefts, rights))


def is_compatible_shape(sizes: Sequence[int], type: Type) -> bool:
    """Whether a static shape is valid and compatible with a type."""
    if not isinstance(type, ShapedType) or any(size < 0 for size in sizes):
        return False
    return are_compatible(RankedTensor(tuple(sizes), type.element, None), type)


def _is_within_bounds(type: ShapedType, bounded: ShapedType) -> bool:
    """Whether no static size of `type` exceeds the bound of `bounded` in that dimension."""
    if not isinstance(type, RankedTensor):
        return True
    return all(
        bound == DYNAMIC or size == DYNAMIC or size <= bound
        for size, bound in zip(type.shape, bounds_of(bounded), strict=False)
    )


# --- Merging ----------------------------------------------------------------------------

# (size, bound); a missing bound is DYNAMIC, and a static size has no bound.
Dimension = tuple[int, int]
Merge = Callable[[OpSignature, int, Dimension, Dimension], Dimension]


def most_specific_operand_type(signature: OpSignature, regions: Sequence[Region]) -> list[Type]:
    """The result type of an operation whose operands and result have compatible types."""
    return [most_specific_type(signature, signature.operand_types)]


def most_specific_type(signature: OpSignature, types: Sequence[Type]) -> Type:
    """The most specific type, tuples elementwise. Raises SignatureError for incompatible types."""
    return _merge_all(signature, types, most_specific_dimension)


def least_specific_type(signature: OpSignature, types: Sequence[Type]) -> Type:
    """The least specific type, tuples elementwise. Raises SignatureError for incompatible types."""
    return _merge_all(signature, types, _least_specific_dimension)


def _merge_all(signature: OpSignature, types: Sequence[Type], merge: Merge) -> Type:
    tuples = [type for type in types if isinstance(type, TupleType)]
    if not tuples:
        return _merge_shaped(signature, types, merge)
    if len(tuples) != len(types):
        raise signature.error_without_op_note(
            "Mismatched type kinds: either all types must be tuples, or no types must be tuples"
        )
    if len({len(type.types) for type in tuples}) > 1:
        raise signature.error_without_op_note("Mismatched tuple sizes: all tuple sizes must be the same")
    columns = zip(*(type.types for type in tuples), strict=True)
    return TupleType(tuple(_merge_shaped(signature, column, merge) for column in columns))


def _merge_shaped(signature: OpSignature, types: Sequence[Type], merge: Merge) -> Type:
    if all(type is types[0] for type in types):
        return types[0]
    ranked = [type for type in types if isinstance(type, RankedTensor)]
    # A type that is not a ranked tensor is less specific than any ranked tensor.
    if merge is _least_specific_dimension and len(ranked) != len(types):
        return next(type for type in types if not isinstance(type, RankedTensor))
    if not ranked:
        return types[0]
    first = ranked[0]
    for type in ranked:
        if type.rank != first.rank:
            raise signature.error_without_op_note(f"Mismatched ranks of types{first.rank} vs {type.rank}")
    merged = dimensions_of(first)
    for type in ranked[1:]:
        merged = [
            merge(signature, index, left, right)
            for index, (left, right) in enumerate(zip(merged, dimensions_of(type), strict=True))
        ]
    # As in StableHLO, the result has bounds only if the first ranked type has bounds.
    bounds = [bound for _, bound in merged] if bounds_of(first) else []
    shape = tuple(size for size, _ in merged)
    return RankedTensor(shape, first.element, encoding_with(first.encoding, bounds))


def dimensions_of(type: RankedTensor) -> list[Dimension]:
    """(size, bound) of each dimension."""
    bounds = bounds_of(type) or (DYNAMIC,) * type.rank
    return list(zip(type.shape, bounds, strict=True))


def most_specific_dimension(
    signature: OpSignature, index: int, left: Dimension, right: Dimension
) -> Dimension:
    """Merges dimension `index` of two types: the static size, else the smaller bound."""
    (left_size, left_bound), (right_size, right_bound) = left, right
    bounds = [bound for bound in (left_bound, right_bound) if bound != DYNAMIC]
    size = right_size if left_size == DYNAMIC else left_size
    if size == DYNAMIC:
        return DYNAMIC, min(bounds, default=DYNAMIC)
    _check_sizes(signature, index, left_size, right_size)
    if bounds and size > bounds[0]:
        raise signature.error_without_op_note(
            f"Mismatched dimension size {size} and bound {bounds[0]} in dimension {index}"
        )
    return size, DYNAMIC


def _least_specific_dimension(
    signature: OpSignature, index: int, left: Dimension, right: Dimension
) -> Dimension:
    _check_sizes(signature, index, left[0], right[0])
    if left[0] != DYNAMIC and right[0] != DYNAMIC:
        return left
    limits = [bound if size == DYNAMIC else size for size, bound in (left, right)]
    return DYNAMIC, DYNAMIC if DYNAMIC in limits else max(limits)


def _check_sizes(signature: OpSignature, index: int, left: int, right: int) -> None:
    if not are_compatible_sizes(left, right):
        raise signature.error_without_op_note(
            f"Mismatched dimension sizes {left} and {right} in dimension {index}"
        )


def concatenated_dimension(left: Dimension, right: Dimension) -> Dimension:
    """The concatenation of two dimensions.

    Its size is the sum of the sizes if both are static. Else it is dynamic, bounded by the sum of sizes and
    bounds unless a dimension has neither.
    """
    if left[0] != DYNAMIC and right[0] != DYNAMIC:
        return left[0] + right[0], DYNAMIC
    limits = [bound if size == DYNAMIC else size for size, bound in (left, right)]
    return DYNAMIC, DYNAMIC if DYNAMIC in limits else sum(limits)


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


# Result types are inferred; the actual types must be compatible with these (see type_compatibility).
INFERS_COMPATIBLE_TYPES = InfersTypes("hlo-infer-type", accepts=are_compatible)


def _check_compatible_types(signature: OpSignature) -> None:
    types = signature.operand_types + signature.result_types
    if not all(are_compatible(type, types[0]) for type in types):
        raise signature.op_error(_INCOMPATIBLE(what="types", values="operands and results"))


def _check_compatible_elements(signature: OpSignature) -> None:
    types = signature.operand_types + signature.result_types
    if not all(have_compatible_element_types(type, types[0]) for type in types):
        raise signature.op_error(_INCOMPATIBLE(what="element types", values="operands and results"))


def _check_compatible_operand_elements(signature: OpSignature) -> None:
    types = signature.operand_types
    if not all(have_compatible_element_types(type, types[0]) for type in types):
        raise signature.op_error(_INCOMPATIBLE(what="element types", values="operands"))


def _check_pairwise_types(signature: OpSignature) -> None:
    _check_pairs(
        signature,
        signature.operand_types,
        signature.result_types,
        "requires the same type for operand and result",
    )


def _check_pairwise_elements(signature: OpSignature) -> None:
    operands = tuple(map(element_of, signature.operand_types))
    results = tuple(map(element_of, signature.result_types))
    _check_pairs(signature, operands, results, "requires the same element type for operand and result")


def _check_pairs(
    signature: OpSignature, lefts: tuple[Type, ...], rights: tuple[Type, ...], message: str
) -> None:
    if len(lefts) != len(rights):
        raise signature.op_error("requires the same number of operands and results")
    for index, (left, right) in enumerate(zip(lefts, rights, strict=True)):
        if left is not right:
            raise signature.op_error(f"{message} at index {index}")


# Elementwise, except that some operands may be scalars instead of tensors.
BROADCASTING_ELEMENTWISE = Trait("hlo-broadcasting-elementwise")
# Commutative, but canonicalization does not reorder the operands, unlike with MLIR's trait.
HLO_COMMUTATIVE = Trait("hlo-commutative")
COMPATIBLE_TYPES = Trait("hlo-compatible-operands-and-result-type", _check_compatible_types)
COMPATIBLE_ELEMENT_TYPES = Trait(
    "hlo-compatible-operands-and-result-element-type", _check_compatible_elements
)
COMPATIBLE_OPERAND_ELEMENT_TYPES = Trait(
    "hlo-compatible-operands-element-type", _check_compatible_operand_elements
)
PAIRWISE_SAME_TYPE = Trait("hlo-pairwise-same-operand-and-result-type", _check_pairwise_types)
PAIRWISE_SAME_ELEMENT_TYPE = Trait(
    "hlo-pairwise-same-operand-and-result-element-type", _check_pairwise_elements
)


def constant_integers(value: Value) -> list[int] | None:
    """The elements of an integer constant, read as signed; None for any other value."""
    elements = constant_value(value.defining_op)
    if not isinstance(elements, DenseElements) or not isinstance(
        elements.type.element, IntegerType | IndexType
    ):
        return None
    return integers_of(elements)


def check_shape_operand(op: Op, shape: Value, type: Type) -> None:
    """Checks that a shape operand, if constant, is compatible with the result type."""
    sizes = constant_integers(shape)
    if sizes is not None and not is_compatible_shape(sizes, type):
        raise op.signature.error_without_op_note(
            f"output shape [{listing(sizes)}] is incompatible with return type of operation {quoted(type)}"
        )
