"""Declarative formats of dialect attributes: the elements both parse and print them.

    @dialect_attribute(sdy, "mesh_axis", "Sdy_MeshAxis")
    class MeshAxis(Attribute):
        name: str
        size: int
        assembly = attribute_format(string("name"), "=", integer("size"))

The elements are in the order of the text, their parameters in the order of the class's fields. By itself an
attribute is `#dialect.mnemonic<…>` if its format is in angle brackets, otherwise `#dialect<mnemonic…>`. As a
parameter of another attribute it is printed without dialect and mnemonic; the parser also accepts it with
them, and an alias.

A parse error in a parameter is followed by an error for this parameter and for each enclosing one, worded as
by the parsers that MLIR generates from TableGen definitions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import Any, Generic, Protocol, TypeVar

from sdyopt.base.diagnostics.diagnostic import DiagnosticError
from sdyopt.base.interning import field_names
from sdyopt.mlir.asm.lexical import body_extent, escape
from sdyopt.mlir.asm.parser.asm_parser import AsmParser
from sdyopt.mlir.asm.printer.attribute_printer import AttributePrinter
from sdyopt.mlir.ir.attribute import Attribute
from sdyopt.mlir.ir.dialect import Dialect
from sdyopt.mlir.ir.types import Type

_CACHED_TEXTS = 4096

T = TypeVar("T")
A = TypeVar("A", bound=Attribute)
C = TypeVar("C", bound=type[Attribute])

# The values of the parameters parsed so far.
Values = list[Any]
# Returns the error of an attribute, None if it is valid.
Check = Callable[[Any], str | None]
# (text, offset) -> the attribute at an offset, and its end; None if it needs the elements of the format.
ParsePlain = Callable[[str, int], tuple[Attribute, int] | None]


class AttributeElement(Protocol):
    """An element of an attribute's format."""

    def bind(self, attribute_class: type[Attribute], definition: str) -> None:
        """Sets the class, and the name of the TableGen definition, which is part of parse errors."""

    def parse(self, parser: AsmParser, values: Values) -> None:
        """Parses this element and appends the values of its parameters."""

    def text(self, attribute: Attribute, printer: AttributePrinter) -> str:
        """The text of this element in the text of an attribute."""
        ...


class AttributeFormat:
    """The format of one class of attributes, without dialect and mnemonic.

    `build` builds the attribute from the parameters; by default it is the class itself. `check` returns the
    error message for an invalid attribute, None for a valid one; the parser reports it at the start of the
    attribute. `parse_plain` parses the most common text faster, with the same result.
    """

    def __init__(
        self,
        elements: Sequence[AttributeElement],
        build: Callable[..., Attribute] | None,
        check: Check | None,
        parse_plain: ParsePlain | None,
    ) -> None:
        self._elements = tuple(elements)
        self._parse_plain = parse_plain
        self._build = build
        self._check = check
        # Cached because the same nested attributes, such as axis references, are printed many times.
        self.text = lru_cache(_CACHED_TEXTS)(self._text)

    @property
    def is_in_angle_brackets(self) -> bool:
        first = self._elements[0]
        return isinstance(first, FixedToken) and first.token == "<"

    @property
    def has_parts_in_full(self) -> bool:
        """Whether a parameter is an attribute or a type with its dialect and mnemonic, or an alias."""
        return any(map(_is_in_full, self._elements))

    def check_parameters(self, attribute_class: type[Attribute]) -> None:
        """Raises ValueError unless the parameters are the fields of the class, in their order."""
        lists = [_parameters_of(element) for element in self._elements]
        if self._build is not None or any(names is None for names in lists):
            return
        parameters = [name for names in lists for name in names or ()]
        if parameters != list(field_names(attribute_class)):
            fields = ", ".join(field_names(attribute_class)) or "no fields: annotate them, as in `size: int`"
            listed = ", ".join(parameters) or "none"
            name = attribute_class.__name__
            raise ValueError(f"the format of {name} has the parameters {listed}, and the class {fields}")

    def bind(self, attribute_class: type[Attribute], definition: str) -> None:
        """Connects the format with the class that declares it."""
        self._build = self._build or attribute_class
        for element in self._elements:
            element.bind(attribute_class, definition)

    def parse(self, parser: AsmParser) -> Any:
        """Parses an attribute of the class; raises DiagnosticError."""
        if self._parse_plain is not None:
            plain = self._parse_plain(parser.text, parser.skip_trivia())
            if plain is not None:
                attribute, parser.position = plain
                return attribute
        assert self._build is not None
        start = parser.skip_trivia() if self._check is not None else 0
        values: Values = []
        for element in self._elements:
            element.parse(parser, values)
        attribute = self._build(*values)
        problem: object = self._check(attribute) if self._check is not None else None
        if problem is not None and not isinstance(problem, str):
            name = type(attribute).__name__
            raise parser.error(
                f"the check of {name} returns {problem!r}, not an error message or None", start
            )
        if problem is not None:
            raise parser.error(problem, start)
        return attribute

    def _text(self, attribute: Attribute) -> str:
        return self.text_with(attribute, AttributePrinter())

    def text_with(self, attribute: Attribute, printer: AttributePrinter) -> str:
        """The text of an attribute whose parameters in full, such as types, may have aliases."""
        return "".join([element.text(attribute, printer) for element in self._elements])


