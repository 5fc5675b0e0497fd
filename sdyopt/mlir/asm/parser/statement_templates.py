"""The templates of the statements of a source, by text and by form: the text without tensor types.

A process that parses several sources keeps the templates of the last ones: programs of one framework repeat
their statements. Only templates that depend on nothing else in their source are kept.

A program with few equal statements still has few forms, such as `%2 = stablehlo.add %0, %1 : T`. The second
statement of a form is parsed with holes in place of its types, which yields a template with holes. A further
statement of this form costs one look-up for each of its types. If statements differ in the numbers of their
lists, too, such as slices, these are holes of another form.

A hole is a tensor type whose shape and element type cannot be read: that raises `HoleInspected`. So a parser
that accepts holes only passes types on, and treats all tensor types alike. A statement has no form if its
parser rejects holes, or if there is a hole in an attribute or in another type. Nor can the value of a
number hole be read; it must be an element of a dense array.

For the same reason, signatures of a form need only the checks that read types (`ir/verify_signature.py`),
and if a statement with holes is printed as it is written, all statements of the form are.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import cast

from sdyopt.base.dataclasses import NamedTuple
from sdyopt.base.diagnostics.diagnostic import DiagnosticError
from sdyopt.base.diagnostics.location import UnknownLoc
from sdyopt.base.interning import Interned
from sdyopt.base.patterns import constant_pattern
from sdyopt.base.releases import Release
from sdyopt.mlir.asm.lexical import BARE_ID
from sdyopt.mlir.asm.parser.asm_parser import AsmParser
from sdyopt.mlir.asm.parser.attributes import AttributeParser
from sdyopt.mlir.asm.parser.op_parser import OpAsmParser
from sdyopt.mlir.asm.parser.parser_state import Statement, is_constant, split_value, with_value
from sdyopt.mlir.asm.parser.ssa_scope import ForwardValue, Scope
from sdyopt.mlir.asm.printer.ssa_names import format_of_signature
from sdyopt.mlir.ir.attribute import EMPTY_DICT, Attribute, DictAttr, SymbolRef, nested_attributes
from sdyopt.mlir.ir.builtin_attributes import DenseArray, DenseElements
from sdyopt.mlir.ir.dialect import Dialect, DialectTable
from sdyopt.mlir.ir.holes import HOLES, Hole, HoleInspected, NumberHole
from sdyopt.mlir.ir.op_signature import FORM, FORMAT, OpSignature
from sdyopt.mlir.ir.types import Type
from sdyopt.mlir.ir.value import Value

# Splits a key into text, type, text, type, …, text. The types are written as they are printed.
_SIZE = r"(?:0|[1-9][0-9]{0,17}|\?)"
_TYPES = constant_pattern(
    rf"(tensor<(?<![\w$.!#-]tensor<)(?:{_SIZE}x)*+(?![su]?i0)[a-z][A-Za-z0-9]{{0,12}}>)(?![>=])"
)
_OPERAND_OR_MARK = constant_pattern("[\n\0]")
# No type has such a text, and none has a shorter one.
_HOLE_TEXT = "tensor<{}>"
# The symbol of a call, and the one in the statement with holes.
_CALLEE = constant_pattern(rf"(?<=[ .]call @){BARE_ID}(?=\()")
_SYMBOL_HOLE = "sdyopt.callee"
# A number in a list, as it is printed.
_NUMBER = constant_pattern(r"(?<=[\[ :])(?:0|[1-9][0-9]{0,17})(?=[\],:])")
_NUMBER_HOLE_TEXT = "7{:017}"
_NUMBER_HOLE = constant_pattern("7[0-9]{17}")
# What stands for a type, the symbol, or a number, in the key of a form. No program has a NUL character.
_CALLEE_MARK, _NUMBER_MARK = "\0@\0", "\0#\0"
_MARK = constant_pattern("\0(?:[0-9]+|[@#])\0")


class Holes(NamedTuple):
    """Holes by their text."""

    types: dict[str, Type]
    numbers: dict[str, NumberHole]


class FormText(NamedTuple):
    """A key without its tensor types, the symbol that it calls, and perhaps the numbers in its lists.

    `types` has each of these types once; equal types have equal marks in `key`.
    """

    key: str
    types: list[str]
    callee: str | None
    numbers: Sequence[str] = ()

    def without_numbers(self) -> FormText | None:
        """The text without the numbers in its lists; None if it has none."""
        numbers = _NUMBER.findall(self.key)
        return self._replace(key=_NUMBER.sub(_NUMBER_MARK, self.key), numbers=numbers) if numbers else None

    def with_holes(self) -> tuple[str, Holes] | None:
        """The key of a statement of this form with holes, and the holes.

        None if there are too many, or one is in a string.
        """
        key, count, holes = self.key, len(self.types), Holes({}, {})
        if count + len(self.numbers) > len(HOLES):
            return None
        if '"' in key and ("\\" in key or any(text.count('"') % 2 for text in _MARK.split(key))):
            return None
        for number, hole in enumerate(HOLES[:count]):
            text = _HOLE_TEXT.format(number)
            key = key.replace(f"\0{number}\0", text)
            holes.types[text] = hole
        for number in range(len(self.numbers)):
            text = _NUMBER_HOLE_TEXT.format(number)
            key = key.replace(_NUMBER_MARK, text, 1)
            holes.numbers[text] = NumberHole(number, text)
        return key.replace(_CALLEE_MARK, _SYMBOL_HOLE), holes


def form_text_of(key: str) -> tuple[str, list[str], str | None]:
    """The parts of the form text of a statement's key: the key, the types and the symbol that it calls."""
    callee = None
    if "call @" in key and (match := _CALLEE.search(key)) is not None:
        key, callee = f"{key[: match.start()]}{_CALLEE_MARK}{key[match.end() :]}", match[0]
    texts = _TYPES.split(key)
    numbers: dict[str, int] = {}
    for index in range(1, len(texts), 2):
        texts[index] = f"\0{numbers.setdefault(texts[index], len(numbers))}\0"
    return "".join(texts), list(numbers), callee


