"""Elementwise chlo operations with implicit broadcasting."""

from __future__ import annotations

from collections.abc import Sequence

from sdyopt.base.diagnostics.diagnostic import Diagnostic, Severity, emit
from sdyopt.mlir.asm.format.assembly_format import AttrDict, Operand, assembly
from sdyopt.mlir.dialects.chlo.assembly_directives import AnyTensorTypeOf
from sdyopt.mlir.dialects.chlo.broadcast_shapes import broadcast_along, broadcast_mismatch, broadcast_type
from sdyopt.mlir.dialects.chlo.dialect import chlo
from sdyopt.mlir.dialects.chlo.types import (
    ANY_COMPLEX_TENSOR,
    ANY_FLOAT_TENSOR,
    ANY_PRED_OR_INT_TENSOR,
)
from sdyopt.mlir.dialects.stablehlo.assembly_directives import AllResultTypes
from sdyopt.mlir.dialects.stablehlo.traits import (
    BROADCASTING_ELEMENTWISE,
    COMPATIBLE_ELEMENT_TYPES,
    INFERS_COMPATIBLE_TYPES,
)
from sdyopt.mlir.dialects.stablehlo.type_compatibility import have_compatible_element_types
from sdyopt.mlir.dialects.stablehlo.types import ANY_TENSOR
from sdyopt.mlir.ir import op_fields
from sdyopt.mlir.ir.block import Region
from sdyopt.mlir.ir.constraints import I64_ARRAY
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.shape_traits import SAME_ELEMENT_TYPE
from sdyopt.mlir.ir.traits import COMMUTATIVE, PURE
from sdyopt.mlir.ir.types import ComplexType, Type, element_of

_BROADCASTING_TRAITS = (BROADCASTING_ELEMENTWISE, INFERS_COMPATIBLE_TYPES)
_SAME_ELEMENT_TYPE_TRAITS = (PURE, SAME_ELEMENT_TYPE, *_BROADCASTING_TRAITS)
_COMMUTATIVE_TRAITS = (COMMUTATIVE, PURE, COMPATIBLE_ELEMENT_TYPES, *_BROADCASTING_TRAITS)
_BITWISE_TRAITS = (COMMUTATIVE, PURE, *_BROADCASTING_TRAITS)


class BroadcastOp(Op):
    """Base of the operations with implicit broadcasting."""

    __slots__ = ()

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

    __slots__ = ()

    lhs = op_fields.operand(ANY_TENSOR)
    rhs = op_fields.operand(ANY_TENSOR)
    broadcast_dimensions = op_fields.optional_attr(I64_ARRAY)
    out = op_fields.result(ANY_TENSOR)

    assembly = assembly(
        *(Operand("lhs"), ",", Operand("rhs"), AttrDict(), ":"),
        *("(", AnyTensorTypeOf("lhs"), ",", AnyTensorTypeOf("rhs"), ")", "->", AllResultTypes()),
    )

    @staticmethod
    def infer_result_types(signature: OpSignature, regions: Sequence[Region]) -> list[Type]:
        return [infer_broadcast(signature, element_of(signature[BroadcastBinaryOp.lhs]))]


class BroadcastFloatOp(BroadcastBinaryOp):
    """Base of the binary operations on floats."""

    __slots__ = ()

    lhs = op_fields.operand(ANY_FLOAT_TENSOR)
    rhs = op_fields.operand(ANY_FLOAT_TENSOR)
    broadcast_dimensions = op_fields.optional_attr(I64_ARRAY)
    out = op_fields.result(ANY_FLOAT_TENSOR)


class BroadcastBitwiseOp(BroadcastBinaryOp):
    """Base of the logical and bitwise operations."""

    __slots__ = ()

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

    __slots__ = ()


@chlo.op("broadcast_atan2", *_SAME_ELEMENT_TYPE_TRAITS)
class BroadcastAtan2Op(BroadcastBinaryOp):
    """atan2(lhs, rhs)."""

    __slots__ = ()


@chlo.op("broadcast_divide", *_SAME_ELEMENT_TYPE_TRAITS)
class BroadcastDivOp(BroadcastBinaryOp):
    """lhs / rhs."""

    __slots__ = ()


