"""The chlo dialect object, its type constraints, its elementwise operations and its constants."""

from __future__ import annotations

from collections.abc import Sequence

from sdyopt.base.diagnostics.ids import ErrorKind
from sdyopt.mlir.asm.format.assembly_format import assembly
from sdyopt.mlir.asm.format.format_elements import TypeOf, custom, directive
from sdyopt.mlir.asm.format.print_template import Template
from sdyopt.mlir.asm.parser.op_parser import OpAsmParser
from sdyopt.mlir.dialects.stablehlo.type_compatibility import (
    BROADCASTING_ELEMENTWISE,
    COMPATIBLE_TYPES,
    INFERS_COMPATIBLE_TYPES,
    most_specific_operand_type,
)
from sdyopt.mlir.dialects.stablehlo.types import (
    ANY_TENSOR,
    COMPLEX,
    FLOAT,
    INT,
    INT_TENSOR,
    PRED,
    STATIC_TENSOR,
    any_of,
    shaped_of,
)
from sdyopt.mlir.ir import op_fields
from sdyopt.mlir.ir.attribute import Attribute, DictAttr, StringAttr
from sdyopt.mlir.ir.block import Region
from sdyopt.mlir.ir.builtin_attributes import FloatAttr, IntegerAttr, dense, element_size
from sdyopt.mlir.ir.dialect import Dialect
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.operation import Op, build
from sdyopt.mlir.ir.shape_traits import ELEMENTWISE, SAME_SHAPE
from sdyopt.mlir.ir.traits import COMMUTATIVE, CONSTANT_LIKE, ELEMENTS_ATTR, PURE, AttrConstraint
from sdyopt.mlir.ir.types import I1, RankedTensor, Type, UnrankedTensor, element_of, tensor
from sdyopt.mlir.ir.value import LazyLocation

chlo = Dialect("chlo")
chlo.unknown_attribute = ErrorKind("unknown chlo attribute")
chlo.is_inlinable = True


_TENSORS = (RankedTensor, UnrankedTensor)

ANY_PRED_TENSOR = shaped_of("tensor", _TENSORS, PRED)
ANY_FLOAT_TENSOR = shaped_of("tensor", _TENSORS, FLOAT)
ANY_COMPLEX_TENSOR = shaped_of("tensor", _TENSORS, COMPLEX)
ANY_FLOAT_OR_COMPLEX_TENSOR = shaped_of("tensor", _TENSORS, any_of(FLOAT, COMPLEX))
ANY_PRED_OR_INT_TENSOR = shaped_of("tensor", _TENSORS, any_of(PRED, INT))


@directive("AnyTensorType")
class AnyTensorTypeOf(TypeOf):
    """The type of a field, which must be a ranked or unranked tensor."""

    def parse(self, op_parser: OpAsmParser) -> None:
        offset = op_parser.skip_trivia()
        super().parse(op_parser)
        (type,) = op_parser.types[self.field]
        if not isinstance(type, RankedTensor | UnrankedTensor):
            raise op_parser.error("invalid kind of type specified", offset)


_BINARY_TRAITS = (PURE, INFERS_COMPATIBLE_TYPES, COMPATIBLE_TYPES)


class BinaryOp(Op):
    """Base of binary operations whose operands and result have compatible types."""

    infer_result_types = staticmethod(most_specific_operand_type)


@chlo.op("next_after", *_BINARY_TRAITS)
class NextAfterOp(BinaryOp):
    """The next representable number after x towards y."""

    x = op_fields.operand(ANY_FLOAT_TENSOR)
    y = op_fields.operand(ANY_FLOAT_TENSOR)
    result = op_fields.result(ANY_FLOAT_TENSOR)

    assembly = assembly(
        "$x `,` $y attr-dict `:` custom<AnyTensorType>($x) `,` custom<AnyTensorType>($y) `->` "
        "custom<AllResultTypes>"
    )


@chlo.op("polygamma", *_BINARY_TRAITS)
class PolygammaOp(BinaryOp):
    """The n-th derivative of digamma at x."""

    n = op_fields.operand(ANY_FLOAT_TENSOR)
    x = op_fields.operand(ANY_FLOAT_TENSOR)
    result = op_fields.result(ANY_FLOAT_TENSOR)

    assembly = assembly(
        "$n `,` $x attr-dict `:` custom<AnyTensorType>($n) `,` custom<AnyTensorType>($x) `->` "
        "custom<AllResultTypes>"
    )


