"""The elements of assembly formats: each parses and prints a part of the text of an operation.

Elements write what depends only on the signature and the discardable attributes into a print template, which
the printer caches by these; regions, their arguments and SSA names are printed for each operation.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from sdyopt.mlir.asm.format.attribute_format import format_of, has_format, parse_nested
from sdyopt.mlir.asm.format.print_template import OpAsmPrinter, Template
from sdyopt.mlir.asm.lexical import symbol_text
from sdyopt.mlir.asm.parser.op_parser import OpAsmParser
from sdyopt.mlir.asm.printer.attribute_printer import AttributePrinter
from sdyopt.mlir.ir.attribute import Attribute, DictAttr, SymbolRef
from sdyopt.mlir.ir.block import Region
from sdyopt.mlir.ir.builtin_attributes import DenseArray
from sdyopt.mlir.ir.op_fields import (
    ONE,
    OPERAND_SEGMENTS,
    OPTIONAL,
    RESULT_SEGMENTS,
    VARIADIC,
    AttrField,
    Field,
    OperandField,
    RegionField,
    ResultField,
    SuccessorField,
    ValueField,
    declared_fields,
)
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.traits import FLAT_SYMBOL_ATTR, I32_ARRAY, I64_ARRAY, ONE_BLOCK, AttrConstraint
from sdyopt.mlir.ir.types import I32, I64, NONE, IntegerType, Type


class FormatElement:
    """An element of an assembly format.

    `elides` names the fields of the attributes that it prints, so that the attribute dictionary does not.
    """

    elides: tuple[str, ...] = ()

    def parse(self, op_parser: OpAsmParser) -> None:
        """Parses the element into `op_parser`; raises DiagnosticError."""
        raise NotImplementedError

    def write(self, out: Template, signature: OpSignature, attributes: DictAttr) -> None:
        """Adds the element to the print template of a signature and discardable attributes."""
        raise NotImplementedError


# Makes an element from the names of fields.
Directive = Callable[..., FormatElement]


D = TypeVar("D", bound=Directive)
registered: dict[str, Directive] = {}


def directive(name: str) -> Callable[[D], D]:
    """Decorator: registers `custom<name>`, a function of the names of fields, for all dialects."""

    def register(function: D) -> D:
        assert name not in registered, f"two directives {name}"
        registered[name] = function
        return function

    return register


class Literal(FormatElement):
    """Punctuation or a keyword; as in ODS, a space, or nothing, stands for the space to print."""

    def __init__(self, text: str) -> None:
        self.text = text

    def parse(self, op_parser: OpAsmParser) -> None:
        if self.text.strip():
            op_parser.expect(self.text)

    def write(self, out: Template, signature: OpSignature, attributes: DictAttr) -> None:
        out.literal(self.text)


class OptionalGroup(FormatElement):
    """An optional group of elements.

    It is parsed if its first element, a literal, an operand, a region or a successor, is next. It is printed
    if a field of the `anchor` is an attribute with a value other than its default, has operands, results or
    successors, or is a region with blocks. Otherwise the elements of `otherwise` are parsed or printed.
    """

    def __init__(
        self, elements: Sequence[FormatElement], otherwise: Sequence[FormatElement], anchor: Sequence[str]
    ) -> None:
        self.elements = elements
        self.otherwise = otherwise
        self.anchor = anchor
        self.elides = tuple(n for element in [*elements, *otherwise] for n in element.elides)

    def parse(self, op_parser: OpAsmParser) -> None:
        first = self.elements[0]
        if isinstance(first, Literal):
            is_next = op_parser.looking_at(first.text)
        elif isinstance(first, RegionElement | SuccessorElement):
            is_next = op_parser.looking_at("{" if isinstance(first, RegionElement) else "^")
        else:
            is_next = op_parser.looking_at_operand()
        for element in self.elements if is_next else self.otherwise:
            element.parse(op_parser)
        if not is_next:
            # A region that is not written is empty.
            op_parser.regions += [Region() for part in self.elements if isinstance(part, RegionElement)]

    def write(self, out: Template, signature: OpSignature, attributes: DictAttr) -> None:
        fields = [signature.op_class.fields[name] for name in self.anchor]
        if any(isinstance(field, RegionField | SuccessorField) for field in fields):
            out.choice(
                lambda op: any(_has_blocks(op, field) for field in fields),
                lambda template: _write_all(self.elements, template, signature, attributes),
                lambda template: _write_all(self.otherwise, template, signature, attributes),
            )
            return
        is_present = any(self._is_present(signature, name) for name in self.anchor)
        _write_all(self.elements if is_present else self.otherwise, out, signature, attributes)

    def _is_present(self, signature: OpSignature, name: str) -> bool:
        field = signature.op_class.fields[name]
        if isinstance(field, AttrField):
            value = signature.attributes.get(field.name)
            return value is not None and value is not field.default
        assert isinstance(field, ValueField)
        return field.range_of(signature)[1] > 0


def _write_all(
    elements: Sequence[FormatElement], out: Template, signature: OpSignature, attributes: DictAttr
) -> None:
    for element in elements:
        element.write(out, signature, attributes)


def _has_blocks(op: Op, field: Field) -> bool:
    """Whether an operation has a successor of a field, or blocks in a region of it."""
    if isinstance(field, SuccessorField):
        return len(op.successors) > field.index
    assert isinstance(field, RegionField)
    end = None if field.is_variadic else field.index + 1
    return any(region.blocks for region in op.regions[field.index : end])


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
        if field.constraint.only is not None:
            op_parser.types[self.field] = [field.constraint.only] * len(names)

    def write(self, out: Template, signature: OpSignature, attributes: DictAttr) -> None:
        field = signature.op_class.fields[self.field]
        assert isinstance(field, OperandField)
        start, count = field.range_of(signature)
        if count or field.arity == VARIADIC:
            out.operands(range(start, start + count))


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


class TypeOf(FormatElement):
    """The type of a field, or its comma-separated types if it is variadic.

    `same` names fields with the same type or types, which are not printed.
    """

    def __init__(self, field: str, *same: str) -> None:
        self.field = field
        self.same = same

    @property
    def typed_fields(self) -> tuple[str, ...]:
        """The fields whose types follow from the element."""
        return (self.field, *self.same)

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


class AllTypes(FormatElement):
    """The comma-separated types of all operands, or of all results."""

    def __init__(self, of_results: bool) -> None:
        self.of_results = of_results

    def parse(self, op_parser: OpAsmParser) -> None:
        kind = ResultField if self.of_results else OperandField
        _assign_types(op_parser, kind, None, op_parser.comma_list(op_parser.type))

    def write(self, out: Template, signature: OpSignature, attributes: DictAttr) -> None:
        out.types(signature.result_types if self.of_results else signature.operand_types)


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
    hidden = elided | SEGMENT_NAMES
    inherent = [entry for entry in signature.attributes.entries if entry[0] not in hidden]
    if not inherent:
        return attributes.without(*elided) if elided and attributes.entries else attributes
    defaults = {field.name: field.default for field in declared_fields(signature.op_class).attributes}
    entries = [entry for entry in inherent if defaults.get(entry[0]) is not entry[1]]
    entries += [entry for entry in attributes.entries if entry[0] not in elided]
    return DictAttr(tuple(sorted(entries, key=lambda entry: entry[0])))


SEGMENT_NAMES = frozenset([OPERAND_SEGMENTS, RESULT_SEGMENTS])


class Attr(FormatElement):
    """An inherent attribute.

    `parse(op_parser)` returns the attribute, None if it is missing; `print(attribute, attribute_printer)`
    returns its text. By default, these are declared for the field's constraint; without them, an attribute of
    a class with a declared format has no dialect and mnemonic, and another is parsed and printed in full.
    A missing one is printed as its default.
    """

    def __init__(
        self,
        field: str,
        parse: Callable[[OpAsmParser], Attribute | None] | None = None,
        print: Callable[[Any, AttributePrinter], str] | None = None,
    ) -> None:
        self.field = field
        self._parse = parse
        self._print = print
        self.elides = (field,)

    def parse(self, op_parser: OpAsmParser) -> None:
        field = op_parser.op_class.fields[self.field]
        assert isinstance(field, AttrField)
        attribute = (self._parse or _syntax(field)[0])(op_parser)
        if attribute is not None:
            op_parser.attributes[field.name] = attribute

    def write(self, out: Template, signature: OpSignature, attributes: DictAttr) -> None:
        field = signature.op_class.fields[self.field]
        assert isinstance(field, AttrField)
        value = signature.attributes.get(field.name)
        if value is None:
            value = field.default
        print = self._print or _syntax(field)[1]
        out.word("" if value is None else print(value, out.attribute_printer))


_Parse = Callable[[OpAsmParser], Attribute | None]
_Print = Callable[[Any, AttributePrinter], str]
_Syntax = tuple[_Parse, _Print]


def _parse_symbol(op_parser: OpAsmParser) -> Attribute:
    offset = op_parser.skip_trivia()
    reference = op_parser.attribute(NONE)
    if not isinstance(reference, SymbolRef) or reference.nested:
        raise op_parser.error("invalid kind of attribute specified", offset)
    return reference


def _integers(element: IntegerType) -> _Syntax:
    """The syntax `[1, 2]` of a dense array."""

    def parse(op_parser: OpAsmParser) -> Attribute:
        return DenseArray(
            element, tuple(op_parser.comma_list(lambda: op_parser.integer(element.width), "[", "]"))
        )

    return parse, lambda array, attribute_printer: f"[{', '.join(map(str, array.values))}]"


_syntaxes: dict[AttrConstraint[Any], _Syntax] = {
    FLAT_SYMBOL_ATTR: (_parse_symbol, lambda reference, attribute_printer: symbol_text(reference.root)),
    I32_ARRAY: _integers(I32),
    I64_ARRAY: _integers(I64),
}


def declare_syntax(constraint: AttrConstraint[Any], parse: _Parse, print: _Print) -> None:
    """Declares how `$field` is parsed and printed if the field is an attribute with this constraint."""
    _syntaxes[constraint] = parse, print


def _syntax(field: AttrField[Any]) -> _Syntax:
    syntax = _syntaxes.get(field.constraint)
    if syntax is not None:
        return syntax
    type = field.constraint.type
    if type is not None:
        return (
            lambda op_parser: _parse_of_type(op_parser, field.constraint, type),
            lambda attribute, attribute_printer: _without_type(attribute, type, attribute_printer),
        )
    cls = field.constraint.cls
    if cls is None or not has_format(cls):
        return OpAsmParser.attribute, lambda attribute, attribute_printer: attribute_printer.attribute(
            attribute
        )
    text = format_of(cls).text
    return lambda op_parser: parse_nested(op_parser, cls), lambda attribute, attribute_printer: text(
        attribute
    )


def _parse_of_type(op_parser: OpAsmParser, constraint: AttrConstraint[Any], type: Type) -> Attribute:
    offset = op_parser.skip_trivia()
    attribute = op_parser.attribute(type)
    if not constraint.has_storage_class(attribute):
        raise op_parser.error("invalid kind of attribute specified", offset)
    return attribute


def _without_type(attribute: Attribute, type: Type, attribute_printer: AttributePrinter) -> str:
    return attribute_printer.attribute(attribute).removesuffix(f" : {attribute_printer.type(type)}")


class RegionElement(FormatElement):
    """A region in braces, or a comma-separated list of all others if it is variadic.

    If its constraint requires a single block, an empty region gets one. A terminator without operands and
    attributes is omitted, if a trait of the operation implies it.
    """

    def __init__(self, field: str) -> None:
        self.field = field

    def parse(self, op_parser: OpAsmParser) -> None:
        field = op_parser.op_class.fields[self.field]
        assert isinstance(field, RegionField)
        if not field.is_variadic:
            regions = [op_parser.region()]
        else:
            regions = op_parser.comma_list(op_parser.region) if op_parser.looking_at("{") else []
        terminator = op_parser.dialects.op_class(_implied_terminator(op_parser.op_class))
        for region in regions:
            if terminator is not None:
                op_parser.ensure_terminator(region, terminator)
            elif field.constraint is ONE_BLOCK and region.is_empty:
                region.add_block()

    def write(self, out: Template, signature: OpSignature, attributes: DictAttr) -> None:
        field = signature.op_class.fields[self.field]
        assert isinstance(field, RegionField)
        out.regions(field.index, field.is_variadic, omitted=_implied_terminator(signature.op_class))


def _implied_terminator(op_class: type[Op]) -> str:
    """The name of the terminator that the text of a region may omit; "" if there is none."""
    names = [trait.terminator for trait in op_class.trait_order if trait.implies_terminator]
    return next((n if "." in n else f"{op_class.name.partition('.')[0]}.{n}" for n in names), "")


class SuccessorElement(FormatElement):
    """A successor, `^label`, or a comma-separated list of all others if it is variadic."""

    def __init__(self, field: str) -> None:
        self.field = field

    def parse(self, op_parser: OpAsmParser) -> None:
        field = op_parser.op_class.fields[self.field]
        assert isinstance(field, SuccessorField)
        if not field.is_variadic:
            op_parser.successor()
        elif op_parser.looking_at("^"):
            op_parser.comma_list(op_parser.successor)

    def write(self, out: Template, signature: OpSignature, attributes: DictAttr) -> None:
        field = signature.op_class.fields[self.field]
        assert isinstance(field, SuccessorField)
        out.successors(field.index, field.is_variadic)


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


def custom(
    parse: Callable[[OpAsmParser], None],
    write: Callable[[Template, OpSignature, DictAttr], None] | None = None,
    print: Callable[[Any, OpAsmPrinter], None] | None = None,
) -> Directive:
    """The directive `Custom` with these functions; it prints the attributes that it is given."""
    return lambda *fields: Custom(parse, write, print, fields)
