"""Declarative assembly formats of operations: sequences of elements that both parse and print.

    class SliceOp(Op):
        assembly = assembly(Operand("input"), AttrDict(), ":", TypeOf("input"))

A string is a literal. Spaces follow the rules of MLIR's declarative format and are not declared. Elements
write what depends only on the signature and the discardable attributes into a print template, which the
printer caches by these; regions, their arguments and SSA names are printed for each operation.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from sdyopt.base.releases import Behavior
from sdyopt.mlir.asm.format.print_template import OpAsmPrinter, Template
from sdyopt.mlir.asm.parser.op_parser import OpAsmParser
from sdyopt.mlir.asm.printer.attribute_printer import AttributePrinter
from sdyopt.mlir.ir.attribute import Attribute, DictAttr
from sdyopt.mlir.ir.constraints import ONE_BLOCK
from sdyopt.mlir.ir.op_fields import (
    ONE,
    OPERAND_SEGMENTS,
    OPTIONAL,
    RESULT_SEGMENTS,
    VARIADIC,
    AttrField,
    OperandField,
    RegionField,
    ResultField,
    ValueField,
    declared_fields,
)
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.types import FunctionType, Type


class FormatElement:
    """An element of an assembly format.

    `elides` names the attributes that it prints, so that the attribute dictionary does not.
    """

    elides: tuple[str, ...] = ()

    def parse(self, op_parser: OpAsmParser) -> None:
        """Parses the element into `op_parser`; raises DiagnosticError."""
        raise NotImplementedError

    def write(self, out: Template, signature: OpSignature, attributes: DictAttr) -> None:
        """Adds the element to the print template of a signature and discardable attributes."""
        raise NotImplementedError


class Assembly:
    """The format of the text after an operation's name.

    Releases without the behaviour `since`, if there is one, have the format `before`. If the format
    `is_constant`, the result of the operation has the type of the attribute `value`.
    """

    is_constant = False

    def __init__(
        self, elements: Sequence[FormatElement], since: Behavior | None = None, before: Assembly | None = None
    ) -> None:
        self.elements = tuple(elements)
        self.elided = frozenset(name for element in elements for name in element.elides)
        self._since = since
        self._before = before

    def _active(self) -> Assembly:
        return self if self._before is None or self._since is None or self._since.active else self._before

    def parse(self, op_parser: OpAsmParser) -> None:
        for element in self._active().elements:
            element.parse(op_parser)

    def template(
        self, signature: OpSignature, attributes: DictAttr, attribute_printer: AttributePrinter
    ) -> Template:
        """The print template of the text after the operation's name."""
        active = self._active()
        out = Template(attribute_printer, active.elided)
        for element in active.elements:
            element.write(out, signature, attributes)
        return out


def assembly(
    *elements: FormatElement | str, since: Behavior | None = None, before: Assembly | None = None
) -> Assembly:
    """The format with these elements; strings are literals."""
    return Assembly(_elements(elements), since, before)


def _elements(elements: Sequence[FormatElement | str]) -> list[FormatElement]:
    return [Literal(element) if isinstance(element, str) else element for element in elements]


class Literal(FormatElement):
    """Punctuation or a keyword."""

    def __init__(self, text: str) -> None:
        self.text = text

    def parse(self, op_parser: OpAsmParser) -> None:
        op_parser.expect(self.text)

    def write(self, out: Template, signature: OpSignature, attributes: DictAttr) -> None:
        out.literal(self.text)


class OptionalGroup(FormatElement):
    """An optional group of elements.

    It is parsed if its first element, a literal or an operand, is next. It is printed if the field `anchor`
    is an attribute with a value other than its default, or has operands or results. Otherwise the elements of
    `otherwise` are parsed or printed.
    """

    def __init__(
        self, *elements: FormatElement | str, anchor: str, otherwise: Sequence[FormatElement | str] = ()
    ) -> None:
        self.elements = _elements(elements)
        self.otherwise = _elements(otherwise)
        self.anchor = anchor
        self.elides = tuple(n for element in [*self.elements, *self.otherwise] for n in element.elides)

    def parse(self, op_parser: OpAsmParser) -> None:
        first = self.elements[0]
        if isinstance(first, Literal):
            is_next = op_parser.looking_at(first.text)
        else:
            is_next = op_parser.looking_at_operand()
        for element in self.elements if is_next else self.otherwise:
            element.parse(op_parser)

    def write(self, out: Template, signature: OpSignature, attributes: DictAttr) -> None:
        for element in self.elements if self._is_present(signature) else self.otherwise:
            element.write(out, signature, attributes)

    def _is_present(self, signature: OpSignature) -> bool:
        field = signature.op_class.fields[self.anchor]
        if isinstance(field, AttrField):
            value = signature.attributes.get(field.name)
            return value is not None and value is not field.default
        assert isinstance(field, ValueField)
        return field.range_of(signature)[1] > 0


