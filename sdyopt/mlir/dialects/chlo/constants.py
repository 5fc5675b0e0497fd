"""chlo.constant and chlo.constant_like."""

from __future__ import annotations

from collections.abc import Sequence

from sdyopt.mlir.asm.format.assembly_format import AttrDict, Custom, assembly
from sdyopt.mlir.asm.format.print_template import Template
from sdyopt.mlir.asm.parser.op_parser import OpAsmParser
from sdyopt.mlir.dialects.chlo.dialect import chlo
from sdyopt.mlir.dialects.stablehlo.traits import BROADCASTING_ELEMENTWISE, INFERS_COMPATIBLE_TYPES
from sdyopt.mlir.dialects.stablehlo.types import ANY_TENSOR, STATIC_TENSOR
from sdyopt.mlir.ir import op_fields
from sdyopt.mlir.ir.attribute import Attribute, DictAttr, StringAttr
from sdyopt.mlir.ir.block import Region
from sdyopt.mlir.ir.builtin_attributes import FloatAttr, IntegerAttr, dense, element_size
from sdyopt.mlir.ir.constraints import ELEMENTS_ATTR, AttrConstraint
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.operation import Op, build
from sdyopt.mlir.ir.shape_traits import SAME_SHAPE
from sdyopt.mlir.ir.traits import CONSTANT_LIKE, PURE
from sdyopt.mlir.ir.types import RankedTensor, Type, UnrankedTensor, element_of, tensor
from sdyopt.mlir.ir.value import LazyLocation

# Attributes that have a type. Elements fail verification, because their types cannot be element types.
_TYPED: AttrConstraint[IntegerAttr | FloatAttr | StringAttr] = AttrConstraint(
    "TypedAttr instance",
    lambda a: isinstance(a, IntegerAttr | FloatAttr | StringAttr) or ELEMENTS_ATTR.accepts(a),
    lambda a: a,
)


def _parse_value(op_parser: OpAsmParser) -> None:
    offset = op_parser.skip_trivia()
    value = op_parser.attribute()
    if not ELEMENTS_ATTR.accepts(value):
        raise op_parser.error("invalid kind of attribute specified", offset)
    op_parser.attributes["value"] = value
    op_parser.types["output"] = [ELEMENTS_ATTR.value(value).type]


def _write_value(out: Template, signature: OpSignature, attributes: DictAttr) -> None:
    out.word(out.attribute_printer.attribute(signature[ConstantOp.value]))


@chlo.op("constant", CONSTANT_LIKE, PURE, INFERS_COMPATIBLE_TYPES)
class ConstantOp(Op):
    """A constant tensor."""

    __slots__ = ()

    value = op_fields.attr(ELEMENTS_ATTR)
    output = op_fields.result(STATIC_TENSOR)

    assembly = assembly(AttrDict(), Custom(_parse_value, _write_value, elides=["value"]))

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

    __slots__ = ()

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
