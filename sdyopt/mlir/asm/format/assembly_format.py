"""Declarative assembly formats of operations: one string both parses and prints, as in ODS.

    class SliceOp(Op):
        assembly = assembly("$input custom<ranges>($starts, $limits) attr-dict `:` type($input)", ranges=…)

- `` `word` ``: punctuation or a keyword. `$field`: an operand, an attribute or a region.
- `$successor`: `^label`. `operands`: all of them.
- `type($a, $b)`: the type of `$a`, which `$b` has too. `type(operands)`, `type(results)`: all types.
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

import sys
from collections.abc import Callable, Mapping
from typing import TypeVar

from sdyopt.base.dataclasses import NamedTuple
from sdyopt.base.diagnostics.usage import nearest, nearest_or_all
from sdyopt.base.patterns import constant_pattern
from sdyopt.base.releases import Behavior
from sdyopt.mlir.asm.format.format_elements import (
    AllOperands,
    AllTypes,
    Attr,
    AttrDict,
    Directive,
    FormatElement,
    FunctionalType,
    Literal,
    Operand,
    OptionalGroup,
    RegionElement,
    SuccessorElement,
    TypeOf,
    registered,
)
from sdyopt.mlir.asm.format.print_template import Template
from sdyopt.mlir.asm.parser.op_parser import OpAsmParser
from sdyopt.mlir.asm.printer.attribute_printer import AttributePrinter
from sdyopt.mlir.ir.attribute import DictAttr
from sdyopt.mlir.ir.builtin_attributes import DenseElements
from sdyopt.mlir.ir.op_fields import (
    ONE,
    AttrField,
    Field,
    OperandField,
    RegionField,
    ResultField,
    SuccessorField,
    ValueField,
)
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.operation import Op

F = TypeVar("F", bound=Field)


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
        written_at: tuple[str, int] = ("", 0),
    ) -> None:
        self.format = format
        # The file and the line of the call.
        self.written_at = written_at
        self._directives = directives
        self._since = since
        self._before = before
        self._elements: list[FormatElement] | None = None
        self._elided: frozenset[str] = frozenset()

    def elements_for(self, op_class: type[Op]) -> list[FormatElement]:
        """The elements, of any operation class with this format."""
        if self._elements is None:
            reader = _FormatReader(self.format, self._directives, op_class)
            self._elements = reader.elements()
            fields = [op_class.fields.get(name) or name for e in self._elements for name in e.elides]
            self._elided = frozenset(f.name if isinstance(f, AttrField) else str(f) for f in fields)
        return self._elements

    def with_words(self, words: Mapping[str, str]) -> Assembly:
        """The same format with other words: those of another version of a dialect."""
        format = _WORD.sub(lambda match: f"`{words.get(match[1], match[1])}`", self.format)
        return Assembly(format, self._directives, self._since, self._before, self.written_at)

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
    """The assembly format with this text; `directives` are only its own.

    A mistake in it is an error when a plugin is loaded, and otherwise when the format is first used.
    """
    caller = sys._getframe(1)
    return Assembly(format, directives, since, before, (caller.f_code.co_filename, caller.f_lineno))


_WORD = constant_pattern(r"`([^`]*)`")
_TOKEN = constant_pattern(r"`[^`]*`|\$\w+|[\w-]+(?:<\w+>)?(?:\([^()]*+\))?|\S")
_DIRECTIVE = constant_pattern(r"([\w-]+)(?:<(\w+)>)?(?:\((.*)\))?")


class FormatToken(NamedTuple):
    """A token of a format, with its offset in the format's text."""

    text: str
    offset: int


