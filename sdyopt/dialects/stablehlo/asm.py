"""Pieces of assembly that stablehlo's operations share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sdyopt.diagnostics.diagnostic import DiagnosticError
from sdyopt.dialects.stablehlo.enums import EnumAttr
from sdyopt.dialects.stablehlo.records import integer_list
from sdyopt.ir.attribute import Attribute, DictAttr, StringAttr
from sdyopt.ir.elements_attributes import DenseArray
from sdyopt.ir.numeric_attributes import IntegerAttr
from sdyopt.ir.op_fields import ONE, OperandField, ResultField, ValueField
from sdyopt.ir.op_signature import OpSignature
from sdyopt.ir.types import (
    I1,
    I64,
    NONE,
    ComplexType,
    FunctionType,
    RankedTensor,
    ShapedType,
    TupleType,
    Type,
    UnrankedTensor,
)
from sdyopt.syntax.assembly import Attr, Piece, TypeOf
from sdyopt.syntax.spell import Speller, plain_type
from sdyopt.syntax.statement import Statement
from sdyopt.syntax.template import Template

# --- Types --------------------------------------------------------------------------------


class SameOperandsAndResultType(Piece):
    """One type for all operands and the result, or a function type where they differ."""

    def parse(self, statement: Statement) -> None:
        offset = statement.skip()
        type = statement.type()
        names = operand_counts(statement)
        if isinstance(type, FunctionType):
            assign_function_type(statement, type, offset)
            return
        for field, count in names.items():
            statement.types[field] = [type] * count
        statement.types[result_field(statement)] = [type]

    def write(self, out: Template, signature: OpSignature, attributes: DictAttr) -> None:
        (result,) = signature.result_types
        if all(type is result for type in signature.operand_types):
            out.types([result])
        else:
            out.functional_type(signature.operand_types, signature.result_types)


class TensorTypeOf(TypeOf):
    """The type of a field, which must be a ranked tensor."""

    def parse(self, statement: Statement) -> None:
        offset = statement.skip()
        super().parse(statement)
        (type,) = statement.types[self.field]
        if not isinstance(type, RankedTensor):
            raise statement.error(
                f"invalid kind of type specified: expected builtin.tensor, but found '{plain_type(type)}'",
                offset,
            )


class ComplexOpType(Piece):
    """The complex result type, from which the operands' follow, or a function type."""

    def parse(self, statement: Statement) -> None:
        offset = statement.skip()
        type = statement.type()
        if isinstance(type, FunctionType):
            assign_function_type(statement, type, offset)
            return
        if not isinstance(type, ShapedType) or not isinstance(type.element, ComplexType):
            raise statement.error("expected tensor with complex element type", offset)
        for field in operand_counts(statement):
            statement.types[field] = [real_type(type)]
        statement.types[result_field(statement)] = [type]

    def write(self, out: Template, signature: OpSignature, attributes: DictAttr) -> None:
        (result,) = signature.result_types
        if all(type is real_type(result) for type in signature.operand_types):
            out.types([result])
        else:
            out.functional_type(signature.operand_types, signature.result_types)


class SelectOpType(Piece):
    """The predicate's type and that of all the rest, or a function type."""

    def parse(self, statement: Statement) -> None:
        offset = statement.skip()
        types = statement.comma_list(statement.type)
        if len(types) == 1 and isinstance(types[0], FunctionType):
            assign_function_type(statement, types[0], offset)
            return
        if len(types) != 2:
            raise statement.error("expected functional type or list of two types", offset)
        predicate, *values = operand_counts(statement)
        statement.types[predicate] = types[:1]
        for field in (*values, result_field(statement)):
            statement.types[field] = types[1:]

    def write(self, out: Template, signature: OpSignature, attributes: DictAttr) -> None:
        predicate, on_true, on_false = signature.operand_types
        (result,) = signature.result_types
        if on_true is result and on_false is result:
            out.types([predicate, result])
        else:
            out.functional_type(signature.operand_types, signature.result_types)


class PairwiseOpType(Piece):
    """The types of the operands, which are those of the results as well."""

    def parse(self, statement: Statement) -> None:
        offset = statement.skip()
        try:
            types = statement.comma_list(statement.type)
        except DiagnosticError as error:
            raise error.then(statement.error("expected type list", offset)) from None
        (operands,) = operand_counts(statement)
        statement.types[operands] = statement.types[result_field(statement)] = types

    def write(self, out: Template, signature: OpSignature, attributes: DictAttr) -> None:
        out.types(signature.operand_types)


class TupleOpType(Piece):
    """The type of the tuple, from which the operands' follow."""

    def parse(self, statement: Statement) -> None:
        offset = statement.skip()
        type = statement.type()
        if not isinstance(type, TupleType):
            raise statement.error("expected tuple type", offset)
        (operands,) = operand_counts(statement)
        statement.check_operand_count(statement.operand_names[operands], type.types, statement.operands_place)
        statement.types[operands] = list(type.types)
        statement.types[result_field(statement)] = [type]

    def write(self, out: Template, signature: OpSignature, attributes: DictAttr) -> None:
        out.types(signature.result_types)


