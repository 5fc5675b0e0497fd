"""Declarative assembly formats of operations: one string both parses and prints, as in ODS.

    class SliceOp(Op):
        assembly = assembly("$input custom<ranges>($starts, $limits) attr-dict `:` type($input)", ranges=…)

- `` `word` ``: punctuation or a keyword. `$field`: an operand, an attribute or a region.
- `operands`: all of them. `type($a, $b)`: the type of `$a`, which `$b` has too.
- `functional-type(operands, results)`, or of two fields.
- `attr-dict`, `attr-dict-with-keyword`: the attributes that nothing else prints.
- `(… $field^ …)?` or `(… $field^ …) : (…)?`: an optional group, printed if the field is present and not its
  default.
- `custom<name>($a, $b)`: an argument `name` of `assembly`, or what is registered by `@directive("name")`. It
  is called with the names of the fields, and returns an element.

An operand without a type in the format has the only type that its constraint accepts. Spaces follow the rules
of MLIR's declarative format and are not declared. Elements write what depends only on the signature and the
discardable attributes into a print template, which the printer caches by these; regions, their arguments and
SSA names are printed for each operation. A format is parsed when it is first used.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from sdyopt.base.releases import Behavior
from sdyopt.mlir.asm.format.attribute_format import format_of, has_format, parse_nested
from sdyopt.mlir.asm.format.print_template import OpAsmPrinter, Template
from sdyopt.mlir.asm.lexical import symbol_text
from sdyopt.mlir.asm.parser.op_parser import OpAsmParser
from sdyopt.mlir.asm.printer.attribute_printer import AttributePrinter
from sdyopt.mlir.ir.attribute import Attribute, DictAttr, SymbolRef
from sdyopt.mlir.ir.constraints import FLAT_SYMBOL_ATTR, ONE_BLOCK, AttrConstraint
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
    ValueField,
    declared_fields,
)
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.types import NONE, Type


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


class Assembly:
    """The format of the text after an operation's name.

    Releases without the behaviour `since`, if there is one, have the format `before`. If the format
    `is_constant`, the result of the operation has the type of the attribute `value`.
    """

    is_constant = False

    def __init__(
        self,
        format: str,
        directives: Mapping[str, Directive],
        since: Behavior | None,
        before: Assembly | None,
    ) -> None:
        self._format = format
        self._directives = directives
        self._since = since
        self._before = before
        self._elements: list[FormatElement] | None = None
        self._elided: frozenset[str] = frozenset()

    def elements_for(self, op_class: type[Op]) -> list[FormatElement]:
        """The elements, of any operation class with this format."""
        if self._elements is None:
            reader = _FormatReader(self._format, self._directives, op_class)
            self._elements = reader.elements()
            fields = [op_class.fields.get(name) or name for e in self._elements for name in e.elides]
            self._elided = frozenset(f.name if isinstance(f, AttrField) else str(f) for f in fields)
        return self._elements

    def _active(self) -> Assembly:
        return self if self._before is None or self._since is None or self._since.active else self._before

    def parse(self, op_parser: OpAsmParser) -> None:
        for element in self._active().elements_for(op_parser.op_class):
            element.parse(op_parser)

    def template(
        self, signature: OpSignature, attributes: DictAttr, attribute_printer: AttributePrinter
    ) -> Template:
        """The print template of the text after the operation's name."""
        active = self._active()
        elements = active.elements_for(signature.op_class)
        out = Template(attribute_printer, active._elided)
        for element in elements:
            element.write(out, signature, attributes)
        return out


def assembly(
    format: str, /, *, since: Behavior | None = None, before: Assembly | None = None, **directives: Directive
) -> Assembly:
    """The assembly format with this text; `directives` are only its own."""
    return Assembly(format, directives, since, before)


D = TypeVar("D", bound=Directive)
_registered: dict[str, Directive] = {}


def directive(name: str) -> Callable[[D], D]:
    """Decorator: registers `custom<name>`, a function of the names of fields, for all dialects."""

    def register(function: D) -> D:
        assert name not in _registered, f"two directives {name}"
        _registered[name] = function
        return function

    return register


_TOKEN = re.compile(r"`[^`]*`|\$\w+|[\w-]+(?:<\w+>)?(?:\([^)]*\))?|\S")
_DIRECTIVE = re.compile(r"([\w-]+)(?:<(\w+)>)?(?:\((.*)\))?")
_FIELD = re.compile(r"\$(\w+)")


