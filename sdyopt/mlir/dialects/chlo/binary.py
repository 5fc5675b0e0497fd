"""Binary elementwise operations without broadcasting."""

from __future__ import annotations

from collections.abc import Sequence

from sdyopt.mlir.asm.format.assembly_format import AttrDict, Operand, assembly
from sdyopt.mlir.dialects.chlo.assembly_directives import AnyTensorTypeOf
from sdyopt.mlir.dialects.chlo.dialect import chlo
from sdyopt.mlir.dialects.chlo.types import ANY_FLOAT_TENSOR
from sdyopt.mlir.dialects.stablehlo.assembly_directives import AllResultTypes, TensorTypeOf
from sdyopt.mlir.dialects.stablehlo.traits import COMPATIBLE_TYPES, INFERS_COMPATIBLE_TYPES
from sdyopt.mlir.dialects.stablehlo.type_compatibility import most_specific_type
from sdyopt.mlir.dialects.stablehlo.types import INT_TENSOR
from sdyopt.mlir.ir import op_fields
from sdyopt.mlir.ir.block import Region
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.traits import COMMUTATIVE, PURE
from sdyopt.mlir.ir.types import Type

_COMPATIBLE_TYPE_TRAITS = (PURE, INFERS_COMPATIBLE_TYPES, COMPATIBLE_TYPES)


class BinaryOp(Op):
    """Base of binary operations whose operands and result have compatible types."""

    __slots__ = ()

    @staticmethod
    def infer_result_types(signature: OpSignature, regions: Sequence[Region]) -> list[Type]:
        return [most_specific_type(signature, signature.operand_types)]


@chlo.op("next_after", *_COMPATIBLE_TYPE_TRAITS)
class NextAfterOp(BinaryOp):
    """The next representable number after x towards y."""

    __slots__ = ()

    x = op_fields.operand(ANY_FLOAT_TENSOR)
    y = op_fields.operand(ANY_FLOAT_TENSOR)
    result = op_fields.result(ANY_FLOAT_TENSOR)

    assembly = assembly(
        *(Operand("x"), ",", Operand("y"), AttrDict()),
        *(":", AnyTensorTypeOf("x"), ",", AnyTensorTypeOf("y"), "->", AllResultTypes()),
    )


@chlo.op("polygamma", *_COMPATIBLE_TYPE_TRAITS)
class PolygammaOp(BinaryOp):
    """The n-th derivative of digamma at x."""

    __slots__ = ()

    n = op_fields.operand(ANY_FLOAT_TENSOR)
    x = op_fields.operand(ANY_FLOAT_TENSOR)
    result = op_fields.result(ANY_FLOAT_TENSOR)

    assembly = assembly(
        *(Operand("n"), ",", Operand("x"), AttrDict()),
        *(":", AnyTensorTypeOf("n"), ",", AnyTensorTypeOf("x"), "->", AllResultTypes()),
    )


@chlo.op("zeta", *_COMPATIBLE_TYPE_TRAITS)
class ZetaOp(BinaryOp):
    """The Hurwitz zeta function of x and q."""

    __slots__ = ()

    x = op_fields.operand(ANY_FLOAT_TENSOR)
    q = op_fields.operand(ANY_FLOAT_TENSOR)
    result = op_fields.result(ANY_FLOAT_TENSOR)

    assembly = assembly(
        *(Operand("x"), ",", Operand("q"), AttrDict()),
        *(":", AnyTensorTypeOf("x"), ",", AnyTensorTypeOf("q"), "->", AllResultTypes()),
    )


@chlo.op("mulhi", COMMUTATIVE, *_COMPATIBLE_TYPE_TRAITS)
class MulhiOp(BinaryOp):
    """The upper half of the bits of an integer product."""

    __slots__ = ()

    lhs = op_fields.operand(INT_TENSOR)
    rhs = op_fields.operand(INT_TENSOR)
    result = op_fields.result(INT_TENSOR)

    assembly = assembly(
        *(Operand("lhs"), ",", Operand("rhs"), AttrDict()),
        *(":", TensorTypeOf("lhs"), ",", TensorTypeOf("rhs"), "->", TensorTypeOf("result")),
    )
