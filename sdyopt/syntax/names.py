"""How symbol names are written: `@name`, or `@"any text"` where it is no identifier."""

from __future__ import annotations

import re

from sdyopt.ir.attribute import Attribute, DictAttr, StringAttr, SymbolRef
from sdyopt.ir.op_signature import OpSignature
from sdyopt.ir.symbols import SYM_NAME
from sdyopt.ir.types import NONE
from sdyopt.syntax.assembly import Attr, Custom
from sdyopt.syntax.statement import Statement
from sdyopt.syntax.strings import escape
from sdyopt.syntax.template import Template

_IDENTIFIER = re.compile(r"[A-Za-z_][\w$.]*", re.ASCII)


def symbol_text(name: str) -> str:
    """`@name`, quoted if need be."""
    if not name:
        return "@<<INVALID EMPTY SYMBOL>>"
    return f"@{name}" if _IDENTIFIER.fullmatch(name) else f'@"{escape(name)}"'


def symbol_name_piece(is_optional: bool = False) -> Custom:
    """The operation's own symbol name."""

    def parse(statement: Statement) -> None:
        name = statement.accept_symbol() if is_optional else statement.symbol()
        if name is not None:
            statement.attributes[SYM_NAME] = StringAttr(name)

    def write(out: Template, signature: OpSignature, attributes: DictAttr) -> None:
        name = signature.attributes.get(SYM_NAME)
        if isinstance(name, StringAttr):
            out.word(symbol_text(name.value))

    return Custom(parse, write, elides=[SYM_NAME])


def symbol_reference_piece(field: str) -> Attr:
    """An attribute that refers to a symbol by its plain name."""

    def parse(statement: Statement) -> Attribute:
        offset = statement.skip()
        found = statement.attribute(NONE)
        if not isinstance(found, SymbolRef) or found.nested:
            raise statement.error("invalid kind of attribute specified", offset)
        return found

    return Attr(field, parse, lambda reference, speller: symbol_text(reference.root))
