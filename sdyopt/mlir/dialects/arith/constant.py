"""arith.constant, which materializes the constants of this and related dialects."""

from __future__ import annotations

from collections.abc import Sequence

from sdyopt.mlir.asm.format.assembly_format import Attr, AttrDict, assembly
from sdyopt.mlir.asm.parser.op_parser import OpAsmParser
from sdyopt.mlir.asm.printer.attribute_printer import plain_type
from sdyopt.mlir.dialects.arith.dialect import arith
from sdyopt.mlir.ir.attribute import EMPTY_DICT, Attribute, StringAttr, dictionary
from sdyopt.mlir.ir.block import Region
from sdyopt.mlir.ir.builtin_attributes import (
    DenseElements,
    DenseResource,
    FloatAttr,
    IntegerAttr,
    SparseElements,
)
from sdyopt.mlir.ir.constraints import ANY_ATTR, ANY_TYPE
from sdyopt.mlir.ir.op_fields import attr, result
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.operation import Op, build
from sdyopt.mlir.ir.traits import CONSTANT_LIKE, PURE, Trait
from sdyopt.mlir.ir.types import I1, NONE, IndexType, IntegerType, Type
from sdyopt.mlir.ir.value import LazyLocation

_CONSTANT_ATTRIBUTES = (IntegerAttr, FloatAttr, DenseElements, DenseResource, SparseElements)


def _parse_value(op_parser: OpAsmParser) -> Attribute:
    offset = op_parser.skip_trivia()
    value = op_parser.attribute()
    if type_of(value) is None:
        raise op_parser.error("invalid kind of attribute specified", offset)
    return value


def type_of(value: Attribute) -> Type | None:
    """The type of an attribute; None if the attribute is not typed."""
    if isinstance(value, StringAttr):
        return value.type or NONE
    type = getattr(value, "type", None)
    return type if isinstance(type, Type) else None


def _check_same_type(signature: OpSignature) -> None:
    if type_of(signature[ConstantOp.value]) is not signature.result_types[0]:
        raise signature.op_error("failed to verify that all of {value, result} have same type")


_SAME_TYPE = Trait("value-has-type-of-result", _check_same_type)


@arith.op("constant", CONSTANT_LIKE, PURE, _SAME_TYPE)
class ConstantOp(Op):
    """A constant number, tensor or vector."""

    __slots__ = ()

    value = attr(ANY_ATTR)
    out = result(ANY_TYPE)

    assembly = assembly(AttrDict(), Attr("value", _parse_value))

    @staticmethod
    def infer_result_types(signature: OpSignature, regions: Sequence[Region]) -> list[Type]:
        type = type_of(signature[ConstantOp.value])
        assert type is not None
        return [type]

    @staticmethod
    def verify_signature(signature: OpSignature) -> None:
        type = signature.result_types[0]
        if isinstance(type, IntegerType) and not type.is_signless:
            raise signature.op_error("integer return type must be signless")
        if not isinstance(signature[ConstantOp.value], _CONSTANT_ATTRIBUTES):
            raise signature.op_error("value must be an integer, float, or elements attribute")

    def name_results(self) -> list[tuple[int, str]]:
        value = self.value
        if not isinstance(value, IntegerAttr):
            return [(0, "cst")]
        if value.type is I1:
            return [(0, "true" if value.value else "false")]
        suffix = "" if isinstance(value.type, IndexType) else f"_{plain_type(value.type)}"
        return [(0, f"c{value.value}{suffix}")]


def make_constant(value: Attribute, type: Type, location: LazyLocation) -> Op | None:
    """A detached constant; None if the attribute cannot be the value of a constant of this type."""
    if not isinstance(value, _CONSTANT_ATTRIBUTES) or value.type is not type:
        return None
    if isinstance(type, IntegerType) and not type.is_signless:
        return None
    signature = OpSignature(ConstantOp, ConstantOp.name, dictionary({"value": value}), (), (type,))
    return build(signature, (), EMPTY_DICT, location)


arith.materialize_constant = make_constant