@chlo.op("zeta", *_BINARY_TRAITS)
class ZetaOp(BinaryOp):
    """The Hurwitz zeta function of x and q."""

    x = op_fields.operand(ANY_FLOAT_TENSOR)
    q = op_fields.operand(ANY_FLOAT_TENSOR)
    result = op_fields.result(ANY_FLOAT_TENSOR)

    assembly = assembly(
        "$x `,` $q attr-dict `:` custom<AnyTensorType>($x) `,` custom<AnyTensorType>($q) `->` "
        "custom<AllResultTypes>"
    )


@chlo.op("mulhi", COMMUTATIVE, *_BINARY_TRAITS)
class MulhiOp(BinaryOp):
    """The upper half of the bits of an integer product."""

    lhs = op_fields.operand(INT_TENSOR)
    rhs = op_fields.operand(INT_TENSOR)
    result = op_fields.result(INT_TENSOR)

    assembly = assembly(
        "$lhs `,` $rhs attr-dict `:` custom<TensorType>($lhs) `,` custom<TensorType>($rhs) `->` "
        "custom<TensorType>($result)"
    )


_ELEMENTWISE_TRAITS = (PURE, ELEMENTWISE, SAME_SHAPE)
_UNARY_TRAITS = (INFERS_COMPATIBLE_TYPES, COMPATIBLE_TYPES, *_ELEMENTWISE_TRAITS)
_PREDICATE_TRAITS = (INFERS_COMPATIBLE_TYPES, *_ELEMENTWISE_TRAITS)


class UnaryOp(Op):
    """Base of the unary operations."""

    assembly = assembly(
        "$operand attr-dict `:` custom<AnyTensorType>($operand) `->` custom<AnyTensorType>($result)"
    )

    infer_result_types = staticmethod(most_specific_operand_type)


class FloatOp(UnaryOp):
    """Base of the unary operations on floats."""

    operand = op_fields.operand(ANY_FLOAT_TENSOR)
    result = op_fields.result(ANY_FLOAT_TENSOR)


class FloatOrComplexOp(UnaryOp):
    """Base of the unary operations on floats and complex numbers."""

    operand = op_fields.operand(ANY_FLOAT_OR_COMPLEX_TENSOR)
    result = op_fields.result(ANY_FLOAT_OR_COMPLEX_TENSOR)


class PredicateOp(UnaryOp):
    """Base of the predicates on floats."""

    operand = op_fields.operand(ANY_FLOAT_TENSOR)
    result = op_fields.result(ANY_PRED_TENSOR)

    @staticmethod
    def infer_result_types(signature: OpSignature, regions: Sequence[Region]) -> list[Type]:
        operand = signature[PredicateOp.operand]
        if isinstance(operand, RankedTensor):
            return [RankedTensor(operand.shape, I1, operand.encoding)]
        return [UnrankedTensor(I1)]


# --- Floats and complex numbers ---------------------------------------------------------------


@chlo.op("_asin_acos_kernel", *_UNARY_TRAITS)
class AsinAcosKernelOp(UnaryOp):
    """The intermediate result that complex asin and acos share."""

    operand = op_fields.operand(ANY_COMPLEX_TENSOR)
    result = op_fields.result(ANY_COMPLEX_TENSOR)


@chlo.op("acos", *_UNARY_TRAITS)
class AcosOp(FloatOrComplexOp):
    """acos(x)."""


@chlo.op("acosh", *_UNARY_TRAITS)
class AcoshOp(FloatOrComplexOp):
    """acosh(x)."""


@chlo.op("asin", *_UNARY_TRAITS)
class AsinOp(FloatOrComplexOp):
    """asin(x)."""


@chlo.op("asinh", *_UNARY_TRAITS)
class AsinhOp(FloatOrComplexOp):
    """asinh(x)."""


@chlo.op("atan", *_UNARY_TRAITS)
class AtanOp(FloatOrComplexOp):
    """atan(x)."""


@chlo.op("atanh", *_UNARY_TRAITS)
class AtanhOp(FloatOrComplexOp):
    """atanh(x)."""


@chlo.op("bessel_i1e", *_UNARY_TRAITS)
class BesselI1eOp(FloatOrComplexOp):
    """The exponentially scaled modified Bessel function of the first kind, of order 1."""


@chlo.op("conj", *_UNARY_TRAITS)
class ConjOp(FloatOrComplexOp):
    """The complex conjugate."""


@chlo.op("cosh", *_UNARY_TRAITS)
class CoshOp(FloatOrComplexOp):
    """cosh(x)."""


@chlo.op("sinh", *_UNARY_TRAITS)
class SinhOp(FloatOrComplexOp):
    """sinh(x)."""


@chlo.op("square", *_UNARY_TRAITS)
class SquareOp(FloatOrComplexOp):
    """x * x."""


@chlo.op("tan", *_UNARY_TRAITS)
class TanOp(FloatOrComplexOp):
    """tan(x)."""


