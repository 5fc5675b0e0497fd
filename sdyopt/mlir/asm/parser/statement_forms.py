"""Forms of statements: their keys without tensor types.

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

from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import cast

from sdyopt.base.dataclasses import NamedTuple
from sdyopt.base.diagnostics.location import UnknownLoc
from sdyopt.base.interning import Interned
from sdyopt.base.patterns import constant_pattern
from sdyopt.mlir.asm.lexical import BARE_ID
from sdyopt.mlir.asm.parser.asm_parser import AsmParser
from sdyopt.mlir.asm.parser.op_parser import OpAsmParser
from sdyopt.mlir.asm.parser.ssa_scope import ForwardValue, Scope
from sdyopt.mlir.asm.parser.statement_cache import Statement
from sdyopt.mlir.asm.printer.printed_line import format_of_signature
from sdyopt.mlir.ir.attribute import EMPTY_DICT, Attribute, DictAttr, SymbolRef, nested_attributes
from sdyopt.mlir.ir.builtin_attributes import DenseArray
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
