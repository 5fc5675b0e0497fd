"""Type compatibility under dynamism: compatible types can have the same shape at run time.

Compatible types are merged in two ways. In the most specific type, a dimension has the static size that any
of the types has, else the smallest bound; this type is inferred for elementwise operations. In the least
specific type, a dimension is static only if it is static in all types; else it is dynamic, bounded by the
largest size or bound if each type has one; this type is inferred for the results of branches.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sdyopt.mlir.dialects.quant import QuantizedType, UniformQuantizedPerAxis
from sdyopt.mlir.dialects.stablehlo.bounds import bounds_of, encoding_with
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.shape_traits import are_compatible_shapes, are_compatible_sizes
from sdyopt.mlir.ir.types import DYNAMIC, RankedTensor, ShapedType, TupleType, Type, element_of


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