# --- Floats -------------------------------------------------------------------------------------


@chlo.op("digamma", *_UNARY_TRAITS)
class DigammaOp(FloatOp):
    """The derivative of lgamma."""


@chlo.op("erf", *_UNARY_TRAITS)
class ErfOp(FloatOp):
    """The error function."""


@chlo.op("erf_inv", *_UNARY_TRAITS)
class ErfInvOp(FloatOp):
    """The inverse of the error function."""


@chlo.op("erfc", *_UNARY_TRAITS)
class ErfcOp(FloatOp):
    """1 - erf(x)."""


@chlo.op("lgamma", *_UNARY_TRAITS)
class LgammaOp(FloatOp):
    """log |gamma(x)|."""


@chlo.op("is_inf", *_PREDICATE_TRAITS)
class IsInfOp(PredicateOp):
    """Whether x is infinite."""


@chlo.op("is_neg_inf", *_PREDICATE_TRAITS)
class IsNegInfOp(PredicateOp):
    """Whether x is minus infinity."""


@chlo.op("is_pos_inf", *_PREDICATE_TRAITS)
class IsPosInfOp(PredicateOp):
    """Whether x is plus infinity."""


# Attributes that have a type. Elements fail verification, because their types cannot be element types.
_TYPED: AttrConstraint[IntegerAttr | FloatAttr | StringAttr] = AttrConstraint(
    "TypedAttr instance",
    lambda a: isinstance(a, IntegerAttr | FloatAttr | StringAttr) or ELEMENTS_ATTR.accepts(a),
    lambda a: a,
)


@chlo.op("constant", CONSTANT_LIKE, PURE, INFERS_COMPATIBLE_TYPES)
class ConstantOp(Op):
    """A constant tensor."""

    value = op_fields.attr(ELEMENTS_ATTR)
    output = op_fields.result(STATIC_TENSOR)

    @staticmethod
    def _parse_value(op_parser: OpAsmParser) -> None:
        offset = op_parser.skip_trivia()
        value = op_parser.attribute()
        if not ELEMENTS_ATTR.accepts(value):
            raise op_parser.error("invalid kind of attribute specified", offset)
        op_parser.attributes["value"] = value
        op_parser.types["output"] = [ELEMENTS_ATTR.value(value).type]

    @staticmethod
    def _write_value(out: Template, signature: OpSignature, attributes: DictAttr) -> None:
        out.word(out.attribute_printer.attribute(signature[ConstantOp.value]))

    assembly = assembly("attr-dict custom<value>($value)", value=custom(_parse_value, _write_value))

    @staticmethod
    def infer_result_types(signature: OpSignature, regions: Sequence[Region]) -> list[Type]:
        return [signature[ConstantOp.value].type]


def _materialize(value: Attribute, type: Type, location: LazyLocation) -> Op | None:
    if not ELEMENTS_ATTR.accepts(value):
        return None
    signature = OpSignature(ConstantOp, ConstantOp.name, DictAttr((("value", value),)), (), (type,))
    return build(signature, (), location=location)


chlo.materialize_constant = _materialize


@chlo.op("constant_like", PURE, BROADCASTING_ELEMENTWISE, SAME_SHAPE, INFERS_COMPATIBLE_TYPES)
class ConstantLikeOp(Op):
    """A tensor of the operand's shape, filled with one number."""

    value = op_fields.attr(_TYPED)
    operand = op_fields.operand(ANY_TENSOR)
    out = op_fields.result(ANY_TENSOR)

    @staticmethod
    def verify_signature(signature: OpSignature) -> None:
        if signature[ConstantLikeOp.value].type is not element_of(signature[ConstantLikeOp.out]):
            raise signature.op_error("value's type doesn't match element return type")

    @staticmethod
    def infer_result_types(signature: OpSignature, regions: Sequence[Region]) -> list[Type]:
        operand, element = signature[ConstantLikeOp.operand], signature[ConstantLikeOp.value].type
        assert element is not None
        if isinstance(operand, RankedTensor):
            return [RankedTensor(operand.shape, element, operand.encoding)]
        return [UnrankedTensor(element)]

    def fold(self, constants: Sequence[Attribute | None]) -> list[Attribute] | None:
        operand, value = self.signature[ConstantLikeOp.operand], self.value
        if not isinstance(operand, RankedTensor) or not operand.has_static_shape:
            return None
        if isinstance(value, StringAttr):
            return None
        bits = value.bits if isinstance(value, FloatAttr) else value.value
        size = element_size(value.type)
        data = (bits & ((1 << 8 * size) - 1)).to_bytes(size, "little")
        # As in StableHLO, the constant lacks the encoding of the result.
        return [dense(tensor(operand.shape, value.type), data)]
