"""What operations may take for granted: `#arith.fastmath<nnan>`, `#arith.overflow<nsw>`."""

from __future__ import annotations

from typing import Any, ClassVar, TypeVar

from sdyopt.asm.format.assembly_format import Attr, Optional
from sdyopt.asm.parser.asm_parser import AsmParser
from sdyopt.asm.parser.op_parser import OpAsmParser
from sdyopt.dialects.arith.dialect import arith
from sdyopt.ir.attribute import Attribute
from sdyopt.ir.constraints import AttrKind, of_class


class Flags(Attribute):
    """A set of flags: bits, the names of which the subclass knows."""

    bits: int = 0

    dialect = "arith"
    mnemonic: ClassVar[str]
    cpp_type: ClassVar[str]
    cpp_parameter: ClassVar[str]
    separator: ClassVar[str]
    # In the order in which they are written; that of all flags comes last, if there is one.
    words: ClassVar[dict[str, int]]

    @property
    def text(self) -> str:
        """`<nnan,ninf>`."""
        for word, bits in self.words.items():
            if bits == self.bits:
                return f"<{word}>"
        single = [
            word for word, bits in self.words.items() if bits & self.bits == bits and bits.bit_count() == 1
        ]
        return f"<{self.separator.join(single)}>"


class FastMath(Flags):
    """What floating point arithmetic may assume or neglect."""

    mnemonic = "fastmath"
    cpp_type = "::mlir::arith::FastMathFlags"
    cpp_parameter = "Arith_FastMathAttr"
    separator = ","
    words: ClassVar = {
        "none": 0,
        "reassoc": 1,
        "nnan": 2,
        "ninf": 4,
        "nsz": 8,
        "arcp": 16,
        "contract": 32,
        "afn": 64,
        "fast": 127,
    }


class Overflow(Flags):
    """In which sense an integer operation does not overflow."""

    mnemonic = "overflow"
    cpp_type = "::mlir::arith::IntegerOverflowFlags"
    cpp_parameter = "Arith_IntegerOverflowAttr"
    separator = ", "
    words: ClassVar = {"none": 0, "nsw": 1, "nuw": 2}


NSW, NUW = Overflow.words["nsw"], Overflow.words["nuw"]
NO_FAST_MATH = FastMath(0)
NO_OVERFLOW = Overflow(0)
FAST_MATH: AttrKind[FastMath] = of_class(FastMath, "Floating point fast math flags")
OVERFLOW: AttrKind[Overflow] = of_class(Overflow, "Integer overflow arith flags")

F = TypeVar("F", bound=Flags)


def _read(parser: AsmParser, cls: type[F]) -> F:
    parser.expect("<")
    bits = 0
    while True:
        offset = parser.skip_trivia()
        word = parser.accept_word()
        if word not in cls.words:
            what = f"expected {cls.cpp_type} to be one of: {', '.join(cls.words)}"
            error = parser.error("expected valid keyword" if word is None else what, offset)
            parameter = f"failed to parse {cls.cpp_parameter} parameter 'value' which is to be a"
            raise error.then(parser.error(f"{parameter} `{cls.cpp_type}`", parser.skip_trivia()))
        bits |= cls.words[word]
        if not parser.accept(","):
            break
    parser.expect(">")
    return cls(bits)


@arith.attribute("fastmath")
def parse_fast_math(parser: AsmParser) -> FastMath:
    """Takes `<flag, …>`."""
    return _read(parser, FastMath)


@arith.attribute("overflow")
def parse_overflow(parser: AsmParser) -> Overflow:
    """Takes `<flag, …>`."""
    return _read(parser, Overflow)


@arith.printer(FastMath)
@arith.printer(Overflow)
def _print(flags: Flags, _attribute_printer: Any) -> str:
    return flags.mnemonic + flags.text


class _FlagsClause(Optional):
    """A keyword with the flags right behind it, unless none is set."""

    def __init__(self, keyword: str, field: str, attribute: str, cls: type[Flags]) -> None:
        def read(op_parser: OpAsmParser) -> Attribute:
            return _read(op_parser, cls)

        super().__init__(
            keyword, Attr(field, read, lambda flags, attribute_printer: flags.text), anchor=field
        )
        self.elides = (attribute,)

    def write(self, out: Any, signature: Any, attributes: Any) -> None:
        if self._is_present(signature):
            flags = getattr(signature, self.anchor)
            out.word(f"{flags.mnemonic}{flags.text}")


def fast_math_clause() -> Optional:
    """`fastmath<flags>`."""
    return _FlagsClause("fastmath", "fastmath", "fastmath", FastMath)


def overflow_clause() -> Optional:
    """`overflow<flags>`."""
    return _FlagsClause("overflow", "overflow_flags", "overflowFlags", Overflow)