class FormatError(Exception):
    """A mistake in an assembly format, with the token that is wrong, None for all of it, and help."""

    def __init__(self, message: str, token: FormatToken | None = None, help: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.token = token
        self.help = help


_NO_ANCHOR: tuple[str, ...] = ()


class _FormatReader:
    """Reads the elements of a format. Raises FormatError."""

    def __init__(self, format: str, directives: Mapping[str, Directive], op_class: type[Op]) -> None:
        self._format = format
        self._directives = directives
        self._op_class = op_class
        self._fields = op_class.fields
        self._tokens = [FormatToken(match[0], match.start()) for match in _TOKEN.finditer(format)][::-1]
        self._anchor = _NO_ANCHOR

    def elements(self, end: str = "") -> list[FormatElement]:
        """The elements up to the token `end`, or up to the end of the format."""
        elements = []
        while self._tokens and self._tokens[-1].text != end:
            element, names = self._element(self._tokens.pop())
            elements.append(element)
            if self._accept("^"):
                self._anchor = names
        if end:
            self._expect(end)
        return elements

    def _element(self, token: FormatToken) -> tuple[FormatElement, tuple[str, ...]]:
        """The element that starts with a token, and the fields that it names."""
        if token.text.startswith("`") and len(token.text) > 1:
            if len(token.text[1:-1].split()) > 1:
                raise FormatError("a literal has a space", token, "close it with ` before the space")
            return Literal(token.text[1:-1]), ()
        if token.text.startswith("$"):
            field = self._field(token, token.text[1:])
            for kind, element in _ELEMENTS.items():
                if isinstance(field, kind):
                    return element(token.text[1:]), (token.text[1:],)
            message = f"result {token.text} has no text of its own"
            raise FormatError(message, token, f"write type({token.text})")
        if token.text == "(":
            return self._group(token), ()
        if match := _DIRECTIVE.fullmatch(token.text):
            return self._directive(token, *match.groups(""))
        raise self._unexpected(token)

    def _directive(
        self, token: FormatToken, word: str, name: str, arguments: str
    ) -> tuple[FormatElement, tuple[str, ...]]:
        names = tuple([argument.strip() for argument in arguments.split(",")]) if arguments.strip() else ()
        for argument in names:
            # A directive of the operation itself may give its arguments another meaning.
            if argument.startswith("$") and name not in self._directives:
                self._field(token, argument[1:])
        fields = tuple([argument[1:] for argument in names if argument.startswith("$")])
        if word == "custom":
            directives = {**registered, **self._directives}
            if name not in directives:
                help = nearest(name, directives) or f"pass {name or 'name'}=custom(…) to assembly"
                raise FormatError(f"there is no directive custom<{name}>", token, help)
            if len(fields) < len(names):
                message = f"custom<{name}> takes fields, such as $field"
                raise FormatError(message, token, f"write custom<{name}>(${next(iter(self._fields), '')})")
            return directives[name](*fields), fields
        directive = _DIRECTIVES.get(word)
        if directive is None:
            help = nearest(word, [*_DIRECTIVES, "custom"])
            if not help and word in self._fields:
                help = f"write ${word}"
            raise FormatError(f"there is no directive {word}", token, help or f"write `{word}` for a keyword")
        return directive(self, token, names), fields

    def field(self, token: FormatToken, argument: str, kind: type[F], what: str, *others: str) -> F:
        """The field of a kind that an argument `$name` of a directive names; `others` could stand there."""
        field = self._field(token, argument[1:]) if argument.startswith("$") else None
        if not isinstance(field, kind):
            fields = [f"${name}" for name, field in self._fields.items() if isinstance(field, kind)]
            fields += others
            raise FormatError(f"{argument} is not {what}", token, nearest_or_all(argument, fields))
        return field

    def _field(self, token: FormatToken, name: str) -> Field:
        field = self._fields.get(name)
        if field is None:
            names = [f"${known}" for known in self._fields]
            help = nearest_or_all(f"${name}", names) or "declare the field in the class"
            raise FormatError(f"the operation has no field '{name}'", token, help)
        return field

    def _group(self, start: FormatToken) -> OptionalGroup:
        self._anchor = _NO_ANCHOR
        elements, otherwise = self.elements(")"), []
        anchor = self._anchor
        if self._accept(":"):
            self._expect("(")
            otherwise = self.elements(")")
        self._expect("?")
        if not elements or not isinstance(elements[0], Literal | Operand | RegionElement | SuccessorElement):
            raise FormatError(
                "an optional group does not start with a literal, an operand, a region or a successor",
                start,
                "write a `keyword` first, by which the parser recognizes the group",
            )
        if not anchor:
            message = "an optional group has no anchor"
            raise FormatError(message, start, "write ^ after the field whose presence decides")
        for name in anchor:
            field = self._fields[name]
            is_one = isinstance(field, ValueField) and field.arity == ONE
            if is_one or (isinstance(field, AttrField) and not field.is_optional and field.default is None):
                raise FormatError(
                    f"the anchor ${name} of an optional group is never missing",
                    start,
                    "declare the field as optional or variadic",
                )
        return OptionalGroup(elements, otherwise, anchor)

    def _accept(self, token: str) -> bool:
        if not self._tokens or self._tokens[-1].text != token:
            return False
        self._tokens.pop()
        return True

    def _expect(self, token: str) -> None:
        if not self._accept(token):
            if self._tokens:
                raise self._unexpected(self._tokens[-1], f"expected {token}")
            raise FormatError(f"expected {token} at the end of the format")

    def _unexpected(self, token: FormatToken, help: str = "") -> FormatError:
        if token.text == "`":
            return FormatError("a literal has no second `", token, "write `word` in two backquotes")
        if token.text.startswith("$"):
            help = help or "write the name of a field after $"
        return FormatError(f"unexpected {token.text}", token, help or f"write `{token.text}` for a literal")

    def functional_type(self, token: FormatToken, arguments: tuple[str, ...]) -> FormatElement:
        if len(arguments) != 2:
            help = "write functional-type(operands, results)"
            raise FormatError(f"{token.text} does not have two arguments", token, help)
        operands, results = arguments
        if operands != "operands":
            self.field(token, operands, OperandField, "operands, or one of their fields", "operands")
        if results != "results":
            self.field(token, results, ResultField, "results, or one of their fields", "results")
        return FunctionalType(
            None if operands == "operands" else operands[1:], None if results == "results" else results[1:]
        )


def _type_of(reader: _FormatReader, token: FormatToken, arguments: tuple[str, ...]) -> FormatElement:
    if arguments in (("operands",), ("results",)):
        return AllTypes(of_results=arguments == ("results",))
    if not arguments:
        raise FormatError("type() names no field", token, "write type($field)")
    for argument in arguments:
        reader.field(token, argument, ValueField, "an operand or a result")
    return TypeOf(*[argument[1:] for argument in arguments])


def _without_arguments(
    element: Callable[[], FormatElement],
) -> Callable[[_FormatReader, FormatToken, tuple[str, ...]], FormatElement]:
    def make(reader: _FormatReader, token: FormatToken, arguments: tuple[str, ...]) -> FormatElement:
        if arguments:
            raise FormatError(f"{token.text} takes no arguments", token)
        return element()

    return make


_ELEMENTS: dict[type[Field], Directive] = {
    OperandField: Operand,
    AttrField: Attr,
    RegionField: RegionElement,
    SuccessorField: SuccessorElement,
}
_DIRECTIVES: dict[str, Callable[[_FormatReader, FormatToken, tuple[str, ...]], FormatElement]] = {
    "attr-dict": _without_arguments(AttrDict),
    "attr-dict-with-keyword": _without_arguments(lambda: AttrDict(with_keyword=True)),
    "functional-type": _FormatReader.functional_type,
    "operands": _without_arguments(AllOperands),
    "type": _type_of,
}