class AllResultTypes(Piece):
    """The types of all results. Only the check of the operation asks how many there are."""

    def parse(self, statement: Statement) -> None:
        statement.result_types = statement.comma_list(statement.type)

    def write(self, out: Template, signature: OpSignature, attributes: DictAttr) -> None:
        out.types(signature.result_types)


def operand_counts(statement: Statement) -> dict[str, int]:
    """How many operands have been read for each operand field."""
    return {
        name: len(statement.operand_names.get(name, ()))
        for name, field in statement.op_class.fields.items()
        if isinstance(field, OperandField)
    }


def result_field(statement: Statement) -> str:
    """The name of the only result field."""
    (name,) = (n for n, field in statement.op_class.fields.items() if isinstance(field, ResultField))
    return name


def assign_function_type(statement: Statement, type: FunctionType, offset: int) -> None:
    """Gives each operand and the result its type."""
    counts = operand_counts(statement)
    total = sum(counts.values())
    if total != len(type.inputs):
        raise statement.error(f"{total} operands present, but expected {len(type.inputs)}", offset)
    if len(type.results) != 1:
        raise statement.error("expected single output", offset)
    inputs = list(type.inputs)
    for field, count in counts.items():
        statement.types[field], inputs = inputs[:count], inputs[count:]
    statement.types[result_field(statement)] = list(type.results)


def real_type(type: Type) -> Type:
    """The tensor type with the parts of complex elements as elements."""
    if not isinstance(type, ShapedType) or not isinstance(type.element, ComplexType):
        return type
    part = type.element.element
    return (
        RankedTensor(type.shape, part, type.encoding)
        if isinstance(type, RankedTensor)
        else UnrankedTensor(part)
    )


# --- Operands -----------------------------------------------------------------------------


class AllOperands(Piece):
    """All operands, with commas between them. Only the check of the operation asks how many there are."""

    def parse(self, statement: Statement) -> None:
        statement.operands_place = statement.skip()
        names = statement.operand_list()
        fields = [f for f in statement.op_class.fields.values() if isinstance(f, OperandField)]
        for field in fields:
            is_last = field is fields[-1]
            count = len(names) if is_last or field.arity != ONE else 1
            statement.operand_names[field.attribute_name], names = names[:count], names[count:]

    def write(self, out: Template, signature: OpSignature, attributes: DictAttr) -> None:
        out.operands(range(len(signature.operand_types)))


class OperandsWithCommas(Piece):
    """Operands that each have a comma behind them, for an attribute follows."""

    def __init__(self, field: str) -> None:
        self.field = field

    def parse(self, statement: Statement) -> None:
        names = statement.operand_names[self.field] = []
        while (name := statement.accept_operand()) is not None:
            names.append(name)
            statement.expect(",")

    def write(self, out: Template, signature: OpSignature, attributes: DictAttr) -> None:
        field = signature.op_class.fields[self.field]
        assert isinstance(field, ValueField) and field.arity != ONE
        start, count = field.range_of(signature)
        out.operands(range(start, start + count))
        out.text(",")


# --- Attributes ---------------------------------------------------------------------------


def integer_attr(field: str, type: Type = I64) -> Attr:
    """An integer, without its type; one of type `i1` is `true` or `false`."""

    def parse(statement: Statement) -> Attribute:
        offset = statement.skip()
        found = statement.attribute(type)
        if not isinstance(found, IntegerAttr):
            raise statement.error("invalid kind of attribute specified", offset)
        return found

    def spell(attribute: Any, speller: Speller) -> str:
        return str(bool(attribute.value)).lower() if type is I1 else str(attribute.value)

    return Attr(field, parse, spell)


def enum_attr(field: str, cls: type[EnumAttr]) -> Attr:
    """One of a few words."""

    def parse(statement: Statement) -> Attribute:
        if not is_in_full(statement):
            return cls.read(statement)
        offset = statement.skip()
        found = statement.attribute()
        if not isinstance(found, cls):
            raise statement.error("invalid kind of attribute specified", offset)
        return found

    return Attr(field, parse, lambda attribute, speller: str(attribute.value))


def string_attr(field: str, name: str = "") -> Attr:
    """A string. `name` is the attribute's, if the field has another one."""

    def parse(statement: Statement) -> Attribute:
        offset = statement.skip()
        found = statement.attribute(NONE)
        if not isinstance(found, StringAttr):
            raise statement.error("invalid kind of attribute specified", offset)
        return StringAttr(found.value)

    piece = Attr(field, parse)
    piece.elides = (name or field,)
    return piece


def i64_list_attr(field: str) -> Attr:
    """`[1, 2]`: a list of 64-bit integers."""

    def parse(statement: Statement) -> Attribute:
        if not is_in_full(statement):
            return DenseArray(I64, integer_list(statement))
        offset = statement.skip()
        found = statement.attribute()
        if not isinstance(found, DenseArray):
            raise statement.error("invalid kind of attribute specified", offset)
        return found

    return Attr(field, parse, lambda attribute, speller: spell_list(attribute.values))


def is_in_full(statement: Statement) -> bool:
    """Whether an attribute stands here as it would anywhere, by itself or by an alias."""
    return statement.text.startswith("#", statement.skip())


def spell_list(values: Sequence[Any]) -> str:
    """`[1, 2]`."""
    return f"[{', '.join(map(str, values))}]"
