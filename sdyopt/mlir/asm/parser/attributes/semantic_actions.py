"""Semantic actions of the grammar, and the context that they run in.

    @action("complex")
    def _complex(context, parts, offsets): ...

builds the value of a rule `-> complex` from its parts (the values of its symbols) and the offsets of these.
The value of a token is its text.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, TypeVar

from sdyopt.base.diagnostics.diagnostic import DiagnosticError
from sdyopt.base.diagnostics.location import Source
from sdyopt.base.patterns import constant_pattern
from sdyopt.mlir.asm.lexical import BARE_ID, WHITESPACE
from sdyopt.mlir.asm.parser.asm_parser import AttributeTextParser, end_of_previous
from sdyopt.mlir.asm.printer.attribute_printer import DiagnosticAttributePrinter
from sdyopt.mlir.ir.affine import AffineExpr
from sdyopt.mlir.ir.attribute import Attribute, DistinctAttr
from sdyopt.mlir.ir.dialect import DialectTable
from sdyopt.mlir.ir.types import NONE, Type

# The values of the symbols of a rule: the text of a token, or the result of an action.
Parts = list[Any]
Action = Callable[["ActionContext", Parts, list[int]], Any]
A = TypeVar("A", bound=Action)

_actions: dict[str, Action] = {}

# The name of a dialect attribute before its value.
_NAMED_VALUE = constant_pattern(rf"(?<![\w$.])({BARE_ID}){WHITESPACE}={WHITESPACE}\Z")
_LONGEST_NAME = 100


def action(name: str) -> Callable[[A], A]:
    """Decorator: the action of the grammar rules `-> name`."""
    assert name not in _actions, f"two actions for {name}"

    def register(function: A) -> A:
        _actions[name] = function
        return function

    return register


class Environment(Protocol):
    """The dialects and aliases that attributes may refer to."""

    dialects: DialectTable
    allow_unregistered: bool

    def find_attribute_alias(self, name: str) -> Attribute | None: ...
    def attribute_alias(self, name: str, offset: int) -> Attribute: ...
    def type_alias(self, name: str, offset: int) -> Type: ...


class ActionContext:
    """State and error functions that are shared by the actions of one source."""

    def __init__(
        self, source: Source, environment: Environment, attribute_parser: AttributeTextParser
    ) -> None:
        self.source = source
        self.environment = environment
        self.attribute_parser = attribute_parser
        self.attribute_printer = DiagnosticAttributePrinter()
        self.distinct: dict[int, DistinctAttr] = {}
        # The offset of the token after the parts of the current action.
        self.next_offset = 0
        # The offset of the colon before the type of a literal.
        self.colon_offset = 0
        # The type of the current `array<type: …>`.
        self.array_type: Type = NONE
        # The type of the whole attribute, if its text has none.
        self.expected_type: Type | None = None
        # The names of dimensions and symbols in the current affine map or set.
        self.affine_names: dict[str, AffineExpr] = {}

    def build(self, action: str, parts: Parts, offsets: list[int]) -> Any:
        return _actions[action](self, parts, offsets)

    def error(self, message: str, offset: int) -> DiagnosticError:
        """An error at an offset, or at the last character of the source if the offset is its end."""
        last = max(0, len(self.source.text) - 1)
        return DiagnosticError.at(self.source.location(min(offset, last)), message)

    def token_error(self, message: str, offset: int) -> DiagnosticError:
        """An error about an invalid token."""
        return DiagnosticError.at(self.source.location(offset), message)

    def error_at_next_token(self, message: str) -> DiagnosticError:
        """An error at the next token."""
        return self.error(message, self.next_offset)

    def error_with_type(self, message: str, type: Type, offset: int) -> DiagnosticError:
        """An error with a type at the end of its message."""
        return self.error(f"{message}'{self.attribute_printer.type(type)}'", offset)

    def wrong_token_error(self, message: str, offset: int) -> DiagnosticError:
        """An error about an unexpected token at `offset`, located at the end of the token before it."""
        last = max(0, len(self.source.text) - 1)
        error = self.error(message, end_of_previous(self.source.text, min(offset, last)))
        return error.help(hint) if (hint := self._hint(offset)) else error

    def _hint(self, offset: int) -> str:
        """The dialect's help for an attribute whose value wrongly starts with `<`; empty if there is none."""
        text = self.source.text
        name = _NAMED_VALUE.search(text, max(0, offset - _LONGEST_NAME), offset)
        if name is None or not text.startswith("<", offset):
            return ""
        dialect = self.environment.dialects.find(name[1].partition(".")[0])
        return "" if dialect is None else dialect.hints.get(name[1], "")


# --- Lists ---------------------------------------------------------------------------------------


@action("empty_list")
def _empty_list(_context: ActionContext, _parts: Parts, _offsets: list[int]) -> Parts:
    return []


@action("singleton")
def _singleton(_context: ActionContext, parts: Parts, _offsets: list[int]) -> Parts:
    return [parts[0]]


@action("append")
def _append(_context: ActionContext, parts: Parts, _offsets: list[int]) -> Parts:
    elements: Parts = parts[0]
    elements.append(parts[-1])
    return elements


@action("bracketed")
def _bracketed(_context: ActionContext, parts: Parts, _offsets: list[int]) -> Any:
    return parts[1]


@action("singleton_with_offset")
def _singleton_with_offset(_context: ActionContext, parts: Parts, offsets: list[int]) -> Parts:
    return [(parts[0], offsets[0])]


@action("append_with_offset")
def _append_with_offset(_context: ActionContext, parts: Parts, offsets: list[int]) -> Parts:
    elements: Parts = parts[0]
    elements.append((parts[2], offsets[2]))
    return elements
