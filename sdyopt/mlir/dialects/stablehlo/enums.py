"""Enum attributes, such as `#stablehlo<precision HIGH>`.

    @enumeration(stablehlo, "precision", "DEFAULT", "HIGH", "HIGHEST")
    class Precision(EnumAttr): ...

The class is named like StableHLO's C++ enum, because parse errors contain this name.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar, Self, TypeVar

from sdyopt.mlir.asm.format.attribute_format import CustomParameters, attribute_format, register_format
from sdyopt.mlir.asm.parser.asm_parser import WRONG_KEYWORD, AsmParser
from sdyopt.mlir.asm.printer.attribute_printer import AttributePrinter
from sdyopt.mlir.ir.attribute import Attribute
from sdyopt.mlir.ir.dialect import Dialect


class EnumAttr(Attribute):
    """Base of enum attributes; `value` is one of `cases`."""

    value: str
    mnemonic: ClassVar[str] = ""
    cases: ClassVar[tuple[str, ...]] = ()

    @classmethod
    def parse_value(cls, parser: AsmParser) -> Self:
        """Parses the bare keyword or string. Raises a DiagnosticError if it is not one of `cases`."""
        offset = parser.skip_trivia()
        word = parser.accept_keyword()
        if word is None:
            word = parser.accept_string()
        if word in cls.cases:
            return cls(word)
        cpp_name = f"::mlir::{cls.dialect}::{cls.__name__}"
        error = (
            parser.error_at_next_token("expected valid keyword or string")
            if word is None
            else parser.error(WRONG_KEYWORD(what=cpp_name, names=", ".join(cls.cases)), offset)
        )
        owner = f"{_PREFIXES.get(cls.dialect, cls.dialect)}_{cls.__name__}Attr"
        raise error.then(
            parser.error(f"failed to parse {owner} parameter 'value' which is to be a `{cpp_name}`")
        )


C = TypeVar("C", bound=type[EnumAttr])

# The names of these dialects in C++; those of plugins have none.
_PREFIXES = {"stablehlo": "StableHLO", "chlo": "CHLO", "mhlo": "MHLO"}


def enumeration(dialect: Dialect, mnemonic: str, *cases: str, is_bracketed: bool = False) -> Callable[[C], C]:
    """Class decorator: registers parser and printer of an enum attribute with these cases.

    The syntax is `#dialect<mnemonic CASE>`, or `#dialect.mnemonic<CASE>` if `is_bracketed`.
    """

    def register(cls: C) -> C:
        cls.dialect, cls.mnemonic, cls.cases = dialect.name, mnemonic, cases

        def parse(parser: AsmParser) -> Attribute:
            if is_bracketed:
                parser.expect("<")
            attribute = cls.parse_value(parser)
            if is_bracketed:
                parser.expect(">")
            return attribute

        def print(attribute: EnumAttr, attribute_printer: AttributePrinter) -> str:
            return f"{mnemonic}<{attribute.value}>" if is_bracketed else f"{mnemonic} {attribute.value}"

        # As a part of another attribute or an operation, it is the bare value.
        value = CustomParameters(
            lambda parser: [cls.parse_value(parser).value], lambda attribute: attribute.value
        )
        register_format(cls, attribute_format(value))
        dialect.attribute(mnemonic)(parse)
        dialect.printer(cls)(print)
        return cls

    return register