class Operand(FormatElement):
    """The operands of a field: one, at most one if it is optional, or a list if it is variadic."""

    def __init__(self, field: str) -> None:
        self.field = field

    def parse(self, op_parser: OpAsmParser) -> None:
        field = op_parser.op_class.fields[self.field]
        assert isinstance(field, OperandField)
        op_parser.operand_group_offsets[self.field] = op_parser.skip_trivia()
        if field.arity == ONE:
            names = [op_parser.operand()]
        elif field.arity == OPTIONAL:
            name = op_parser.accept_operand()
            names = [] if name is None else [name]
        else:
            names = op_parser.operand_list()
        op_parser.operand_names[self.field] = names

    def write(self, out: Template, signature: OpSignature, attributes: DictAttr) -> None:
        field = signature.op_class.fields[self.field]
        assert isinstance(field, OperandField)
        start, count = field.range_of(signature)
        if count or field.arity == VARIADIC:
            out.operands(range(start, start + count))


class TypeOf(FormatElement):
    """The type of a field, or its comma-separated types if it is variadic.

    `same` names fields with the same type or types, which are not printed.
    """

    def __init__(self, field: str, same: Sequence[str] = ()) -> None:
        self.field = field
        self.same = tuple(same)

    def parse(self, op_parser: OpAsmParser) -> None:
        field = op_parser.op_class.fields[self.field]
        assert isinstance(field, ValueField)
        is_list = field.arity == VARIADIC
        types = op_parser.comma_list(op_parser.type) if is_list else [op_parser.type()]
        for name in (self.field, *self.same):
            op_parser.types[name] = types

    def write(self, out: Template, signature: OpSignature, attributes: DictAttr) -> None:
        field = signature.op_class.fields[self.field]
        assert isinstance(field, ValueField)
        start, count = field.range_of(signature)
        out.types(field.types_of(signature)[start : start + count])


class FunctionalType(FormatElement):
    """`(operand types) -> result types` of all operands and results, or of the given fields."""

    def __init__(self, operands: str | None = None, results: str | None = None) -> None:
        self.operands = operands
        self.results = results

    def parse(self, op_parser: OpAsmParser) -> None:
        type = op_parser.function_type()
        if self.operands is None:
            names = [name for names in op_parser.operand_names.values() for name in names]
            op_parser.check_operand_count(names, type.inputs, op_parser.operand_count_offset)
        _assign_types(op_parser, OperandField, self.operands, type.inputs)
        _assign_types(op_parser, ResultField, self.results, type.results)

    def write(self, out: Template, signature: OpSignature, attributes: DictAttr) -> None:
        out.functional_type(
            _field_types(signature, self.operands, signature.operand_types),
            _field_types(signature, self.results, signature.result_types),
        )


def _field_types(
    signature: OpSignature, field_name: str | None, all_types: tuple[Type, ...]
) -> tuple[Type, ...]:
    if field_name is None:
        return all_types
    field = signature.op_class.fields[field_name]
    assert isinstance(field, ValueField)
    start, count = field.range_of(signature)
    return field.types_of(signature)[start : start + count]


def _assign_types(
    op_parser: OpAsmParser, kind: type[ValueField[Any, Any]], field_name: str | None, types: Sequence[Type]
) -> None:
    """Assigns types to the operand or result fields in order, one per value; all to `field_name` if given."""
    if field_name is not None:
        op_parser.types[field_name] = list(types)
        return
    declared = declared_fields(op_parser.op_class)
    fields: Sequence[ValueField[Any, Any]] = declared.operands if kind is OperandField else declared.results
    sizes = [1 if f.arity == ONE else len(op_parser.operand_names.get(f.field_name, ())) for f in fields]
    if kind is ResultField:
        rest = len(types) - sum(f.arity == ONE for f in fields)
        sizes = [1 if f.arity == ONE else rest for f in fields]
    position = 0
    for index, (field, size) in enumerate(zip(fields, sizes, strict=True)):
        end = len(types) if index == len(fields) - 1 else position + size
        op_parser.types[field.field_name] = list(types[position:end])
        position = end


class SameType(FormatElement):
    """The common type of all operands and the result, or a functional type if their types differ."""

    def parse(self, op_parser: OpAsmParser) -> None:
        offset = op_parser.skip_trivia()
        type = op_parser.type()
        fields = [f for f in op_parser.op_class.fields.values() if isinstance(f, ValueField)]
        if not isinstance(type, FunctionType):
            for field in fields:
                op_parser.types[field.field_name] = [type]
            return
        operands = [f for f in fields if isinstance(f, OperandField)]
        if len(type.inputs) != len(operands):
            raise op_parser.wrong_token_error(
                f"expected {len(operands)} operand types but had {len(type.inputs)}"
            )
        if len(type.results) != 1:
            raise op_parser.error("expected single output", offset)
        for field, field_type in zip(fields, (*type.inputs, *type.results), strict=True):
            op_parser.types[field.field_name] = [field_type]

    def write(self, out: Template, signature: OpSignature, attributes: DictAttr) -> None:
        types = (*signature.operand_types, *signature.result_types)
        if all(type is types[0] for type in types):
            out.types(types[:1])
        else:
            out.functional_type(signature.operand_types, signature.result_types)