def attribute_format(
    *elements: AttributeElement | str,
    build: Callable[..., Attribute] | None = None,
    check: Check | None = None,
    parse_plain: ParsePlain | None = None,
) -> AttributeFormat:
    """The format with these elements; a string is a literal, with the spaces to print around it."""
    return AttributeFormat(_elements(elements), build, check, parse_plain)


# --- Registration ---------------------------------------------------------------------------------


def dialect_attribute(
    dialect: Dialect, mnemonic: str, definition: str = "", brackets: str = ""
) -> Callable[[C], C]:
    """Class decorator: the attribute or type `mnemonic` of a dialect, with the format that is its `assembly`.

    `definition` is its name in TableGen, which parse errors have; by default that of the class. `brackets`
    are those around the whole format, such as `{}`, if they are not `<>`. Help shows them.
    """

    def register(attribute_class: C) -> C:
        format = attribute_class.assembly  # type: ignore[attr-defined]  # declared by every such class
        is_type, in_full = issubclass(attribute_class, Type), format.has_parts_in_full
        format.check_parameters(attribute_class)
        name = definition or f"{dialect.name.capitalize()}_{attribute_class.__name__}"
        format.bind(attribute_class, name)
        attribute_class.dialect = dialect.name
        _formats[attribute_class] = format
        _cpp_names[attribute_class] = name.partition("_")[2].removesuffix("Attr") + (
            "" if is_type else "Attr"
        )

        @(dialect.type if is_type else dialect.attribute)(mnemonic)
        def parse(parser: AsmParser) -> Any:
            start = parser.position
            try:
                return format.parse(parser)
            except DiagnosticError as error:
                if parser.text.startswith("<", start) and not format.is_in_angle_brackets:
                    body = _body(parser.text, start, brackets)
                    error.help(
                        f"{'a type' if is_type else 'an attribute'} of this kind is written "
                        f"`{'!' if is_type else '#'}{dialect.name}<{_with_mnemonic(mnemonic, body)}>`"
                    )
                raise

        @dialect.printer(attribute_class)
        def print(attribute: Attribute, attribute_printer: AttributePrinter) -> str:
            # A part in full may have an alias, which depends on the printer.
            text = format.text_with(attribute, attribute_printer) if in_full else format.text(attribute)
            return _with_mnemonic(mnemonic, text)

        return attribute_class

    return register


dialect_type = dialect_attribute


def format_of(attribute_class: type[Attribute]) -> AttributeFormat:
    """The format of a class that has been registered. Raises ValueError for another class."""
    if attribute_class not in _formats:
        raise ValueError(f"{attribute_class.__name__} has no format: register it by dialect_attribute first")
    return _formats[attribute_class]


def register_format(attribute_class: type[Attribute], format: AttributeFormat) -> None:
    """Registers the format of a class that has its own parser and printer for the full attribute."""
    format.bind(attribute_class, "")
    _formats[attribute_class] = format
    _cpp_names[attribute_class] = f"{attribute_class.__name__}Attr"


def has_format(attribute_class: type[Attribute]) -> bool:
    """Whether a class declares its format and has been registered."""
    return attribute_class in _formats


_formats: dict[type[Attribute], AttributeFormat] = {}
# The C++ names of attribute classes, for parse errors.
_cpp_names: dict[type[Attribute], str] = {}
# The maximum length of a body that help quotes.
_MAX_QUOTED_BODY = 60


def _with_mnemonic(mnemonic: str, text: str) -> str:
    """A mnemonic and the text after it, with a space between them if the text starts with a letter."""
    return f"{mnemonic} {text}" if text[:1].isalpha() else mnemonic + text


def _body(text: str, start: int, brackets: str) -> str:
    """The text between `<` and `>`, `…` if it is empty or too long, in the brackets of the format."""
    body = text[start + 1 : body_extent(text, start) - 1]
    if not body or "\n" in body or len(body) > _MAX_QUOTED_BODY:
        body = "…"
    return body if body.startswith(brackets[:1]) else brackets[:1] + body + brackets[1:]


# --- Elements -------------------------------------------------------------------------------------


