"""Elementwise chlo operations with implicit broadcasting."""

from __future__ import annotations

from collections.abc import Sequence

from sdyopt.asm.format.assembly_format import AttrDict, Operand, assembly
from sdyopt.diagnostics.diagnostic import Diagnostic, Severity, emit
from sdyopt.dialects.chlo.assembly_directives import AnyTensorTypeOf
from sdyopt.dialects.chlo.broadcast_shapes import broadcast_along, broadcast_mismatch, broadcast_type
from sdyopt.dialects.chlo.dialect import chlo
from sdyopt.dialects.chlo.types import (
    ANY_COMPLEX_TENSOR,
    ANY_FLOAT_TENSOR,
    ANY_PRED_OR_INT_TENSOR,
)
from sdyopt.dialects.stablehlo.assembly_directives import AllResultTypes
from sdyopt.dialects.stablehlo.traits import (
    BROADCASTING_ELEMENTWISE,
    COMPATIBLE_ELEMENT_TYPES,
    INFERS_COMPATIBLE_TYPES,
)
from sdyopt.dialects.stablehlo.type_compatibility import are_compatible_elements
from sdyopt.dialects.stablehlo.types import ANY_TENSOR
from sdyopt.ir import op_fields
from sdyopt.ir.block import Region
from sdyopt.ir.constraints import I64_ARRAY
from sdyopt.ir.op_signature import OpSignature
from sdyopt.ir.operation import Op
from sdyopt.ir.shape_traits import SAME_ELEMENT_TYPE
from sdyopt.ir.traits import COMMUTATIVE, PURE
from sdyopt.ir.types import ComplexType, Type, element_of

_BROADCASTING = (BROADCASTING_ELEMENTWISE, INFERS_COMPATIBLE_TYPES)
_SAME_ELEMENT_TYPE = (PURE, SAME_ELEMENT_TYPE, *_BROADCASTING)
_COMMUTATIVE = (COMMUTATIVE, PURE, COMPATIBLE_ELEMENT_TYPES, *_BROADCASTING)
_BITWISE = (COMMUTATIVE, PURE, *_BROADCASTING)


class BroadcastOp(Op):
    """Base of the operations with implicit broadcasting."""

    __slots__ = ()

    def verify_in_context(self) -> None:
        """Reports incompatible shapes at the operand, as an error that does not fail verification."""
        if self.signature.attribute("broadcast_dimensions") is not None:
            return
        mismatch = broadcast_mismatch(self.signature.operand_types)
        if mismatch is not None:
            location = self.operand_at(mismatch.operand).location
            emit(Diagnostic(Severity.ERROR, location, mismatch.message))


