"""Format elements that operations of several dialects share.

- Symbol names as text: `@name`, or `@"any text"` if the name is not a bare identifier.
- Unit attributes, printed as their name if they are set.
- Constants: `{…} dense<…> : type`. A constant whose result does not have the type of the attribute `value` is
  in generic form.
- `[%i, 2, %j]`: lists of static and dynamic indices. The static indices are in an attribute, with `DYNAMIC`
  in place of each dynamic one, which is an operand.
- The types of operands and results, parsed with the error messages of LLVM 19.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sdyopt.mlir.asm.format.assembly_format import Assembly, assembly
from sdyopt.mlir.asm.format.format_elements import (
    Custom,
    FormatElement,
    TypeOf,
    custom,
    directive,
    visible_attributes,
)
from sdyopt.mlir.asm.format.print_template import Template
from sdyopt.mlir.asm.lexical import symbol_text
from sdyopt.mlir.asm.parser.generic_op import parse_properties
from sdyopt.mlir.asm.parser.op_parser import NO_FUNCTION_TYPE, OpAsmParser, OperandName
from sdyopt.mlir.asm.printer.attribute_printer import plain_type
from sdyopt.mlir.ir.attribute import UNIT, Attribute, DictAttr, StringAttr
from sdyopt.mlir.ir.builtin_attributes import DenseArray
from sdyopt.mlir.ir.op_fields import ONE, VARIADIC, AttrField, OperandField, ResultField, ValueField
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.symbols import SYM_NAME
from sdyopt.mlir.ir.types import (
    DYNAMIC,
    I64,
    NONE,
    FunctionType,
    IndexType,
    IntegerType,
    RankedTensor,
    ShapedType,
    Type,
)


@directive("SymbolName")
def symbol_name(field: str) -> Custom:
    """The operation's symbol name, `@name`."""

    def parse(op_parser: OpAsmParser) -> None:
        attr = op_parser.op_class.fields[field]
        assert isinstance(attr, AttrField)
        name = op_parser.accept_symbol() if attr.is_optional else op_parser.symbol()
        if name is not None:
            op_parser.attributes[SYM_NAME] = StringAttr(name)

    def write(out: Template, signature: OpSignature, attributes: DictAttr) -> None:
        name = signature.attributes.get(SYM_NAME)
        if isinstance(name, StringAttr):
            out.word(symbol_text(name.value))

    return Custom(parse, write, elides=[field])


@directive("UnitKeyword")
class UnitKeyword(FormatElement):
    """The name of a unit attribute's field as a keyword, present if the attribute is set."""

    def __init__(self, field: str) -> None:
        self.field = field
        self.elides = (field,)

    def parse(self, op_parser: OpAsmParser) -> None:
        if op_parser.accept(self.field):
            field = op_parser.op_class.fields[self.field]
            assert isinstance(field, AttrField)
            op_parser.attributes[field.name] = UNIT

    def write(self, out: Template, signature: OpSignature, attributes: DictAttr) -> None:
        field = signature.op_class.fields[self.field]
        assert isinstance(field, AttrField)
        if signature[field]:
            out.literal(self.field)


def constant_assembly() -> Assembly:
    """The format of an operation with an attribute `value` and one result of its type."""
    made = assembly("custom<constant>", constant=custom(_parse_constant, _write_constant))
    made.is_constant = True
    return made


