"""The arith dialect object, the type constraints of its operations, and their flags."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar, TypeVar

from sdyopt.mlir.asm.format.format_elements import FormatElement, declare_syntax, directive
from sdyopt.mlir.asm.format.print_template import Template
from sdyopt.mlir.asm.parser.asm_parser import WRONG_KEYWORD, AsmParser
from sdyopt.mlir.asm.parser.op_parser import OpAsmParser
from sdyopt.mlir.asm.printer.attribute_printer import AttributePrinter
from sdyopt.mlir.ir.attribute import Attribute, DictAttr
from sdyopt.mlir.ir.builtin_attributes import IntegerAttr, integer
from sdyopt.mlir.ir.constraints import AttrConstraint, TypeConstraint, of_class
from sdyopt.mlir.ir.dialect import Dialect
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.types import (
    I1,
    I32,
    FloatType,
    IndexType,
    IntegerType,
    MemRefType,
    ShapedType,
    Type,
    UnrankedMemRef,
)

arith = Dialect("arith", is_partial=True)
arith.is_inlinable = True


def _like(description: str, accepts: Callable[[Type], bool]) -> TypeConstraint[Type]:
    """Scalars that `accepts` accepts, and tensors and vectors of them."""

    def is_like(type: Type) -> bool:
        if isinstance(type, MemRefType | UnrankedMemRef):
            return False
        return accepts(type.element if isinstance(type, ShapedType) else type)

    return TypeConstraint[Type](f"{description}-like", is_like)


def _or_memref(like: TypeConstraint[Type], description: str) -> TypeConstraint[Type]:
    """The types that `like` accepts, and memrefs of their elements."""

    def accepts(type: Type) -> bool:
        return like.accepts(type.element if isinstance(type, MemRefType | UnrankedMemRef) else type)

    return TypeConstraint[Type](f"{like.description} or {description}", accepts)


INTEGER_LIKE = _like(
    "signless-integer",
    lambda type: isinstance(type, IndexType) or (isinstance(type, IntegerType) and type.is_signless),
)
FIXED_WIDTH_INTEGER_LIKE = _like(
    "signless-fixed-width-integer", lambda type: isinstance(type, IntegerType) and type.is_signless
)
FLOAT_LIKE = _like("floating-point", lambda type: isinstance(type, FloatType))
INTEGER_OR_MEMREF = _or_memref(INTEGER_LIKE, "memref of signless-integer")
BITS_OR_MEMREF = _or_memref(
    _like(
        "signless-integer-or-float",
        lambda type: isinstance(type, FloatType) or (isinstance(type, IntegerType) and type.is_signless),
    ),
    "memref of signless-integer or float",
)
BOOL_LIKE = _like("bool", lambda type: type is I1)


class Flags(Attribute):
    """A bit set of flags; the subclass names the bits."""

    bits: int = 0

    dialect = "arith"
    mnemonic: ClassVar[str]
    cpp_type: ClassVar[str]
    cpp_parameter: ClassVar[str]
    separator: ClassVar[str]
    # In printing order; a keyword for all flags together comes last.
    keywords: ClassVar[dict[str, int]]

    @property
    def text(self) -> str:
        """`<nnan,ninf>`."""
        for keyword, bits in self.keywords.items():
            if bits == self.bits:
                return f"<{keyword}>"
        single = [
            keyword
            for keyword, bits in self.keywords.items()
            if bits & self.bits == bits and bits.bit_count() == 1
        ]
        return f"<{self.separator.join(single)}>"


class FastMath(Flags):
    """Assumptions of floating-point optimizations (no NaNs, …), and allowed ones (reassociation, …)."""

    mnemonic = "fastmath"
    cpp_type = "::mlir::arith::FastMathFlags"
    cpp_parameter = "Arith_FastMathAttr"
    separator = ","
    keywords: ClassVar = {
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
    """Whether an integer operation cannot overflow as signed (`nsw`) or as unsigned (`nuw`)."""

    mnemonic = "overflow"
    cpp_type = "::mlir::arith::IntegerOverflowFlags"
    cpp_parameter = "Arith_IntegerOverflowAttr"
    separator = ", "
    keywords: ClassVar = {"none": 0, "nsw": 1, "nuw": 2}


NSW, NUW = Overflow.keywords["nsw"], Overflow.keywords["nuw"]
NO_FAST_MATH = FastMath(0)
NO_OVERFLOW = Overflow(0)
FAST_MATH: AttrConstraint[FastMath] = of_class(FastMath, "Floating point fast math flags")
OVERFLOW: AttrConstraint[Overflow] = of_class(Overflow, "Integer overflow arith flags")

# In the order of their numbers.
_ROUNDING_MODES = ("to_nearest_even", "downward", "upward", "toward_zero", "to_nearest_away")
_ROUNDING_MODE = "roundingmode"
NEAREST_EVEN = 0
ROUNDING_MODE = AttrConstraint[int](
    "Floating point rounding mode",
    lambda a: isinstance(a, IntegerAttr) and a.type is I32 and 0 <= a.value < len(_ROUNDING_MODES),
    lambda a: a.value,
)


@directive("RoundingMode")
class OptionalRoundingMode(FormatElement):
    """`upward` after the operands, or nothing."""

    def __init__(self, field: str) -> None:
        self.elides = (field,)

    def parse(self, op_parser: OpAsmParser) -> None:
        start = op_parser.position
        keyword = op_parser.accept_keyword()
        if keyword in _ROUNDING_MODES:
            op_parser.attributes[_ROUNDING_MODE] = integer(_ROUNDING_MODES.index(keyword), I32)
        else:
            op_parser.position = start

    def write(self, out: Template, signature: OpSignature, attributes: DictAttr) -> None:
        mode = signature.attributes.get(_ROUNDING_MODE)
        if isinstance(mode, IntegerAttr):
            out.word(_ROUNDING_MODES[mode.value])


F = TypeVar("F", bound=Flags)


def _parse(parser: AsmParser, cls: type[F]) -> F:
    parser.expect("<")
    bits = 0
    while True:
        offset = parser.skip_trivia()
        keyword = parser.accept_keyword()
        if keyword not in cls.keywords:
            expected = WRONG_KEYWORD(what=cls.cpp_type, names=", ".join(cls.keywords))
            error = parser.error("expected valid keyword" if keyword is None else expected, offset)
            parameter = f"failed to parse {cls.cpp_parameter} parameter 'value' which is to be a"
            raise error.then(parser.error(f"{parameter} `{cls.cpp_type}`", parser.skip_trivia()))
        bits |= cls.keywords[keyword]
        if not parser.accept(","):
            break
    parser.expect(">")
    return cls(bits)


@arith.attribute("fastmath")
def parse_fast_math(parser: AsmParser) -> FastMath:
    """Parses `<flag, …>`; raises on an unknown flag."""
    return _parse(parser, FastMath)


@arith.attribute("overflow")
def parse_overflow(parser: AsmParser) -> Overflow:
    """Parses `<flag, …>`; raises on an unknown flag."""
    return _parse(parser, Overflow)


@arith.printer(FastMath)
@arith.printer(Overflow)
def _print(flags: Flags, _attribute_printer: AttributePrinter) -> str:
    return flags.mnemonic + flags.text


declare_syntax(
    FAST_MATH, lambda parser: _parse(parser, FastMath), lambda flags, attribute_printer: flags.text
)
declare_syntax(OVERFLOW, lambda parser: _parse(parser, Overflow), lambda flags, attribute_printer: flags.text)
