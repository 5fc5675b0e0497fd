"""Forms of statements: their keys without tensor types.

A program with few equal statements still has few forms, such as `%2 = stablehlo.add %0, %1 : T`. The second
statement of a form is parsed with holes in place of its types, which yields a template with holes. A further
statement of this form costs one look-up for each of its types.

A hole is a tensor type that has no shape and no element type: reading them raises `HoleInspected`. So a
parser that accepts holes only passes types on, and treats all tensor types alike. A statement has no form if
its parser rejects holes, or if there is a hole in an attribute or in another type.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import islice
from typing import Any, NoReturn, cast

from sdyopt.base.diagnostics.location import UnknownLoc
from sdyopt.base.interning import field_names
from sdyopt.mlir.asm.parser.asm_parser import AsmParser
from sdyopt.mlir.asm.parser.ssa_scope import ForwardValue, Scope
from sdyopt.mlir.asm.parser.statement_cache import StatementTemplate
from sdyopt.mlir.ir.attribute import Attribute, nested_attributes
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.types import RankedTensor, Type
from sdyopt.mlir.ir.value import Value

# Splits a key into text, type, text, type, …, text.
_TYPES = re.compile(r"(?<![\w$.!#-])(tensor<(?:(?:[0-9]{1,18}|\?)x)*+[a-z][A-Za-z0-9]{0,12}>)(?![>=])")
_OPERAND_OR_TYPE = re.compile("[\n\0]")
# A statement with more types has no form.
_MAX_TYPES = 200
# No type has such a text, and none has a shorter one.
_HOLE_TEXT = "tensor<{}>"


class HoleInspected(Exception):
    """The shape or the element type of a hole has been read."""


class Hole(RankedTensor):
    """A tensor type without shape, element type and encoding. It is equal only to itself."""

    __slots__ = ()


def _inspected(hole: Hole) -> NoReturn:
    raise HoleInspected


for _name in field_names(RankedTensor):
    setattr(Hole, _name, property(_inspected))

# All holes, with their numbers.
_holes: dict[Type, int] = {}


def _first_holes(count: int) -> list[Type]:
    while len(_holes) < count:
        _holes[object.__new__(cast(Any, Hole))] = len(_holes)
    return list(islice(_holes, count))


class FormText:
    """A key without its types, and these types."""

    __slots__ = ("_texts", "key", "types")

    def __init__(self, texts: list[str]) -> None:
        self._texts = texts
        # No program has a NUL character.
        self.key = "\0".join(texts[::2])
        self.types = texts[1::2]

    def with_holes(self) -> tuple[str, dict[str, Type]]:
        """A statement of this form with holes and other SSA names, and the holes by their text."""
        texts = self._texts.copy()
        holes = {_HOLE_TEXT.format(_holes[hole]): hole for hole in _first_holes(len(self.types))}
        texts[1::2] = holes
        first, *others = "".join(texts).split("\n")
        return first + "".join([f"%{number}{text}" for number, text in enumerate(others)]), holes


def form_text_of(key: str) -> FormText | None:
    """The form text of a statement's key; None if it has no types, or one in a string."""
    texts = _TYPES.split(key, _MAX_TYPES)
    if not 1 < len(texts) <= 2 * _MAX_TYPES:
        return None
    if '"' in key and ("\\" in key or any(text.count('"') % 2 for text in texts)):
        return None
    return FormText(texts)


class OpenScope(Scope):
    """A scope in which each name that is used has the expected type."""

    __slots__ = ()

    def use(self, name: str, offset: int, type: Type, parser: AsmParser) -> Value:
        return ForwardValue(type, offset, UnknownLoc())


class StatementForm:
    """The common parts of the templates of all statements of a form."""

    __slots__ = ("_operands", "_results", "_template")

    def __init__(self, template: StatementTemplate) -> None:
        self._template = template
        # The types of operands and results, or the number of the hole.
        self._operands = _numbers(template.signature.operand_types)
        self._results = _numbers(template.signature.result_types)

    def filled(self, texts: Sequence[str], parse: Callable[[str], Type | None]) -> StatementTemplate | None:
        """The template with the types of these texts in the holes; None if `parse` does not know one."""
        types: list[Any] = []
        for text in texts:
            if (type := parse(text)) is None:
                return None
            types.append(type)
        signature = self._template.signature
        return self._template.with_signature(
            OpSignature(
                signature.op_class,
                signature.name,
                signature.attributes,
                tuple([types[each] if each.__class__ is int else each for each in self._operands]),
                tuple([types[each] if each.__class__ is int else each for each in self._results]),
            ),
        )


def form_of(template: StatementTemplate, text: FormText) -> StatementForm | None:
    """The form of a template with holes; None if a hole is more than the type of an operand or result."""
    signature, count = template.signature, len(template.groups)
    after_results = text.key.split("\n", count)[count]
    if template.location_offset > len(_OPERAND_OR_TYPE.split(after_results, 1)[0]):
        # The offset depends on the length of a type.
        return None
    types = [
        type for type in (*signature.operand_types, *signature.result_types) if not isinstance(type, Hole)
    ]
    if any(map(_has_hole, (signature.attributes, template.attributes, *types))):
        return None
    return StatementForm(template)


def _numbers(types: Sequence[Type]) -> tuple[Any, ...]:
    return tuple([_holes.get(type, type) for type in types])


def _has_hole(attribute: Attribute) -> bool:
    return any(isinstance(nested, Hole) for nested in nested_attributes(attribute))