class BinaryOp(BroadcastOp):
    """Base of the binary operations.

    `broadcast_dimensions` maps the dimensions of the smaller operand to those of the larger one; by
    default they are aligned at the last dimension.
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
        return [infer_broadcast(signature, element_of(signature[BinaryOp.lhs]))]


class FloatOp(BinaryOp):
    """Base of the operations on floats."""

    __slots__ = ()

    lhs = op_fields.operand(ANY_FLOAT_TENSOR)
    rhs = op_fields.operand(ANY_FLOAT_TENSOR)
    broadcast_dimensions = op_fields.optional_attr(I64_ARRAY)
    out = op_fields.result(ANY_FLOAT_TENSOR)


class BitwiseOp(BinaryOp):
    """Base of the bitwise operations."""

    __slots__ = ()

    lhs = op_fields.operand(ANY_PRED_OR_INT_TENSOR)
    rhs = op_fields.operand(ANY_PRED_OR_INT_TENSOR)


def infer_broadcast(signature: OpSignature, element: Type) -> Type:
    """The result type of a `BinaryOp`, with this element type; raises if lhs and rhs have different ones."""
    lhs, rhs = signature[BinaryOp.lhs], signature[BinaryOp.rhs]
    if not are_compatible_elements(lhs, rhs):
        raise signature.error_without_op_note("mismatched operand types")
    dimensions = signature[BinaryOp.broadcast_dimensions]
    if dimensions is None:
        return broadcast_type(signature.operand_types, element)
    return broadcast_along(lhs, rhs, element, dimensions)


# --- Arithmetic --------------------------------------------------------------------------------------


@chlo.op("broadcast_add", *_COMMUTATIVE)
class BroadcastAddOp(BinaryOp):
    """lhs + rhs."""

    __slots__ = ()


@chlo.op("broadcast_atan2", *_SAME_ELEMENT_TYPE)
class BroadcastAtan2Op(BinaryOp):
    """atan2(lhs, rhs)."""

    __slots__ = ()


@chlo.op("broadcast_divide", *_SAME_ELEMENT_TYPE)
class BroadcastDivOp(BinaryOp):
    """lhs / rhs."""

    __slots__ = ()


@chlo.op("broadcast_maximum", *_COMMUTATIVE)
class BroadcastMaxOp(BinaryOp):
    """max(lhs, rhs)."""

    __slots__ = ()


@chlo.op("broadcast_minimum", *_COMMUTATIVE)
class BroadcastMinOp(BinaryOp):
    """min(lhs, rhs)."""

    __slots__ = ()


@chlo.op("broadcast_multiply", COMMUTATIVE, *_SAME_ELEMENT_TYPE)
class BroadcastMulOp(BinaryOp):
    """lhs * rhs."""

    __slots__ = ()


@chlo.op("broadcast_next_after", *_SAME_ELEMENT_TYPE)
class BroadcastNextAfterOp(BinaryOp):
    """The next representable number after lhs towards rhs."""

    __slots__ = ()


@chlo.op("broadcast_polygamma", *_SAME_ELEMENT_TYPE)
class BroadcastPolygammaOp(BinaryOp):
    """The lhs-th derivative of digamma."""

    __slots__ = ()


@chlo.op("broadcast_power", *_SAME_ELEMENT_TYPE)
class BroadcastPowOp(BinaryOp):
    """lhs to the power of rhs."""

    __slots__ = ()


@chlo.op("broadcast_remainder", *_SAME_ELEMENT_TYPE)
class BroadcastRemOp(BinaryOp):
    """The remainder of lhs / rhs."""

    __slots__ = ()


@chlo.op("broadcast_shift_left", *_SAME_ELEMENT_TYPE)
class BroadcastShiftLeftOp(BinaryOp):
    """lhs shifted left by rhs bits."""

    __slots__ = ()


@chlo.op("broadcast_shift_right_arithmetic", *_SAME_ELEMENT_TYPE)
class BroadcastShiftRightArithmeticOp(BinaryOp):
    """lhs shifted right by rhs bits, filling with the sign bit."""

    __slots__ = ()


@chlo.op("broadcast_shift_right_logical", *_SAME_ELEMENT_TYPE)
class BroadcastShiftRightLogicalOp(BinaryOp):
    """lhs shifted right by rhs bits, filling with zeros."""

    __slots__ = ()


@chlo.op("broadcast_subtract", *_SAME_ELEMENT_TYPE)
class BroadcastSubOp(BinaryOp):
    """lhs - rhs."""

    __slots__ = ()


@chlo.op("broadcast_zeta", *_SAME_ELEMENT_TYPE)
class BroadcastZetaOp(FloatOp):
    """The Hurwitz zeta function."""

    __slots__ = ()


@chlo.op("broadcast_complex", PURE, *_BROADCASTING)
class BroadcastComplexOp(FloatOp):
    """The complex number with real part lhs and imaginary part rhs."""

    __slots__ = ()

    out = op_fields.result(ANY_COMPLEX_TENSOR)

    @staticmethod
    def infer_result_types(signature: OpSignature, regions: Sequence[Region]) -> list[Type]:
        return [infer_broadcast(signature, ComplexType(element_of(signature[BinaryOp.lhs])))]


# --- Bitwise -----------------------------------------------------------------------------------------


@chlo.op("broadcast_and", *_BITWISE)
class BroadcastAndOp(BitwiseOp):
    """Logical or bitwise and."""

    __slots__ = ()


@chlo.op("broadcast_or", *_BITWISE)
class BroadcastOrOp(BitwiseOp):
    """Logical or bitwise or."""

    __slots__ = ()


@chlo.op("broadcast_xor", *_BITWISE)
class BroadcastXorOp(BitwiseOp):
    """Logical or bitwise exclusive or."""

    __slots__ = ()