class FixedToken:
    """Punctuation or a keyword, printed with the spaces around it."""

    def __init__(self, text: str) -> None:
        self._text = text
        self.token = text.strip()

    def bind(self, attribute_class: type[Attribute], definition: str) -> None:
        pass

    def parse(self, parser: AsmParser, values: Values) -> None:
        parser.expect(self.token)

    def text(self, attribute: Attribute, printer: AttributePrinter) -> str:
        return self._text


class Parameter(Generic[T]):
    """The value of a field. `name` and `cpp_type` are those of the TableGen definition."""

    def __init__(
        self,
        field: str,
        name: str,
        cpp_type: str,
        parse: Callable[[AsmParser], T],
        text: Callable[[T], str],
    ) -> None:
        self.field = field
        self.name = name
        self._cpp_type = cpp_type
        self._parse = parse
        self._text = text
        self._failure = ""

    def bind(self, attribute_class: type[Attribute], definition: str) -> None:
        self._failure = (
            f"failed to parse {definition} parameter '{self.name}' which is to be a `{self._cpp_type}`"
        )

    def parse(self, parser: AsmParser, values: Values) -> None:
        try:
            values.append(self._parse(parser))
        except DiagnosticError as error:
            raise with_error_at_next_token(parser, error, self._failure) from None

    def text(self, attribute: Attribute, printer: AttributePrinter) -> str:
        return self._text(getattr(attribute, self.field))


class BracketedList:
    """A list parameter in brackets, possibly empty."""

    def __init__(self, open: str, items: Parameter[Any], close: str) -> None:
        self._open = open
        self._items = items
        self._close = close

    def bind(self, attribute_class: type[Attribute], definition: str) -> None:
        self._items.bind(attribute_class, definition)

    def parse(self, parser: AsmParser, values: Values) -> None:
        parser.expect(self._open)
        if parser.accept(self._close):
            values.append(())
            return
        self._items.parse(parser, values)
        parser.expect(self._close)

    def text(self, attribute: Attribute, printer: AttributePrinter) -> str:
        return self._open + self._items.text(attribute, printer) + self._close


class OptionalParameters:
    """Elements around one parameter, which are not printed if the parameter has its default value.

    The first element is a literal, by which the parser recognizes the group.
    """

    def __init__(self, *elements: AttributeElement | str, default: Any) -> None:
        first, *self._rest = _elements(elements)
        assert isinstance(first, FixedToken)
        self._first = first
        (self._parameter,) = (element for element in self._rest if isinstance(element, Parameter))
        self._default = default

    def bind(self, attribute_class: type[Attribute], definition: str) -> None:
        for element in self._rest:
            element.bind(attribute_class, definition)

    def parse(self, parser: AsmParser, values: Values) -> None:
        if not parser.accept(self._first.token):
            values.append(self._default)
            return
        for element in self._rest:
            element.parse(parser, values)

    def text(self, attribute: Attribute, printer: AttributePrinter) -> str:
        if getattr(attribute, self._parameter.field) == self._default:
            return ""
        return "".join([element.text(attribute, printer) for element in (self._first, *self._rest)])


class Struct:
    """`name = value, …`: the parameters in any order, as of `struct(params)` in ODS.

    The `optional` ones are None if they are missing.
    """

    def __init__(self, *parameters: Parameter[Any], optional: Sequence[Parameter[Any]] = ()) -> None:
        self._parameters = {parameter.name: parameter for parameter in (*parameters, *optional)}
        self._optional = {parameter.name for parameter in optional}

    def bind(self, attribute_class: type[Attribute], definition: str) -> None:
        for parameter in self._parameters.values():
            parameter.bind(attribute_class, definition)

    def parse(self, parser: AsmParser, values: Values) -> None:
        fields: dict[str, Any] = {}
        while True:
            try:
                name = parser.keyword()
            except DiagnosticError as error:
                raise with_error_at_next_token(parser, error, "expected a parameter name in struct") from None
            parser.expect("=")
            if name in fields or name not in self._parameters:
                raise parser.error(f"duplicate or unknown struct parameter name: {name}")
            value: Values = []
            self._parameters[name].parse(parser, value)
            (fields[name],) = value
            if len(fields) == len(self._parameters):
                break
            if not parser.accept(","):
                if self._optional:
                    break
                parser.expect(",")
        for name in self._parameters:
            if name not in fields and name not in self._optional:
                raise parser.error(f"struct is missing required parameter: {name}")
        values += [fields.get(name) for name in self._parameters]

    def text(self, attribute: Attribute, printer: AttributePrinter) -> str:
        return ", ".join(
            [
                f"{name} = {parameter.text(attribute, printer)}"
                for name, parameter in self._parameters.items()
                if name not in self._optional or getattr(attribute, parameter.field) is not None
            ]
        )