class AttrDict(FormatElement):
    """The discardable attributes, and the inherent ones that no other element prints.

    Inherent attributes with their default value and segment sizes are not printed.
    """

    def __init__(self, with_keyword: bool = False) -> None:
        self.with_keyword = with_keyword

    def parse(self, op_parser: OpAsmParser) -> None:
        offset = op_parser.skip_trivia()
        if self.with_keyword:
            attributes = op_parser.attribute_dictionary_with_keyword()
        else:
            attributes = op_parser.attribute_dictionary()
        op_parser.check_attributes(attributes, offset)

    def write(self, out: Template, signature: OpSignature, attributes: DictAttr) -> None:
        out.attribute_dictionary(visible_attributes(signature, attributes, out.elided), self.with_keyword)


def visible_attributes(signature: OpSignature, attributes: DictAttr, elided: frozenset[str]) -> DictAttr:
    """The inherent and discardable attributes, without elided ones, default values and segment sizes."""
    if not signature.attributes.entries:
        return attributes if not elided else attributes.without(*elided)
    defaults = {field.name: field.default for field in declared_fields(signature.op_class).attributes}
    entries = [
        (name, value)
        for name, value in signature.attributes.entries
        if name not in elided and defaults.get(name) is not value and name not in SEGMENT_NAMES
    ]
    entries += [entry for entry in attributes.entries if entry[0] not in elided]
    return DictAttr(tuple(sorted(entries, key=lambda entry: entry[0])))


SEGMENT_NAMES = frozenset([OPERAND_SEGMENTS, RESULT_SEGMENTS])


class Attr(FormatElement):
    """An inherent attribute.

    `parse(op_parser)` returns the attribute, None if it is missing; `print(attribute, attribute_printer)`
    returns its text. By default, the attribute is parsed and printed in full. A missing one is printed as its
    default.
    """

    def __init__(
        self,
        field: str,
        parse: Callable[[OpAsmParser], Attribute | None] | None = None,
        print: Callable[[Any, AttributePrinter], str] | None = None,
    ) -> None:
        self.field = field
        self._parse = parse or (lambda op_parser: op_parser.attribute())
        self._print = print or (lambda attribute, attribute_printer: attribute_printer.attribute(attribute))
        self.elides = (field,)

    def parse(self, op_parser: OpAsmParser) -> None:
        field = op_parser.op_class.fields[self.field]
        assert isinstance(field, AttrField)
        attribute = self._parse(op_parser)
        if attribute is not None:
            op_parser.attributes[field.name] = attribute

    def write(self, out: Template, signature: OpSignature, attributes: DictAttr) -> None:
        field = signature.op_class.fields[self.field]
        assert isinstance(field, AttrField)
        value = signature.attributes.get(field.name)
        if value is None:
            value = field.default
        out.word("" if value is None else self._print(value, out.attribute_printer))


class RegionElement(FormatElement):
    """A region in braces. If its constraint requires a single block, an empty region gets one."""

    def __init__(self, field: str) -> None:
        self.field = field

    def parse(self, op_parser: OpAsmParser) -> None:
        field = op_parser.op_class.fields[self.field]
        region = op_parser.region()
        assert isinstance(field, RegionField)
        if field.constraint is ONE_BLOCK and region.is_empty:
            region.add_block()

    def write(self, out: Template, signature: OpSignature, attributes: DictAttr) -> None:
        field = signature.op_class.fields[self.field]
        assert isinstance(field, RegionField)
        out.region(field.index)


class Custom(FormatElement):
    """An element with its own parse and print functions (MLIR's custom directive).

    It prints with either `write(out, signature, attributes)`, which adds to the print template, or
    `print(op, printer)`, which is called for each operation and also writes the space before its text.
    """

    def __init__(
        self,
        parse: Callable[[OpAsmParser], None],
        write: Callable[[Template, OpSignature, DictAttr], None] | None = None,
        print: Callable[[Any, OpAsmPrinter], None] | None = None,
        elides: Sequence[str] = (),
    ) -> None:
        assert (write is None) != (print is None)
        self._parse = parse
        self._write = write
        self._print = print
        self.elides = tuple(elides)

    def parse(self, op_parser: OpAsmParser) -> None:
        self._parse(op_parser)

    def write(self, out: Template, signature: OpSignature, attributes: DictAttr) -> None:
        if self._write is not None:
            self._write(out, signature, attributes)
        else:
            assert self._print is not None
            out.call(self._print)


__all__ = [
    "Assembly",
    "Attr",
    "AttrDict",
    "Custom",
    "FormatElement",
    "FunctionalType",
    "Literal",
    "Operand",
    "OptionalGroup",
    "RegionElement",
    "SameType",
    "TypeOf",
    "assembly",
    "visible_attributes",
]
