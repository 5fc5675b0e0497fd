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
of MLIR's declarative format and are not declared. A format is parsed when it is first used.
"""

from __future__ import annotations

from collections.abc import Mapping

from sdyopt.base.patterns import constant_pattern
from sdyopt.base.releases import Behavior
from sdyopt.mlir.asm.format.format_elements import (
    AllOperands,
    Attr,
    AttrDict,
    Directive,
    FormatElement,
    FunctionalType,
    Literal,
    Operand,
    OptionalGroup,
    RegionElement,
    TypeOf,
    registered,
)
from sdyopt.mlir.asm.format.print_template import Template
from sdyopt.mlir.asm.parser.op_parser import OpAsmParser
from sdyopt.mlir.asm.printer.attribute_printer import AttributePrinter
from sdyopt.mlir.ir.attribute import DictAttr
from sdyopt.mlir.ir.builtin_attributes import DenseElements
from sdyopt.mlir.ir.op_fields import (
    AttrField,
    Field,
    OperandField,
    RegionField,
)
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.operation import Op


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

    @property
    def elided(self) -> frozenset[str]:
        """The attributes that the attribute dictionary does not have, after a template has been made."""
        return self._active()._elided

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

    def constant_text(
        self, signature: OpSignature, attributes: DictAttr, attribute_printer: AttributePrinter
    ) -> str | None:
        """The text after the name of a constant, without a template; None if it needs one.

        Programs have thousands of constants.
        """
        if not self.is_constant or attributes.entries:
            return None
        value, field = signature.attributes.get("value"), signature.op_class.fields["value"]
        if not isinstance(value, DenseElements) or signature.result_types[0] is not value.type:
            return None
        assert isinstance(field, AttrField)
        return attribute_printer.attribute(value) if field.constraint.accepts(value) else None


def assembly(
    format: str, /, *, since: Behavior | None = None, before: Assembly | None = None, **directives: Directive
) -> Assembly:
    """The assembly format with this text; `directives` are only its own."""
    return Assembly(format, directives, since, before)


_TOKEN = constant_pattern(r"`[^`]*`|\$\w+|[\w-]+(?:<\w+>)?(?:\([^()]*+\))?|\S")
_DIRECTIVE = constant_pattern(r"([\w-]+)(?:<(\w+)>)?(?:\((.*)\))?")
_FIELD = constant_pattern(r"\$(\w+)")


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
            table = registered if word == "custom" else _DIRECTIVES
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
