"""Dialect attributes and types, and aliases.

In `#namespace.mnemonic<…>` and `#namespace<mnemonic…>`, a registered dialect parses the body after the
mnemonic. The body of an unregistered dialect is stored as text.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TypeVar

from sdyopt.base.dataclasses import dataclass
from sdyopt.base.diagnostics.diagnostic import DiagnosticError
from sdyopt.mlir.asm.lexical import BARE_ID
from sdyopt.mlir.asm.parser.asm_parser import KEYWORD, AsmParser
from sdyopt.mlir.asm.parser.attributes.semantic_actions import ActionContext, Parts, action
from sdyopt.mlir.asm.parser.extent_scanner import body_extent
from sdyopt.mlir.ir.attribute import Attribute, OpaqueAttr, Type
from sdyopt.mlir.ir.dialect import Dialect
from sdyopt.mlir.ir.types import NONE, OpaqueType

T = TypeVar("T")

# `#dialect.mnemonic` before `<`.
_PRETTY_ATTRIBUTE = re.compile(rf"#([A-Za-z$_][A-Za-z0-9_$-]*)\.({BARE_ID})(?=<)")

_UNREGISTERED = (
    " created with unregistered dialect. If this is intended, please call "
    "allowUnregisteredDialects() on the MLIRContext, or use -allow-unregistered-dialect with the MLIR "
    "opt tool used"
)


def parse_dialect_attribute(context: ActionContext, text: str, offset: int) -> Attribute | None:
    """Parses `#dialect.mnemonic<…>` with the dialect's parser; None if it needs the grammar.

    Raises what the dialect's parser raises.
    """
    match = _PRETTY_ATTRIBUTE.match(text)
    # The grammar does not treat `//` in the body as a comment, but the dialect's parser does.
    if match is None or text[-1] != ">" or "//" in text:
        return None
    dialect = context.environment.dialects.find(match[1])
    parse = None if dialect is None else dialect.attribute_parsers.get(match[2])
    if parse is None:
        return None
    try:
        return parse(AsmParser(context.source, context.attribute_parser, offset + match.end()))
    except DiagnosticError:
        if body_extent(text, match.end()) != len(text):
            return None  # The brackets do not match, which is the error to report.
        raise


@dataclass(frozen=True, slots=True)
class DialectSymbol:
    """`#namespace.body` or `#namespace<body>`, or the same with `!`; an alias has no body.

    `offset` is that of the symbol or, for an alias, of its end, where MLIR reports that it is undefined.
    """

    namespace: str
    body: str | None
    offset: int
    body_offset: int

    def attribute_of(self, context: ActionContext, type: Type | None) -> Attribute:
        """The attribute of this symbol, which has a type if it is opaque."""
        dialect = context.environment.dialects.find(self.namespace)
        if self.body is None:
            return context.environment.attribute_alias(self.namespace, self.offset)
        if dialect is not None:
            return self._parse(context, dialect, dialect.attribute_parsers, "attribute")
        if not context.environment.allow_unregistered:
            text = (
                f'#"{self.namespace}"<"{self.body}"> : \'{context.attribute_printer.type(type or NONE)}\''
                " attribute"
            )
            raise context.error(text + _UNREGISTERED, self.body_offset)
        return OpaqueAttr(self.namespace, self.body, type)

    def as_type(self, context: ActionContext) -> Type:
        """The type of this symbol."""
        dialect = context.environment.dialects.find(self.namespace)
        if self.body is None:
            return context.environment.type_alias(self.namespace, self.offset)
        if dialect is not None:
            return self._parse(context, dialect, dialect.type_parsers, "type")
        if not context.environment.allow_unregistered:
            text = f'`!"{self.namespace}"<"{self.body}">` type'
            raise context.error(text + _UNREGISTERED, self.body_offset)
        return OpaqueType(self.namespace, self.body)

    def _parse(
        self, context: ActionContext, dialect: Dialect, parsers: dict[str, Callable[..., T]], kind: str
    ) -> T:
        if not parsers:
            message = f"dialect '{dialect.name}' provides no {kind} parsing hook"
            raise context.error(message, self.body_offset)
        parser = AsmParser(context.source, context.attribute_parser, self.body_offset)
        start = parser.skip_trivia()
        mnemonic = KEYWORD.match(parser.text, start)
        if mnemonic is None:
            raise parser.wrong_token_error("expected valid keyword")
        parse = parsers.get(mnemonic[1])
        if parse is None:
            message = dialect.unknown_attribute if kind == "attribute" else dialect.unknown_type
            raise context.error(message.format(mnemonic=mnemonic[1], dialect=dialect.name), start)
        parser.position = mnemonic.end()
        return parse(parser)


@action("bare_dialect_attribute")
@action("dialect_attribute")
def dialect_symbol(_context: ActionContext, parts: Parts, offsets: list[int]) -> DialectSymbol:
    """The symbol of `#name` or `!name` and the `<…>` after it: the namespace ends at the first dot."""
    namespace, dot, rest = parts[0][1:].partition(".")
    if not dot and len(parts) == 1:
        return DialectSymbol(namespace, None, offsets[0] + len(parts[0]), 0)
    if not dot:
        return DialectSymbol(namespace, parts[1], offsets[0], offsets[1] + 1)
    body = f"{rest}<{parts[1]}>" if len(parts) == 2 else rest
    return DialectSymbol(namespace, body, offsets[0], offsets[0] + len(namespace) + 2)


@action("bare_dialect_type")
@action("dialect_type")
def _dialect_type(context: ActionContext, parts: Parts, offsets: list[int]) -> Type:
    return dialect_symbol(context, parts, offsets).as_type(context)