def _parse_constant(op_parser: OpAsmParser) -> None:
    """Parses `{…} dense<…> : type`, or the generic form `() <{…}> {…} : () -> type`."""
    fields = op_parser.op_class.fields
    (result,) = (name for name, field in fields.items() if isinstance(field, ResultField))
    value_field = fields["value"]
    assert isinstance(value_field, AttrField)
    is_value = value_field.constraint.accepts
    if op_parser.accept("("):
        op_parser.expect(")")
        has_properties = parse_properties(op_parser)
        written_value = op_parser.attribute_dictionary().get("value")
        for token in (":", "(", ")", "->"):
            op_parser.expect(token)
        op_parser.types[result] = [op_parser.type()]
        if not has_properties and (written_value is None or not is_value(written_value)):
            op_parser.dictionary_attributes.pop("value", None)
        return
    op_parser.attribute_dictionary()
    op_parser.check_not_in_dictionary("value")
    start = op_parser.skip_trivia()
    value = op_parser.attribute()
    if not is_value(value):
        raise op_parser.error("invalid kind of attribute specified", start)
    op_parser.attributes["value"] = value
    op_parser.types[result] = [_type_of(value)]


def _write_constant(out: Template, signature: OpSignature, attributes: DictAttr) -> None:
    value = signature.attributes["value"]
    field = signature.op_class.fields["value"]
    assert isinstance(field, AttrField)
    if field.constraint.accepts(value) and _type_of(value) is signature.result_types[0]:
        out.attribute_dictionary(visible_attributes(signature, attributes, frozenset(["value"])))
        out.word(out.attribute_printer.attribute(value))
        return
    out.text(f"() <{out.attribute_printer.attribute(signature.attributes)}>")
    out.attribute_dictionary(attributes)
    out.text(" : " + out.attribute_printer.function_type((), signature.result_types))


def _type_of(value: Attribute) -> Type:
    """The type of a typed attribute, `none` if it has none."""
    type: Type | None = value.type  # type: ignore[attr-defined]  # by its kind
    return NONE if type is None else type


@directive("DynamicIndexList")
class DynamicIndexList(FormatElement):
    """A list of the static indices in the attribute `numbers` and the dynamic ones in an operand group.

    The type of the operands is the only one of their constraint, or another element prints their types.
    """

    def __init__(self, operands: str, numbers: str, brackets: str = "[]") -> None:
        self.operands = operands
        self.numbers = numbers
        self.opening, self.closing = brackets[0], brackets[1]
        self.elides = (numbers,)

    def parse(self, op_parser: OpAsmParser) -> None:
        names: list[OperandName] = []

        def parse_index() -> int:
            name = op_parser.accept_operand()
            if name is None:
                return self._static_index(op_parser)
            names.append(name)
            return DYNAMIC

        numbers = op_parser.comma_list(parse_index, self.opening, self.closing)
        field = op_parser.op_class.fields[self.numbers]
        assert isinstance(field, AttrField)
        op_parser.attributes[field.name] = DenseArray(I64, tuple(numbers))
        op_parser.operand_names[self.operands] = names
        group = op_parser.op_class.fields[self.operands]
        assert isinstance(group, OperandField)
        if group.constraint.only is not None:
            op_parser.types[self.operands] = [group.constraint.only] * len(names)

    def _static_index(self, op_parser: OpAsmParser) -> int:
        offset = op_parser.skip_trivia()
        value = op_parser.accept_integer()
        if value is None:
            raise op_parser.error("expected SSA value or integer", offset)
        return value

    def write(self, out: Template, signature: OpSignature, attributes: DictAttr) -> None:
        field, group = signature.op_class.fields[self.numbers], signature.op_class.fields[self.operands]
        assert isinstance(field, AttrField) and isinstance(group, OperandField)
        numbers = _numbers(signature, field)
        start, count = group.range_of(signature)
        operands = iter(range(start, start + count))
        out.word(self.opening)
        for position, number in enumerate(numbers):
            if position:
                out.text(", ")
            index = next(operands, None) if number == DYNAMIC else None
            if index is None:
                out.text(str(number))
            else:
                out.parts.append(index)
        out.text(self.closing)


def has_operand_per_dynamic_index(signature: OpSignature, operands: str, numbers: str) -> bool:
    """Whether there are as many operands as dynamic indices."""
    field, group = signature.op_class.fields[numbers], signature.op_class.fields[operands]
    assert isinstance(field, AttrField) and isinstance(group, OperandField)
    return group.range_of(signature)[1] == _numbers(signature, field).count(DYNAMIC)


