"""Operations of chlo that broadcast their operands, and the shapes of their results."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from sdyopt.base.dataclasses import NamedTuple
from sdyopt.base.diagnostics.diagnostic import Diagnostic, Severity, emit
from sdyopt.mlir.asm.format.assembly_format import assembly
from sdyopt.mlir.dialects.chlo.elementwise import (
    ANY_COMPLEX_TENSOR,
    ANY_FLOAT_TENSOR,
    ANY_PRED_OR_INT_TENSOR,
    ANY_PRED_TENSOR,
    chlo,
)
from sdyopt.mlir.dialects.stablehlo.dialect import EnumAttr, enumeration
from sdyopt.mlir.dialects.stablehlo.type_compatibility import (
    BROADCASTING_ELEMENTWISE,
    COMPATIBLE_ELEMENT_TYPES,
    INFERS_COMPATIBLE_TYPES,
    Dimension,
    dimensions_of,
    have_compatible_element_types,
)
from sdyopt.mlir.dialects.stablehlo.types import ANY_TENSOR, PRED_TENSOR, bounds_of, encoding_with
from sdyopt.mlir.ir import op_fields
from sdyopt.mlir.ir.block import Region
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.shape_traits import SAME_ELEMENT_TYPE, are_compatible_shapes
from sdyopt.mlir.ir.traits import COMMUTATIVE, I64_ARRAY, PURE, InfersTypes, of_class
from sdyopt.mlir.ir.types import DYNAMIC, I1, ComplexType, RankedTensor, Type, UnrankedTensor, element_of

T = TypeVar("T")

# A dimension of size 1, without a bound.
_UNIT_DIMENSION = (1, DYNAMIC)


class Mismatch(NamedTuple):
    """The index of the first operand that is incompatible with the operands before it, and the message."""

    operand: int
    message: str


def broadcast_type(types: Sequence[Type], element: Type) -> Type:
    """The type that all operands are broadcast to, aligned at the last dimension.

    It is unranked if an operand is unranked or the shapes are incompatible.
    """
    ranked = [type for type in types if isinstance(type, RankedTensor)]
    if len(ranked) != len(types):
        return UnrankedTensor(element)
    if _are_static_or_bounded(ranked):
        merged = _merge_dimensions(ranked)
        if isinstance(merged, Mismatch):
            return UnrankedTensor(element)
        shape = tuple(DYNAMIC if bound != DYNAMIC else size for size, bound in merged)
        bounds = [bound for _, bound in merged]
        return RankedTensor(shape, element, encoding_with(None, bounds))
    common: Sequence[int] | None = ranked[0].shape
    for type in ranked:
        common = None if common is None else broadcast_shape(common, type.shape)
    return UnrankedTensor(element) if common is None else RankedTensor(tuple(common), element)


def broadcast_mismatch(types: Sequence[Type]) -> Mismatch | None:
    """The first mismatch, if any; None if an operand is unranked or has dynamic sizes without bounds."""
    ranked = [type for type in types if isinstance(type, RankedTensor)]
    if len(ranked) != len(types) or not _are_static_or_bounded(ranked):
        return None
    merged = _merge_dimensions(ranked)
    return merged if isinstance(merged, Mismatch) else None


def broadcast_along(lhs: Type, rhs: Type, element: Type, dimensions: Sequence[int]) -> Type:
    """The type that two operands are broadcast to along `broadcast_dimensions`.

    `dimensions` maps the dimensions of the operand of lower rank (lhs if the ranks are equal) to those of the
    other operand. The type is unranked if an operand is unranked or the mapping or the shapes are invalid.
    """
    if not isinstance(lhs, RankedTensor) or not isinstance(rhs, RankedTensor):
        return UnrankedTensor(element)
    large, small = (lhs, rhs) if lhs.rank > rhs.rank else (rhs, lhs)
    if len(dimensions) != small.rank or not all(0 <= dimension < large.rank for dimension in dimensions):
        return UnrankedTensor(element)
    sizes = broadcast_shape(small.shape, [large.shape[dimension] for dimension in dimensions])
    if sizes is None:
        return UnrankedTensor(element)
    shape = list(large.shape)
    for dimension, size in zip(dimensions, sizes, strict=True):
        shape[dimension] = size
    return RankedTensor(tuple(shape), element)


def broadcast_shape(left: Sequence[int], right: Sequence[int]) -> list[int] | None:
    """The shape that two shapes are broadcast to, or None if static sizes are incompatible."""
    rank = max(len(left), len(right))
    pairs = zip(_padded(left, rank, 1), _padded(right, rank, 1), strict=True)
    shape = []
    for a, b in pairs:
        static = [size for size in (a, b) if size > 1]
        if DYNAMIC not in (a, b) and a != b and 1 not in (a, b):
            return None
        if DYNAMIC in (a, b):
            shape.append(static[0] if static else DYNAMIC)
        else:
            shape.append(b if a == 1 else a)
    return shape


def _are_static_or_bounded(types: Sequence[RankedTensor]) -> bool:
    return all(DYNAMIC not in type.shape or bounds_of(type) for type in types)


def _merge_dimensions(types: Sequence[RankedTensor]) -> list[Dimension] | Mismatch:
    """The (size, bound) of each dimension of the broadcast shape, or the first mismatch."""
    merged = dimensions_of(types[0])
    for number, type in enumerate(types[1:], 1):
        others = dimensions_of(type)
        rank = max(len(merged), len(others))
        dimensions = []
        pairs = list(zip(*(_padded(dims, rank, _UNIT_DIMENSION) for dims in (merged, others)), strict=True))
        for left, right in reversed(pairs):
            sizes = [size if bound == DYNAMIC else bound for size, bound in (left, right)]
            if 1 in sizes:
                dimensions.append(right if sizes[0] == 1 else left)
                continue
            if sizes[0] != sizes[1]:
                return Mismatch(number, f"incompatible shapes for broadcasting {sizes[0]} and {sizes[1]}")
            if left != right:
                return Mismatch(number, "cannot mix bounded and static dimensions in broadcast")
            dimensions.append(left)
        merged = dimensions[::-1]
    return merged


def _padded(values: Sequence[T], count: int, filler: T) -> list[T]:
    return [filler] * (count - len(values)) + list(values)


_BROADCASTING_TRAITS = (BROADCASTING_ELEMENTWISE, INFERS_COMPATIBLE_TYPES)
_SAME_ELEMENT_TYPE_TRAITS = (PURE, SAME_ELEMENT_TYPE, *_BROADCASTING_TRAITS)
_COMMUTATIVE_TRAITS = (COMMUTATIVE, PURE, COMPATIBLE_ELEMENT_TYPES, *_BROADCASTING_TRAITS)
_BITWISE_TRAITS = (COMMUTATIVE, PURE, *_BROADCASTING_TRAITS)


class BroadcastOp(Op):
    """Base of the operations with implicit broadcasting."""

    def verify_in_context(self) -> None:
        """Reports incompatible shapes; as in StableHLO, the error does not fail verification."""
        if self.signature.attribute("broadcast_dimensions") is not None:
            return
        mismatch = broadcast_mismatch(self.signature.operand_types)
        if mismatch is not None:
            location = self.operand_at(mismatch.operand).location
            emit(Diagnostic(Severity.ERROR, location, mismatch.message))


class BroadcastBinaryOp(BroadcastOp):
    """Base of the binary operations.

    `broadcast_dimensions` maps the dimensions of the operand of lower rank to those of the other operand; by
    default, the operands are aligned at the last dimension.
    """

    lhs = op_fields.operand(ANY_TENSOR)
    rhs = op_fields.operand(ANY_TENSOR)
    broadcast_dimensions = op_fields.optional_attr(I64_ARRAY)
    out = op_fields.result(ANY_TENSOR)

    assembly = assembly(
        "$lhs `,` $rhs attr-dict `:` `(` custom<AnyTensorType>($lhs) `,` custom<AnyTensorType>($rhs) `)` "
        "`->` custom<AllResultTypes>"
    )

    @staticmethod
    def infer_result_types(signature: OpSignature, regions: Sequence[Region]) -> list[Type]:
        return [infer_broadcast(signature, element_of(signature[BroadcastBinaryOp.lhs]))]


class BroadcastFloatOp(BroadcastBinaryOp):
    """Base of the binary operations on floats."""

    lhs = op_fields.operand(ANY_FLOAT_TENSOR)
    rhs = op_fields.operand(ANY_FLOAT_TENSOR)
    broadcast_dimensions = op_fields.optional_attr(I64_ARRAY)
    out = op_fields.result(ANY_FLOAT_TENSOR)


class BroadcastBitwiseOp(BroadcastBinaryOp):
    """Base of the logical and bitwise operations."""

    lhs = op_fields.operand(ANY_PRED_OR_INT_TENSOR)
    rhs = op_fields.operand(ANY_PRED_OR_INT_TENSOR)


def infer_broadcast(signature: OpSignature, element: Type) -> Type:
    """The result type of a `BroadcastBinaryOp`, with this element type.

    Raises a SignatureError if the element types of lhs and rhs are incompatible.
    """
    lhs, rhs = signature[BroadcastBinaryOp.lhs], signature[BroadcastBinaryOp.rhs]
    if not have_compatible_element_types(lhs, rhs):
        raise signature.error_without_op_note("mismatched operand types")
    dimensions = signature[BroadcastBinaryOp.broadcast_dimensions]
    if dimensions is None:
        return broadcast_type(signature.operand_types, element)
    return broadcast_along(lhs, rhs, element, dimensions)


# --- Arithmetic --------------------------------------------------------------------------------------


@chlo.op("broadcast_add", *_COMMUTATIVE_TRAITS)
class BroadcastAddOp(BroadcastBinaryOp):
    """lhs + rhs."""


@chlo.op("broadcast_atan2", *_SAME_ELEMENT_TYPE_TRAITS)
class BroadcastAtan2Op(BroadcastBinaryOp):
    """atan2(lhs, rhs)."""


@chlo.op("broadcast_divide", *_SAME_ELEMENT_TYPE_TRAITS)
class BroadcastDivOp(BroadcastBinaryOp):
    """lhs / rhs."""


@chlo.op("broadcast_maximum", *_COMMUTATIVE_TRAITS)
class BroadcastMaxOp(BroadcastBinaryOp):
    """max(lhs, rhs)."""


@chlo.op("broadcast_minimum", *_COMMUTATIVE_TRAITS)
class BroadcastMinOp(BroadcastBinaryOp):
    """min(lhs, rhs)."""


@chlo.op("broadcast_multiply", COMMUTATIVE, *_SAME_ELEMENT_TYPE_TRAITS)
class BroadcastMulOp(BroadcastBinaryOp):
    """lhs * rhs."""


@chlo.op("broadcast_next_after", *_SAME_ELEMENT_TYPE_TRAITS)
class BroadcastNextAfterOp(BroadcastBinaryOp):
    """The next representable number after lhs towards rhs."""


@chlo.op("broadcast_polygamma", *_SAME_ELEMENT_TYPE_TRAITS)
class BroadcastPolygammaOp(BroadcastBinaryOp):
    """The lhs-th derivative of digamma at rhs."""


@chlo.op("broadcast_power", *_SAME_ELEMENT_TYPE_TRAITS)
class BroadcastPowOp(BroadcastBinaryOp):
    """lhs to the power of rhs."""


@chlo.op("broadcast_remainder", *_SAME_ELEMENT_TYPE_TRAITS)
class BroadcastRemOp(BroadcastBinaryOp):
    """The remainder of lhs / rhs, with the sign of lhs."""


@chlo.op("broadcast_shift_left", *_SAME_ELEMENT_TYPE_TRAITS)
class BroadcastShiftLeftOp(BroadcastBinaryOp):
    """lhs shifted left by rhs bits."""


@chlo.op("broadcast_shift_right_arithmetic", *_SAME_ELEMENT_TYPE_TRAITS)
class BroadcastShiftRightArithmeticOp(BroadcastBinaryOp):
    """lhs shifted right by rhs bits, filling with the sign bit."""


@chlo.op("broadcast_shift_right_logical", *_SAME_ELEMENT_TYPE_TRAITS)
class BroadcastShiftRightLogicalOp(BroadcastBinaryOp):
    """lhs shifted right by rhs bits, filling with zeros."""


@chlo.op("broadcast_subtract", *_SAME_ELEMENT_TYPE_TRAITS)
class BroadcastSubOp(BroadcastBinaryOp):
    """lhs - rhs."""


@chlo.op("broadcast_zeta", *_SAME_ELEMENT_TYPE_TRAITS)
class BroadcastZetaOp(BroadcastFloatOp):
    """The Hurwitz zeta function of lhs and rhs."""


@chlo.op("broadcast_complex", PURE, *_BROADCASTING_TRAITS)
class BroadcastComplexOp(BroadcastFloatOp):
    """The complex number with real part lhs and imaginary part rhs."""

    out = op_fields.result(ANY_COMPLEX_TENSOR)

    @staticmethod
    def infer_result_types(signature: OpSignature, regions: Sequence[Region]) -> list[Type]:
        return [infer_broadcast(signature, ComplexType(element_of(signature[BroadcastBinaryOp.lhs])))]


# --- Bitwise -----------------------------------------------------------------------------------------


@chlo.op("broadcast_and", *_BITWISE_TRAITS)
class BroadcastAndOp(BroadcastBitwiseOp):
    """Logical or bitwise and."""


@chlo.op("broadcast_or", *_BITWISE_TRAITS)
class BroadcastOrOp(BroadcastBitwiseOp):
    """Logical or bitwise or."""


@chlo.op("broadcast_xor", *_BITWISE_TRAITS)
class BroadcastXorOp(BroadcastBitwiseOp):
    """Logical or bitwise exclusive or."""


@enumeration(chlo, "comparison_direction", "EQ", "NE", "GE", "GT", "LE", "LT")
class ComparisonDirection(EnumAttr):
    """The comparison operator, such as `LE` for "less than or equal to"."""


@enumeration(chlo, "comparison_type", "NOTYPE", "FLOAT", "TOTALORDER", "SIGNED", "UNSIGNED")
class ComparisonType(EnumAttr):
    """The comparison of elements: as signed or unsigned integers, or as floats, in IEEE or total order."""


@chlo.op("broadcast_compare", PURE, BROADCASTING_ELEMENTWISE, INFERS_COMPATIBLE_TYPES)
class BroadcastCompareOp(BroadcastBinaryOp):
    """Compares lhs and rhs elementwise by `comparison_direction`."""

    lhs = op_fields.operand(ANY_TENSOR)
    rhs = op_fields.operand(ANY_TENSOR)
    broadcast_dimensions = op_fields.optional_attr(I64_ARRAY)
    comparison_direction = op_fields.attr(
        of_class(ComparisonDirection, "Which comparison operation to perform.")
    )
    compare_type = op_fields.optional_attr(of_class(ComparisonType, "Which comparison type to use."))
    out = op_fields.result(ANY_PRED_TENSOR)

    @staticmethod
    def infer_result_types(signature: OpSignature, regions: Sequence[Region]) -> list[Type]:
        return [infer_broadcast(signature, I1)]


_INFERS_SHAPES = InfersTypes(
    "infer-shapes", accepts=lambda inferred, actual: are_compatible_shapes([inferred, actual])
)


@chlo.op("broadcast_select", PURE, BROADCASTING_ELEMENTWISE, _INFERS_SHAPES)
class BroadcastSelectOp(BroadcastOp):
    """Selects each element from on_true or on_false by `pred`."""

    pred = op_fields.operand(PRED_TENSOR)
    on_true = op_fields.operand(ANY_TENSOR)
    on_false = op_fields.operand(ANY_TENSOR)
    out = op_fields.result(ANY_TENSOR)

    assembly = assembly(
        "$pred `,` $on_true `,` $on_false attr-dict `:` `(` custom<TensorType>($pred) `,` "
        "custom<AnyTensorType>($on_true) `,` custom<AnyTensorType>($on_false) `)` `->` "
        "custom<AllResultTypes>"
    )

    @staticmethod
    def infer_result_types(signature: OpSignature, regions: Sequence[Region]) -> list[Type]:
        element = element_of(signature[BroadcastSelectOp.on_true])
        if element is not element_of(signature[BroadcastSelectOp.on_false]):
            raise signature.error_without_op_note("mismatched operand types")
        return [broadcast_type(signature.operand_types, element)]
