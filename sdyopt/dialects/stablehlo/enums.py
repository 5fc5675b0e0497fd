"""Attributes that are one of a few words, such as `#stablehlo<precision HIGH>`.

    @enumeration(stablehlo, "precision", "DEFAULT", "HIGH", "HIGHEST")
    class Precision(EnumAttr): ...

The class's name is the reference's, which its messages mention.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Self, TypeVar

from sdyopt.asm.parser.asm_parser import AsmParser
from sdyopt.asm.printer.attribute_printer import AttributePrinter
from sdyopt.ir.attribute import Attribute
from sdyopt.ir.dialect import Dialect


class EnumAttr(Attribute):
    """One word of those in `cases`."""

    value: str
    mnemonic: ClassVar[str] = ""
    cases: ClassVar[tuple[str, ...]] = ()

    @classmethod
    def read(cls, parser: AsmParser) -> Self:
        """Reads the word alone."""
        offset = parser.skip_trivia()
        word = parser.accept_word()
        if word is None:
            word = parser.accept_string()
        if word in cls.cases:
            return cls(word)
        cpp_name = f"::mlir::{cls.dialect}::{cls.__name__}"
        error = (
            parser.error_at_next_token("expected valid keyword or string")
            if word is None
            else parser.error(f"expected {cpp_name} to be one of: {', '.join(cls.cases)}", offset)
        )
        owner = f"{_PREFIXES[cls.dialect]}_{cls.__name__}Attr"
        raise error.then(
            parser.error(f"failed to parse {owner} parameter 'value' which is to be a `{cpp_name}`")
        )


C = TypeVar("C", bound=type[EnumAttr])

_PREFIXES = {"stablehlo": "StableHLO", "chlo": "CHLO"}


def enumeration(dialect: Dialect, mnemonic: str, *cases: str, is_bracketed: bool = False) -> Callable[[C], C]:
    """Class decorator: what the words are, and how the attribute is written.

    That is `<mnemonic WORD>`, or `.mnemonic<WORD>` if it is bracketed.
    """

    def register(cls: C) -> C:
        cls.dialect, cls.mnemonic, cls.cases = dialect.name, mnemonic, cases

        def parse(parser: AsmParser) -> Attribute:
            if is_bracketed:
                parser.expect("<")
            found = cls.read(parser)
            if is_bracketed:
                parser.expect(">")
            return found

        def print(attribute: Any, attribute_printer: AttributePrinter) -> str:
            return f"{mnemonic}<{attribute.value}>" if is_bracketed else f"{mnemonic} {attribute.value}"

        dialect.attribute(mnemonic)(parse)
        dialect.printer(cls)(print)
        return cls

    return register