def _numbers(signature: OpSignature, field: AttrField[Any]) -> Sequence[int]:
    attribute = signature.attributes.get(field.name) or field.default
    return attribute.values if isinstance(attribute, DenseArray) else ()


def _is_old(op_parser: OpAsmParser) -> bool:
    """Whether messages are those of LLVM 19, as those of the mesh dialect."""
    name: str = op_parser.op_class.dialect.name
    return name == "mesh"


def _wrong_kind(op_parser: OpAsmParser, expected: str, type: Type) -> str:
    message = "invalid kind of type specified"
    if not expected or _is_old(op_parser):
        return message
    if expected == "builtin.function":
        return NO_FUNCTION_TYPE(type=plain_type(type))
    return f"{message}: expected {expected}, but found '{plain_type(type)}'"


class _TypeOfClass(TypeOf):
    """The type of a field, or its types if it is variadic; each must be an instance of `cls`."""

    cls: type[Type]
    # The name of the type in messages.
    expected = ""

    def parse(self, op_parser: OpAsmParser) -> None:
        field = op_parser.op_class.fields[self.field]
        assert isinstance(field, ValueField)
        if field.arity == VARIADIC:
            types = op_parser.comma_list(lambda: self._parse_type(op_parser))
        else:
            types = [self._parse_type(op_parser)]
        for name in (self.field, *self.same):
            op_parser.types[name] = types

    def _parse_type(self, op_parser: OpAsmParser) -> Type:
        offset = op_parser.skip_trivia()
        type = op_parser.type()
        if not isinstance(type, self.cls):
            raise op_parser.error(_wrong_kind(op_parser, self.expected, type), offset)
        return type


@directive("ShapedType")
class ShapedTypeOf(_TypeOfClass):
    """A shaped type."""

    cls = ShapedType


@directive("RankedTensorType")
class RankedTensorTypeOf(_TypeOfClass):
    """A ranked tensor type."""

    cls = RankedTensor
    expected = "builtin.tensor"


@directive("IndexType")
class IndexTypeOf(_TypeOfClass):
    """The type `index`."""

    cls = IndexType
    expected = "builtin.index"


@directive("IntegerType")
class IntegerTypeOf(_TypeOfClass):
    """An integer type."""

    cls = IntegerType
    expected = "builtin.integer"


@directive("OperandsAndResultsType")
class OperandsAndResultsType(FormatElement):
    """`(operand types) -> result types`, of all operands and results."""

    def parse(self, op_parser: OpAsmParser) -> None:
        offset = op_parser.skip_trivia()
        type = op_parser.type()
        if not isinstance(type, FunctionType):
            raise op_parser.error(_wrong_kind(op_parser, "builtin.function", type), offset)
        fields = op_parser.op_class.fields.values()
        operands = [f for f in fields if isinstance(f, OperandField)]
        counts = [len(op_parser.operand_names.get(f.field_name, ())) for f in operands]
        if sum(counts) != len(type.inputs):
            message = (
                f"{sum(counts)} operands present, but expected {len(type.inputs)}"
                if _is_old(op_parser)
                else "number of operands and types do not match: "
                f"got {sum(counts)} operands and {len(type.inputs)} types"
            )
            raise op_parser.error(message, op_parser.offset)
        start = 0
        for field, count in zip(operands, counts, strict=True):
            op_parser.types[field.field_name] = list(type.inputs[start : start + count])
            start += count
        results = [f for f in fields if isinstance(f, ResultField)]
        if len(results) == 1:
            op_parser.types[results[0].field_name] = list(type.results)
        else:
            assert all(f.arity == ONE for f in results)
            for result, result_type in zip(results, type.results, strict=False):
                op_parser.types[result.field_name] = [result_type]

    def write(self, out: Template, signature: OpSignature, attributes: DictAttr) -> None:
        out.functional_type(signature.operand_types, signature.result_types)
