"""Custom assembly directives shared by stablehlo and chlo operations."""

from __future__ import annotations

from collections.abc import Iterable

from sdyopt.base.diagnostics.diagnostic import DiagnosticError
from sdyopt.mlir.asm.format.assembly_format import Attr, FormatElement, TypeOf
from sdyopt.mlir.asm.format.print_template import Template
from sdyopt.mlir.asm.parser.op_parser import OpAsmParser
from sdyopt.mlir.asm.printer.attribute_printer import AttributePrinter
from sdyopt.mlir.dialects.stablehlo.attribute_parsing import is_full_attribute, parse_attribute_of_class
from sdyopt.mlir.dialects.stablehlo.custom_struct import parse_integer_list
from sdyopt.mlir.dialects.stablehlo.diagnostic_text import quoted
from sdyopt.mlir.dialects.stablehlo.enums import EnumAttr
from sdyopt.mlir.ir.attribute import Attribute, DictAttr, StringAttr
from sdyopt.mlir.ir.builtin_attributes import DenseArray, IntegerAttr
from sdyopt.mlir.ir.op_fields import ONE, OperandField, ResultField, ValueField
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.types import (
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

# --- Types --------------------------------------------------------------------------------


class SameOperandsAndResultType(FormatElement):
    """One type if all operands and the result have it, else a function type."""

    def parse(self, op_parser: OpAsmParser) -> None:
        offset = op_parser.skip_trivia()
        type = op_parser.type()
        counts = operand_counts(op_parser)
        if isinstance(type, FunctionType):
            assign_function_type(op_parser, type, offset)
            return
        for field, count in counts.items():
            op_parser.types[field] = [type] * count
        op_parser.types[result_field(op_parser)] = [type]

    def write(self, out: Template, signature: OpSignature, attributes: DictAttr) -> None:
        (result,) = signature.result_types
        if all(type is result for type in signature.operand_types):
            out.types([result])
        else:
            out.functional_type(signature.operand_types, signature.result_types)


class TensorTypeOf(TypeOf):
    """The type of a field, which must be a ranked tensor."""

    def parse(self, op_parser: OpAsmParser) -> None:
        offset = op_parser.skip_trivia()
        super().parse(op_parser)
        (type,) = op_parser.types[self.field]
        if not isinstance(type, RankedTensor):
            raise op_parser.error(
                f"invalid kind of type specified: expected builtin.tensor, but found {quoted(type)}",
                offset,
            )


class ComplexOpType(FormatElement):
    """The complex result type if the operand types follow from it, else a function type."""

    def parse(self, op_parser: OpAsmParser) -> None:
        offset = op_parser.skip_trivia()
        type = op_parser.type()
        if isinstance(type, FunctionType):
            assign_function_type(op_parser, type, offset)
            return
        if not isinstance(type, ShapedType) or not isinstance(type.element, ComplexType):
            raise op_parser.error("expected tensor with complex element type", offset)
        for field in operand_counts(op_parser):
            op_parser.types[field] = [real_type(type)]
        op_parser.types[result_field(op_parser)] = [type]

    def write(self, out: Template, signature: OpSignature, attributes: DictAttr) -> None:
        (result,) = signature.result_types
        if all(type is real_type(result) for type in signature.operand_types):
            out.types([result])
        else:
            out.functional_type(signature.operand_types, signature.result_types)


class SelectOpType(FormatElement):
    """The predicate and result types if both other operands have the result type, else a function type."""

    def parse(self, op_parser: OpAsmParser) -> None:
        offset = op_parser.skip_trivia()
        types = op_parser.comma_list(op_parser.type)
        if len(types) == 1 and isinstance(types[0], FunctionType):
            assign_function_type(op_parser, types[0], offset)
            return
        if len(types) != 2:
            raise op_parser.error("expected functional type or list of two types", offset)
        predicate, *values = operand_counts(op_parser)
        op_parser.types[predicate] = types[:1]
        for field in (*values, result_field(op_parser)):
            op_parser.types[field] = types[1:]

    def write(self, out: Template, signature: OpSignature, attributes: DictAttr) -> None:
        predicate, on_true, on_false = signature.operand_types
        (result,) = signature.result_types
        if on_true is result and on_false is result:
            out.types([predicate, result])
        else:
            out.functional_type(signature.operand_types, signature.result_types)


class PairwiseOpType(FormatElement):
    """The operand types; the result types are the same."""

    def parse(self, op_parser: OpAsmParser) -> None:
        offset = op_parser.skip_trivia()
        try:
            types = op_parser.comma_list(op_parser.type)
        except DiagnosticError as error:
            raise error.then(op_parser.error("expected type list", offset)) from None
        (operands,) = operand_counts(op_parser)
        op_parser.types[operands] = op_parser.types[result_field(op_parser)] = types

    def write(self, out: Template, signature: OpSignature, attributes: DictAttr) -> None:
        out.types(signature.operand_types)


class TupleOpType(FormatElement):
    """The tuple type; the operand types are its element types."""

    def parse(self, op_parser: OpAsmParser) -> None:
        offset = op_parser.skip_trivia()
        type = op_parser.type()
        if not isinstance(type, TupleType):
            raise op_parser.error("expected tuple type", offset)
        (operands,) = operand_counts(op_parser)
        op_parser.check_operand_count(
            op_parser.operand_names[operands], type.types, op_parser.operand_count_offset
        )
        op_parser.types[operands] = list(type.types)
        op_parser.types[result_field(op_parser)] = [type]

    def write(self, out: Template, signature: OpSignature, attributes: DictAttr) -> None:
        out.types(signature.result_types)


class AllResultTypes(FormatElement):
    """The types of all results. Does not check their number."""

    def parse(self, op_parser: OpAsmParser) -> None:
        op_parser.result_types = op_parser.comma_list(op_parser.type)

    def write(self, out: Template, signature: OpSignature, attributes: DictAttr) -> None:
        out.types(signature.result_types)


def operand_counts(op_parser: OpAsmParser) -> dict[str, int]:
    """The number of operands parsed for each operand field."""
    return {
        name: len(op_parser.operand_names.get(name, ()))
        for name, field in op_parser.op_class.fields.items()
        if isinstance(field, OperandField)
    }


def result_field(op_parser: OpAsmParser) -> str:
    """The name of the single result field."""
    (name,) = (n for n, field in op_parser.op_class.fields.items() if isinstance(field, ResultField))
    return name


def assign_function_type(op_parser: OpAsmParser, type: FunctionType, offset: int) -> None:
    """Assigns the types of a function type to the operand fields and the result field.

    Raises a DiagnosticError at `offset` if the number of inputs is not that of the parsed operands, or the
    number of results is not 1.
    """
    counts = operand_counts(op_parser)
    total = sum(counts.values())
    if total != len(type.inputs):
        raise op_parser.error(f"{total} operands present, but expected {len(type.inputs)}", offset)
    if len(type.results) != 1:
        raise op_parser.error("expected single output", offset)
    inputs = list(type.inputs)
    for field, count in counts.items():
        op_parser.types[field], inputs = inputs[:count], inputs[count:]
    op_parser.types[result_field(op_parser)] = list(type.results)


def real_type(type: Type) -> Type:
    """A tensor type with its complex element type replaced by the type of its parts, else the type itself."""
    if not isinstance(type, ShapedType) or not isinstance(type.element, ComplexType):
        return type
    real = type.element.element
    return (
        RankedTensor(type.shape, real, type.encoding)
        if isinstance(type, RankedTensor)
        else UnrankedTensor(real)
    )


# --- Operands -----------------------------------------------------------------------------


class AllOperands(FormatElement):
    """All operands, separated by commas. Does not check their number."""

    def parse(self, op_parser: OpAsmParser) -> None:
        op_parser.operand_count_offset = op_parser.skip_trivia()
        names = op_parser.operand_list()
        fields = [f for f in op_parser.op_class.fields.values() if isinstance(f, OperandField)]
        for field in fields:
            is_last = field is fields[-1]
            count = len(names) if is_last or field.arity != ONE else 1
            op_parser.operand_names[field.field_name], names = names[:count], names[count:]

    def write(self, out: Template, signature: OpSignature, attributes: DictAttr) -> None:
        out.operands(range(len(signature.operand_types)))


class OperandsWithCommas(FormatElement):
    """The operands of a variadic field, each followed by a comma, because a keyword follows the operands.

    Without operands the comma is printed too, as C++ does; it may be missing, and C++ rejects it.
    """

    def __init__(self, field: str) -> None:
        self.field = field

    def parse(self, op_parser: OpAsmParser) -> None:
        names = op_parser.operand_names[self.field] = []
        while (name := op_parser.accept_operand()) is not None:
            names.append(name)
            op_parser.expect(",")
        if not names:
            op_parser.accept(",")

    def write(self, out: Template, signature: OpSignature, attributes: DictAttr) -> None:
        field = signature.op_class.fields[self.field]
        assert isinstance(field, ValueField) and field.arity != ONE
        start, count = field.range_of(signature)
        out.operands(range(start, start + count))
        out.text(",")


# --- Attributes ---------------------------------------------------------------------------


def integer_attr(field: str, type: Type = I64) -> Attr:
    """An integer attribute, without its type; `i1` values are printed as `true` or `false`."""

    def parse(op_parser: OpAsmParser) -> Attribute:
        return parse_attribute_of_class(op_parser, IntegerAttr, type)

    def print(attribute: IntegerAttr, attribute_printer: AttributePrinter) -> str:
        return str(bool(attribute.value)).lower() if type is I1 else str(attribute.value)

    return Attr(field, parse, print)


def enum_attr(field: str, cls: type[EnumAttr]) -> Attr:
    """An enum attribute, printed as its keyword; parsing also accepts a full attribute."""

    def parse(op_parser: OpAsmParser) -> Attribute:
        if is_full_attribute(op_parser):
            return parse_attribute_of_class(op_parser, cls)
        return cls.parse_value(op_parser)

    return Attr(field, parse, lambda attribute, attribute_printer: str(attribute.value))


def string_attr(field: str, name: str = "") -> Attr:
    """A string attribute. `name` is the attribute name if it differs from the field name."""

    def parse(op_parser: OpAsmParser) -> Attribute:
        return StringAttr(parse_attribute_of_class(op_parser, StringAttr, NONE).value)

    element = Attr(field, parse)
    element.elides = (name or field,)
    return element


def i64_list_attr(field: str) -> Attr:
    """A dense array of `i64`, printed as `[1, 2]`; parsing also accepts an alias."""

    def parse(op_parser: OpAsmParser) -> Attribute:
        if is_full_attribute(op_parser):
            return parse_attribute_of_class(op_parser, DenseArray)
        return DenseArray(I64, parse_integer_list(op_parser))

    return Attr(field, parse, lambda attribute, attribute_printer: print_list(attribute.values))


def print_list(values: Iterable[object]) -> str:
    """The text of a list, such as `[1, 2]`."""
    return f"[{', '.join(map(str, values))}]"