class CustomParameters:
    """Parameters with their own parse and print functions.

    `parse` returns the values of the parameters in order; `text` returns the text of an attribute.
    """

    def __init__(self, parse: Callable[[AsmParser], Iterable[Any]], text: Callable[[Any], str]) -> None:
        self._parse = parse
        self._text = text

    def bind(self, attribute_class: type[Attribute], definition: str) -> None:
        pass

    def parse(self, parser: AsmParser, values: Values) -> None:
        values += self._parse(parser)

    def text(self, attribute: Attribute, printer: AttributePrinter) -> str:
        return self._text(attribute)


def integer(field: str, name: str = "") -> Parameter[int]:
    """A signed 64-bit integer."""
    return Parameter(field, name or field, "int64_t", AsmParser.integer, str)


def string(field: str, name: str = "") -> Parameter[str]:
    """A string literal."""
    return Parameter(field, name or field, "::llvm::StringRef", AsmParser.string, quote)


def nested(field: str, attribute_class: type[A], name: str = "", namespace: str = "") -> Parameter[A]:
    """An attribute of a class; `namespace` is the C++ namespace in the class's name in errors."""
    format = format_of(attribute_class)
    cpp_type = namespace + _cpp_names[attribute_class]
    parse = lambda parser: parse_nested(parser, attribute_class)  # noqa: E731
    return Parameter(field, name or field, cpp_type, parse, format.text)


def nested_list(
    field: str, attribute_class: type[A], name: str = "", namespace: str = ""
) -> Parameter[tuple[A, ...]]:
    """A comma-separated list of one or more attributes of a class."""
    text = format_of(attribute_class).text
    return list_of(
        field,
        name or field,
        namespace + _cpp_names[attribute_class],
        lambda parser: parse_nested(parser, attribute_class),
        # An attribute whose text would be empty is printed with dialect and mnemonic.
        lambda item: text(item) or AttributePrinter().attribute(item),
    )


class InFull(Parameter[Any]):
    """An attribute or a type with its dialect and mnemonic, or an alias."""

    def __init__(
        self,
        field: str,
        cpp_type: str,
        parse: Callable[[AsmParser], Any] = AsmParser.attribute,
        name: str = "",
    ) -> None:
        super().__init__(field, name or field, cpp_type, parse, str)

    def text(self, attribute: Attribute, printer: AttributePrinter) -> str:
        value = getattr(attribute, self.field)
        return printer.type(value) if isinstance(value, Type) else printer.attribute(value)


def _parameters_of(element: AttributeElement) -> Sequence[str] | None:
    """The fields that an element parses, in order; None if they are not known."""
    match element:
        case FixedToken():
            return ()
        case Parameter():
            return (element.field,)
        case OptionalParameters():
            return (element._parameter.field,)
        case BracketedList():
            return (element._items.field,)
        case Struct():
            return [parameter.field for parameter in element._parameters.values()]
    return None


def _is_in_full(element: AttributeElement) -> bool:
    match element:
        case Struct():
            return any(map(_is_in_full, element._parameters.values()))
        case OptionalParameters():
            return _is_in_full(element._parameter)
        case BracketedList():
            return _is_in_full(element._items)
    return isinstance(element, InFull)


def attribute_parameter(field: str, name: str = "") -> Parameter[Any]:
    """Any attribute, with its dialect and mnemonic."""
    return InFull(field, "::mlir::Attribute", name=name)


def type_parameter(field: str, name: str = "") -> Parameter[Any]:
    """Any type."""
    return InFull(field, "::mlir::Type", AsmParser.type, name)


def list_of(
    field: str, name: str, cpp_type: str, parse: Callable[[AsmParser], T], text: Callable[[T], str]
) -> Parameter[tuple[T, ...]]:
    """A comma-separated list of one or more values."""
    return Parameter(
        field,
        name,
        f"::llvm::ArrayRef<{cpp_type}>",
        lambda parser: tuple(parser.comma_list(lambda: parse(parser))),
        lambda items: ", ".join(map(text, items)),
    )


def parse_nested(parser: AsmParser, attribute_class: type[A]) -> A:
    """Parses an attribute of a class without dialect and mnemonic, with them, or as an alias."""
    start = parser.skip_trivia()
    if not parser.text.startswith("#", start):
        nested: A = _formats[attribute_class].parse(parser)
        return nested
    attribute = parser.attribute()
    if not isinstance(attribute, attribute_class):
        raise parser.error("invalid kind of attribute specified", start)
    return attribute


def with_error_at_next_token(parser: AsmParser, error: DiagnosticError, message: str) -> DiagnosticError:
    """`error`, followed by an error with this message at the next token."""
    return error.then(parser.error(message))


def quote(value: str) -> str:
    """A string as a literal."""
    return f'"{escape(value)}"'


def _elements(elements: Sequence[AttributeElement | str]) -> list[AttributeElement]:
    return [FixedToken(element) if isinstance(element, str) else element for element in elements]