@chlo.op("broadcast_maximum", *_COMMUTATIVE_TRAITS)
class BroadcastMaxOp(BroadcastBinaryOp):
    """max(lhs, rhs)."""

    __slots__ = ()


@chlo.op("broadcast_minimum", *_COMMUTATIVE_TRAITS)
class BroadcastMinOp(BroadcastBinaryOp):
    """min(lhs, rhs)."""

    __slots__ = ()


@chlo.op("broadcast_multiply", COMMUTATIVE, *_SAME_ELEMENT_TYPE_TRAITS)
class BroadcastMulOp(BroadcastBinaryOp):
    """lhs * rhs."""

    __slots__ = ()


@chlo.op("broadcast_next_after", *_SAME_ELEMENT_TYPE_TRAITS)
class BroadcastNextAfterOp(BroadcastBinaryOp):
    """The next representable number after lhs towards rhs."""

    __slots__ = ()


@chlo.op("broadcast_polygamma", *_SAME_ELEMENT_TYPE_TRAITS)
class BroadcastPolygammaOp(BroadcastBinaryOp):
    """The lhs-th derivative of digamma at rhs."""

    __slots__ = ()


@chlo.op("broadcast_power", *_SAME_ELEMENT_TYPE_TRAITS)
class BroadcastPowOp(BroadcastBinaryOp):
    """lhs to the power of rhs."""

    __slots__ = ()


@chlo.op("broadcast_remainder", *_SAME_ELEMENT_TYPE_TRAITS)
class BroadcastRemOp(BroadcastBinaryOp):
    """The remainder of lhs / rhs, with the sign of lhs."""

    __slots__ = ()


@chlo.op("broadcast_shift_left", *_SAME_ELEMENT_TYPE_TRAITS)
class BroadcastShiftLeftOp(BroadcastBinaryOp):
    """lhs shifted left by rhs bits."""

    __slots__ = ()


@chlo.op("broadcast_shift_right_arithmetic", *_SAME_ELEMENT_TYPE_TRAITS)
class BroadcastShiftRightArithmeticOp(BroadcastBinaryOp):
    """lhs shifted right by rhs bits, filling with the sign bit."""

    __slots__ = ()


@chlo.op("broadcast_shift_right_logical", *_SAME_ELEMENT_TYPE_TRAITS)
class BroadcastShiftRightLogicalOp(BroadcastBinaryOp):
    """lhs shifted right by rhs bits, filling with zeros."""

    __slots__ = ()


@chlo.op("broadcast_subtract", *_SAME_ELEMENT_TYPE_TRAITS)
class BroadcastSubOp(BroadcastBinaryOp):
    """lhs - rhs."""

    __slots__ = ()


@chlo.op("broadcast_zeta", *_SAME_ELEMENT_TYPE_TRAITS)
class BroadcastZetaOp(BroadcastFloatOp):
    """The Hurwitz zeta function of lhs and rhs."""

    __slots__ = ()


@chlo.op("broadcast_complex", PURE, *_BROADCASTING_TRAITS)
class BroadcastComplexOp(BroadcastFloatOp):
    """The complex number with real part lhs and imaginary part rhs."""

    __slots__ = ()

    out = op_fields.result(ANY_COMPLEX_TENSOR)

    @staticmethod
    def infer_result_types(signature: OpSignature, regions: Sequence[Region]) -> list[Type]:
        return [infer_broadcast(signature, ComplexType(element_of(signature[BroadcastBinaryOp.lhs])))]


# --- Bitwise -----------------------------------------------------------------------------------------


@chlo.op("broadcast_and", *_BITWISE_TRAITS)
class BroadcastAndOp(BroadcastBitwiseOp):
    """Logical or bitwise and."""

    __slots__ = ()


@chlo.op("broadcast_or", *_BITWISE_TRAITS)
class BroadcastOrOp(BroadcastBitwiseOp):
    """Logical or bitwise or."""

    __slots__ = ()


@chlo.op("broadcast_xor", *_BITWISE_TRAITS)
class BroadcastXorOp(BroadcastBitwiseOp):
    """Logical or bitwise exclusive or."""

    __slots__ = ()