class _FormatReader:
    """Reads the elements of a format."""

    def __init__(self, format: str, directives: Mapping[str, Directive], op_class: type[Op]) -> None:
        self._format = format
        self._directives = directives
        self._fields = op_class.fields
        self._tokens = _TOKEN.findall(format)[::-1]
        self._anchor: tuple[str, ...] = ()

    def elements(self, end: str = "") -> list[FormatElement]:
        """The elements up to the token `end`, or up to the end of the format."""
        elements = []
        while self._tokens and self._tokens[-1] != end:
            token = self._tokens.pop()
            element, names = self._element(token)
            elements.append(element)
            if self._accept("^"):
                self._anchor = names
        if end:
            self._expect(end)
        return elements

    def _element(self, token: str) -> tuple[FormatElement, tuple[str, ...]]:
        """The element that starts with a token, and the fields that it names."""
        if token.startswith("`"):
            return Literal(token[1:-1]), ()
        if token.startswith("$"):
            field = self._fields.get(token[1:])
            for kind, element in _ELEMENTS.items():
                if isinstance(field, kind):
                    return element(token[1:]), (token[1:],)
        if token == "(":
            return self._group(), ()
        if match := _DIRECTIVE.fullmatch(token):
            word, name, arguments = match.groups("")
            names = tuple(_FIELD.findall(arguments))
            if word == "custom" and name in self._directives:
                return self._directives[name](*names), names
            table = _registered if word == "custom" else _DIRECTIVES
            if (name or word) in table:
                return table[name or word](*names), names
        raise self._error(token)

    def _group(self) -> OptionalGroup:
        elements, otherwise = self.elements(")"), []
        anchor = self._anchor
        if self._accept(":"):
            self._expect("(")
            otherwise = self.elements(")")
        self._expect("?")
        return OptionalGroup(elements, otherwise, anchor)

    def _accept(self, token: str) -> bool:
        if not self._tokens or self._tokens[-1] != token:
            return False
        self._tokens.pop()
        return True

    def _expect(self, token: str) -> None:
        if not self._accept(token):
            raise self._error(self._tokens[-1] if self._tokens else "the end")

    def _error(self, token: str) -> ValueError:
        return ValueError(f"unexpected {token} in the assembly format {self._format!r}")


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

    It is parsed if its first element, a literal or an operand, is next. It is printed if a field of the
    `anchor` is an attribute with a value other than its default, or has operands or results. Otherwise the
    elements of `otherwise` are parsed or printed.
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
        else:
            is_next = op_parser.looking_at_operand()
        for element in self.elements if is_next else self.otherwise:
            element.parse(op_parser)

    def write(self, out: Template, signature: OpSignature, attributes: DictAttr) -> None:
        is_present = any(self._is_present(signature, name) for name in self.anchor)
        for element in self.elements if is_present else self.otherwise:
            element.write(out, signature, attributes)

    def _is_present(self, signature: OpSignature, name: str) -> bool:
        field = signature.op_class.fields[name]
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


_syntaxes: dict[AttrConstraint[Any], _Syntax] = {
    FLAT_SYMBOL_ATTR: (_parse_symbol, lambda reference, attribute_printer: symbol_text(reference.root))
}


def declare_syntax(constraint: AttrConstraint[Any], parse: _Parse, print: _Print) -> None:
    """Declares how `$field` is parsed and printed if the field is an attribute with this constraint."""
    _syntaxes[constraint] = parse, print


def _syntax(field: AttrField[Any]) -> _Syntax:
    syntax = _syntaxes.get(field.constraint)
    if syntax is not None:
        return syntax
    cls = field.constraint.cls
    if cls is None or not has_format(cls):
        return OpAsmParser.attribute, lambda attribute, attribute_printer: attribute_printer.attribute(
            attribute
        )
    text = format_of(cls).text
    return lambda op_parser: parse_nested(op_parser, cls), lambda attribute, attribute_printer: text(
        attribute
    )


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


def custom(
    parse: Callable[[OpAsmParser], None],
    write: Callable[[Template, OpSignature, DictAttr], None] | None = None,
    print: Callable[[Any, OpAsmPrinter], None] | None = None,
) -> Directive:
    """The directive `Custom` with these functions; it prints the attributes that it is given."""
    return lambda *fields: Custom(parse, write, print, fields)


_ELEMENTS: dict[type[Field], Directive] = {
    OperandField: Operand,
    AttrField: Attr,
    RegionField: RegionElement,
}
_DIRECTIVES: dict[str, Directive] = {
    "attr-dict": AttrDict,
    "attr-dict-with-keyword": lambda: AttrDict(with_keyword=True),
    "functional-type": FunctionalType,
    "operands": AllOperands,
    "type": TypeOf,
}