def statement_of(key: str) -> str:
    """A statement with this key."""
    first, *others = key.split("\n")
    return first + "".join([f"%{number}{text}" for number, text in enumerate(others)])


class OpenScope(Scope):
    """A scope in which each name that is used has the expected type."""

    __slots__ = ()

    def use(self, name: str, offset: int, type: Type, parser: AsmParser) -> Value:
        return ForwardValue(type, offset, UnknownLoc())


class OpenOpParser(OpAsmParser):
    """Parses an operation with number holes, each of which it removes from `numbers`."""

    __slots__ = ("numbers",)

    numbers: dict[str, NumberHole]

    def integer(self, bits: int = 64) -> int:
        match = _NUMBER_HOLE.match(self.text, self.skip_trivia())
        if match is None or not self.numbers:
            return super().integer(bits)
        hole = self.numbers.pop(match[0], None)
        if hole is None or bits != 64:
            raise HoleInspected
        self.position = match.end()
        return cast(int, hole)


class StatementForm:
    """The template of all statements of a form, and what their signatures have in common.

    `is_printed` tells whether statements of the form are printed as they are written.
    """

    __slots__ = (
        "_callee",
        "_constants",
        "_lists",
        "_operands",
        "_results",
        "_signature",
        "_template",
        "is_printed",
    )

    def __init__(
        self, statement: Statement, hole_count: int, lists: Sequence[DenseArray], is_printed: bool
    ) -> None:
        self._template, self._signature = statement
        self._lists = lists
        self.is_printed = is_printed
        # The name of the attribute that refers to the callee.
        self._callee = _callee_name(self._signature.attributes)
        # Take the types of operands and results from those of the holes and `_constants`.
        self._constants: list[Type] = []
        self._operands = self._picker(self._signature.operand_types, hole_count)
        self._results = self._picker(self._signature.result_types, hole_count)

    @property
    def statement(self) -> Statement:
        """The statement with holes."""
        return self._template, self._signature

    def _picker(self, types: Sequence[Type], hole_count: int) -> Callable[[list[Type]], tuple[Type, ...]]:
        indices = []
        for type in types:
            if isinstance(type, Hole):
                indices.append(type.number)
            else:
                indices.append(hole_count + len(self._constants))
                self._constants.append(type)
        if len(indices) > 1:
            return cast(Callable[[list[Type]], tuple[Type, ...]], itemgetter(*indices))
        return lambda types: tuple([types[index] for index in indices])

    def filled(self, key: str, types: list[Type], callee: str | None, numbers: Sequence[str]) -> Statement:
        """The statement with this key: these types and numbers are in its holes, and it calls this symbol."""
        form = self._signature
        attributes = form.attributes
        if callee is not None:
            attributes = attributes.with_entry(self._callee, SymbolRef(callee, ()))
        if numbers:
            attributes = self._with_numbers(attributes, list(map(int, numbers)))
        if self._constants:
            types += self._constants
        signature = OpSignature(
            form.op_class, form.name, attributes, self._operands(types), self._results(types)
        )
        cache = signature.cache
        if not numbers:
            cache[FORM] = form
        if self.is_printed:
            cache[FORMAT] = _format(key)
        return self._template, signature

    def _with_numbers(self, attributes: DictAttr, numbers: list[int]) -> DictAttr:
        entries: list[tuple[str, Attribute]] = []
        for name, value in attributes.entries:
            if value in self._lists:
                assert isinstance(value, DenseArray)
                filled = [n if type(n) is int else numbers[cast(NumberHole, n).number] for n in value.values]
                entries.append((name, DenseArray(value.element, tuple(filled))))
            else:
                entries.append((name, value))
        return DictAttr(tuple(entries))


