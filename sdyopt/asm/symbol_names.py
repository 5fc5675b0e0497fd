"""Symbol names as text: `@name`, or `@"any text"` if the name is not a bare identifier."""

from __future__ import annotations

from sdyopt.asm.format.assembly_format import Attr, Custom
from sdyopt.asm.format.print_template import Template
from sdyopt.asm.lexical import is_bare_id
from sdyopt.asm.parser.op_parser import OpAsmParser
from sdyopt.asm.strings import escape
from sdyopt.ir.attribute import Attribute, DictAttr, StringAttr, SymbolRef
from sdyopt.ir.op_signature import OpSignature
from sdyopt.ir.symbols import SYM_NAME
from sdyopt.ir.types import NONE


def symbol_text(name: str) -> str:
    """`@name`, quoted if necessary; MLIR's `@<<INVALID EMPTY SYMBOL>>` if the name is empty."""
    if not name:
        return "@<<INVALID EMPTY SYMBOL>>"
    return f"@{name}" if is_bare_id(name) else f'@"{escape(name)}"'


def symbol_name_directive(is_optional: bool = False) -> Custom:
    """The format element of the operation's symbol name."""

    def parse(op_parser: OpAsmParser) -> None:
        name = op_parser.accept_symbol() if is_optional else op_parser.symbol()
        if name is not None:
            op_parser.attributes[SYM_NAME] = StringAttr(name)

    def write(out: Template, signature: OpSignature, attributes: DictAttr) -> None:
        name = signature.attributes.get(SYM_NAME)
        if isinstance(name, StringAttr):
            out.word(symbol_text(name.value))

    return Custom(parse, write, elides=[SYM_NAME])


def symbol_reference_directive(field: str) -> Attr:
    """The format element of an attribute that is a flat symbol reference."""

    def parse(op_parser: OpAsmParser) -> Attribute:
        offset = op_parser.skip_trivia()
        reference = op_parser.attribute(NONE)
        if not isinstance(reference, SymbolRef) or reference.nested:
            raise op_parser.error("invalid kind of attribute specified", offset)
        return reference

    return Attr(field, parse, lambda reference, attribute_printer: symbol_text(reference.root))