def form_of(statement: Statement, text: FormText, key: str) -> StatementForm | None:
    """The form of a statement with holes, whose key is `key`.

    None if a hole is more than the type of an operand or result, or the element of a dense array.
    """
    template, signature = statement
    count = len(template.groups)
    after_results = text.key.split("\n", count)[count]
    if template.location_offset > len(_OPERAND_OR_MARK.split(after_results, 1)[0]):
        # The offset depends on the length of a type.
        return None
    types = [
        item for item in (*signature.operand_types, *signature.result_types) if not isinstance(item, Hole)
    ]
    if any(map(_has_hole, (signature.attributes, template.attributes, *types))):
        return None
    if text.callee is not None and not _callee_name(signature.attributes):
        return None
    holes: dict[Interned, str] = {
        hole: _HOLE_TEXT.format(number) for number, hole in enumerate(HOLES[: len(text.types)])
    }
    # The printer inserts attributes at an offset that is the same for all statements of the form.
    has_same_start = not template.attributes and text.callee is None
    arrays = [value for _, value in signature.attributes.entries if isinstance(value, DenseArray)]
    lists = [array for array in arrays if any(type(value) is not int for value in array.values)]
    if sum(type(value) is not int for array in lists for value in array.values) != len(text.numbers):
        return None
    try:
        is_printed = has_same_start and format_of_signature(signature, EMPTY_DICT, holes) == _format(key)
    except HoleInspected:
        is_printed = False
    return StatementForm(statement, len(text.types), lists, is_printed)


def _format(key: str) -> str:
    """A key as a format string for SSA names."""
    return key.replace("%", "%%").replace("\n", "%s")


def _callee_name(attributes: DictAttr) -> str:
    """The name of the attribute that refers to the symbol hole; empty if there is none."""
    hole = SymbolRef(_SYMBOL_HOLE, ())
    return next((name for name, value in attributes.entries if value is hole), "")


def _has_hole(attribute: Attribute) -> bool:
    return any(isinstance(nested, Hole) for nested in nested_attributes(attribute))


class TemplateSettings(NamedTuple):
    """What templates depend on, apart from their text and the dialects that it names."""

    release: Release
    allows_unregistered: bool
    default_dialect: str


# How many sources, and how many statements of a source.
_KEPT_SOURCES, _KEPT_STATEMENTS = 8, 4096


class _Kept(NamedTuple):
    """The templates of an earlier source."""

    settings: TemplateSettings
    dialects: dict[str, Dialect | None]
    statements: dict[str, Statement]
    forms: dict[str, StatementForm]


# The last one is that of the last source, or has been used in it. The tuple is replaced, because threads may
# parse at once.
_kept: list[tuple[_Kept, ...]] = [()]
# Without aliases and resources. VHLO is upgraded if its dialect is used.
_INDEPENDENT = constant_pattern(r"(?!.*(?:vhlo|loc\(|_resource))(?:[^#!]++|[#!][a-z_]\w*+\.)*+", re.DOTALL)

# Parses the statement with a key and these holes; None if it has no template.
ParseWithHoles = Callable[[str, Holes], Statement | None]

# How many statements of a form with number holes are parsed in full. Most numbers are equal in many
# statements, in which they need no holes, and making a form takes as long as parsing three statements.
_FIRST_STATEMENTS = 8


class StatementTemplates:
    """The templates of statements under one default dialect.

    `by_key` has those of `statement_cache.key_of`, and those of constants by the key that they share.
    """

    def __init__(
        self, attribute_parser: AttributeParser, dialects: DialectTable, settings: TemplateSettings | None
    ) -> None:
        self.by_key: dict[str, Statement] = {}
        self._attribute_parser = attribute_parser
        self._dialects = dialects
        self._settings = settings
        self._earlier = [
            kept
            for kept in reversed(_kept[0])
            if kept.settings == settings and dialects.would_load(kept.dialects)
        ]
        self._used: list[_Kept] = []
        # The forms that have occurred more than once, None for those without a template; and how often the
        # others have occurred.
        self._forms: dict[str, StatementForm | None] = {}
        self._new_forms: dict[str, int] = {}
        # The keys of both that earlier sources had.
        self._from_earlier: set[str] = set()

    def add(self, key: str, statement: Statement, end: int) -> None:
        """Adds a statement that ends at an offset."""
        self.by_key[key] = statement
        constant = split_value(key)
        if constant is not None and is_constant(statement[1], self._value(constant.literal, end)):
            self.by_key[constant.key] = statement

    def keep(self) -> None:
        """Keeps the templates for the next sources."""
        if self._settings is None or len(self.by_key) > _KEPT_STATEMENTS:
            return
        used = {id(kept) for kept in self._used}
        sources = [kept for kept in _kept[0] if id(kept) not in used] + self._used
        new = _Kept(
            self._settings,
            self._dialects.loaded(),
            {key: text for key, text in self.by_key.items() if self._is_kept(key, text)},
            {k: form for k, form in self._forms.items() if form and self._is_kept(k, form.statement)},
        )
        if new.statements or new.forms:
            sources.append(new)
        _kept[0] = tuple(sources[-_KEPT_SOURCES:])

    def _is_kept(self, key: str, statement: Statement) -> bool:
        """Whether a template is new, and depends on its own text alone. Implied regions have a parser."""
        template, signature = statement
        is_plain = template.add_implied_regions is None and bool(signature.op_class.name)
        return is_plain and key not in self._from_earlier and _INDEPENDENT.fullmatch(key) is not None

    def derived(self, key: str, end: int, parse: ParseWithHoles) -> Statement | None:
        """The statement with this key that ends at an offset, made from another one.

        That is a constant with another value, or a statement of the same form. None if there is none.
        """
        if key.endswith("{"):
            # No statement ends with its first line.
            return None
        statement = self._of_earlier(key)
        if statement is None and "dense<" in key:
            statement = self._of_constant(key, end)
        if statement is None:
            statement = self._of_form(key, parse)
        if statement is not None:
            self.by_key[key] = statement
        return statement

    def _of_earlier(self, key: str) -> Statement | None:
        """The statement with this key in an earlier source."""
        for kept in self._earlier:
            if (statement := kept.statements.get(key)) is not None:
                self._use(key, kept)
                return statement
        return None

    def _use(self, key: str, kept: _Kept) -> None:
        self._from_earlier.add(key)
        if not any(used is kept for used in self._used):
            self._used.append(kept)

    def _of_form(self, key: str, parse: ParseWithHoles) -> Statement | None:
        form_key, texts, callee = form_text_of(key)
        if not texts:
            return None
        form = self._forms.get(form_key)
        numbers: Sequence[str] = ()
        if form is None:
            text = FormText(form_key, texts, callee)
            form = self._form(text, parse, 1)
            if form is None and (open_text := text.without_numbers()) is not None:
                form, numbers = self._form(open_text, parse, _FIRST_STATEMENTS), open_text.numbers
            if form is None:
                return None
        types = self._attribute_parser.plain_types(texts)
        return None if None in types else form.filled(key, cast(list[Type], types), callee, numbers)

    def _form(self, text: FormText, parse: ParseWithHoles, first: int) -> StatementForm | None:
        """The form of a statement, None if it has none, or is one of the first ones: many forms are rare."""
        key, forms = text.key, self._forms
        form = forms.get(key)
        if form is None and key not in forms:
            for kept in self._earlier:
                if (form := kept.forms.get(key)) is not None:
                    self._use(key, kept)
                    forms[key] = form
                    return form
            count = self._new_forms[key] = self._new_forms.get(key, 0) + 1
            if count > first:
                form = forms[key] = self._new_form(text, parse)
        return form

    def _new_form(self, text: FormText, parse: ParseWithHoles) -> StatementForm | None:
        with_holes = text.with_holes()
        statement = None if with_holes is None else parse(*with_holes)
        return None if with_holes is None or statement is None else form_of(statement, text, with_holes[0])

    def _of_constant(self, key: str, end: int) -> Statement | None:
        constant = split_value(key)
        if constant is None:
            return None
        statement = self.by_key.get(constant.key) or self._of_earlier(constant.key)
        if statement is None:
            return None
        value = self._value(constant.literal, end)
        return None if value is None else (statement[0], with_value(statement[1], value))

    def _value(self, literal: str, end: int) -> DenseElements | None:
        """The value of a literal that ends at an offset.

        None if there is an error in it, which the full parser reports.
        """
        try:
            value = self._attribute_parser.attribute(literal, end - len(literal))
        except DiagnosticError:
            return None
        return value if isinstance(value, DenseElements) else None
