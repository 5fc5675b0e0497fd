"""The arith dialect object, the type constraints of its operations, their flags, and constant folding."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from math import inf, isnan, nan
from typing import ClassVar, TypeVar, overload

from sdyopt.mlir.asm.format.format_elements import FormatElement, declare_syntax, directive
from sdyopt.mlir.asm.format.print_template import Template
from sdyopt.mlir.asm.parser.asm_parser import WRONG_KEYWORD, AsmParser
from sdyopt.mlir.asm.parser.op_parser import OpAsmParser
from sdyopt.mlir.asm.printer.attribute_printer import AttributePrinter
from sdyopt.mlir.ir.attribute import Attribute, DictAttr
from sdyopt.mlir.ir.builtin_attributes import (
    DenseElements,
    FloatAttr,
    IntegerAttr,
    dense,
    element_size,
    integer,
    integer_width,
    wrapped,
)
from sdyopt.mlir.ir.dialect import Dialect
from sdyopt.mlir.ir.floats import FloatFormat, decode, encode_double
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.traits import AttrConstraint, TypeConstraint, of_class
from sdyopt.mlir.ir.types import (
    I1,
    I32,
    FloatType,
    IndexType,
    IntegerType,
    MemRefType,
    RankedShapedType,
    RankedTensor,
    ShapedType,
    Type,
    UnrankedMemRef,
    UnrankedTensor,
    VectorType,
)
from sdyopt.mlir.ir.value import Value

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


# The constant value of each operand of an operation; None for operands that are not constant.
Constants = Sequence[Attribute | None]
# What `Op.fold` returns.
FoldResult = Sequence[Value | Attribute] | None

# An element as it is stored: the value of an integer, or the bits of a float.
Element = int

# Compute an element of the result from one element of each operand; None if the result is undefined.
ElementFunction = Callable[..., Element | None]
IntegerFunction = Callable[..., int | None]
FloatFunction = Callable[..., float | None]

# The formats that are folded. Rounding the result of double arithmetic gives their correctly rounded result.
_FORMATS_FOLDED_AS_DOUBLES = frozenset({"bf16", "f16", "f32", "f64", "tf32"})


def fold_integers(
    constants: Constants, compute: IntegerFunction, result_element: Type | None = None
) -> Attribute | None:
    """Applies `compute` to signed integers, with wraparound; an `i1` is 0 or 1.

    None if an operand is not constant, or an element of the result is undefined.
    """
    return _fold(constants, compute, result_element)


def fold_floats(constants: Constants, compute: FloatFunction) -> Attribute | None:
    """Applies `compute` to floats, converted to doubles.

    None if an operand is not constant, an element of the result is undefined, or the format is not folded.
    """

    def on_bits(format: FloatFormat) -> ElementFunction:
        def compute_bits(*bits: Element) -> Element | None:
            value = compute(*[decode_to_double(b, format) for b in bits])
            return None if value is None else encode(value, format)

        return compute_bits

    first = constants[0]
    type = element_type(first)
    if not isinstance(type, FloatType) or type.name not in _FORMATS_FOLDED_AS_DOUBLES:
        return None
    return _fold(constants, on_bits(type.format), None)


def _fold(constants: Constants, compute: ElementFunction, result_element: Type | None) -> Attribute | None:
    if all(isinstance(c, IntegerAttr | FloatAttr) for c in constants):
        numbers = [c.value if isinstance(c, IntegerAttr) else c.bits for c in constants]  # type: ignore[union-attr]
        value = compute(*numbers)
        type = result_element or element_type(constants[0])
        return None if value is None or type is None else scalar(value, type)
    tensors = [c for c in constants if isinstance(c, DenseElements)]
    if len(tensors) != len(constants):
        return None
    values = _compute_elements(tensors, compute)
    if values is None:
        return None
    type = tensors[0].type
    element = result_element or type.element
    size = element_size(element)
    mask = (1 << 8 * size) - 1
    data = b"".join([(value & mask).to_bytes(size, "little") for value in values])
    return dense(with_element(type, element), data)


def _compute_elements(tensors: list[DenseElements], compute: ElementFunction) -> list[Element] | None:
    if all(tensor.is_splat for tensor in tensors):
        operands = [elements(tensor)[:1] for tensor in tensors]
    else:
        operands = [elements(tensor, expanded=True) for tensor in tensors]
    values = [compute(*numbers) for numbers in zip(*operands, strict=True)]
    return None if None in values else values  # type: ignore[return-value]


def elements(tensor: DenseElements, expanded: bool = False) -> list[Element]:
    """The elements; only one element for a splat, unless `expanded`."""
    type = tensor.type.element
    size = element_size(type)
    data = tensor.expanded if expanded else tensor.data
    raw = [int.from_bytes(data[i : i + size], "little") for i in range(0, len(data), size)]
    if isinstance(type, IntegerType | IndexType):
        return [wrapped(value, type) for value in raw]
    return raw


def element_at(tensor: DenseElements, index: int) -> Element:
    """The element with a number in row-major order, which is 0 for a splat."""
    type = tensor.type.element
    size = element_size(type)
    value = int.from_bytes(tensor.data[index * size : (index + 1) * size], "little")
    return wrapped(value, type) if isinstance(type, IntegerType | IndexType) else value


def element_type(constant: Attribute | None) -> Type | None:
    """The type of a number, or the element type of a tensor; None for other attributes."""
    if isinstance(constant, IntegerAttr | FloatAttr):
        return constant.type
    return constant.type.element if isinstance(constant, DenseElements) else None


def scalar(value: Element, type: Type) -> Attribute:
    """The attribute of an integer or a float."""
    return FloatAttr(value, type) if isinstance(type, FloatType) else integer(value, type)


def splat_of(constant: Attribute | None) -> Element | None:
    """A scalar, or each element of a splat; None for other attributes."""
    if isinstance(constant, IntegerAttr):
        return constant.value
    if isinstance(constant, FloatAttr):
        return constant.bits
    if isinstance(constant, DenseElements) and constant.is_splat:
        return elements(constant)[0]
    return None


def float_of(constant: Attribute | None) -> float | None:
    """The value of a float, or of all elements of a float splat, as a double; None for other attributes."""
    bits, type = splat_of(constant), element_type(constant)
    if bits is None or not isinstance(type, FloatType):
        return None
    return decode_to_double(bits, type.format)


def splat(value: Element, type: Type) -> Attribute | None:
    """The integer `value`, or the splat of it; None unless the type is an integer or has a static shape."""
    if isinstance(type, IntegerType | IndexType):
        return integer(value, type)
    if not isinstance(type, RankedTensor | VectorType) or not type.has_static_shape:
        return None
    size = element_size(type.element)
    return dense(type, (value & ((1 << 8 * size) - 1)).to_bytes(size, "little"))


@overload
def with_element(type: RankedShapedType, element: Type) -> RankedShapedType: ...
@overload
def with_element(type: ShapedType, element: Type) -> ShapedType: ...
def with_element(type: ShapedType, element: Type) -> ShapedType:
    """A tensor or vector type with another element type."""
    if isinstance(type, VectorType):
        return VectorType(type.shape, element, type.scalable)
    if isinstance(type, RankedTensor):
        return RankedTensor(type.shape, element, type.encoding)
    return UnrankedTensor(element)


def unsigned(value: int, type: Type) -> int:
    """The unsigned integer with the bits of `value`."""
    assert isinstance(type, IntegerType | IndexType)
    return value & ((1 << integer_width(type)) - 1)


def signed(value: int, type: Type) -> int:
    """The signed integer of a stored `value`: an `i1` is stored as 0 or 1, and 1 means -1."""
    return -value if type is I1 else value


def decode_to_double(bits: Element, format: FloatFormat) -> float:
    """The number with these bits, as a double."""
    number = decode(bits, format)
    if number is None:
        mantissa = bits & ((1 << format.mantissa_bits) - 1)
        return nan if mantissa else (-inf if bits >> (format.width - 1) else inf)
    value = float(Fraction(number.significand) * Fraction(2) ** number.exponent)
    return -value if number.is_negative else value


def encode(value: float, format: FloatFormat) -> Element:
    """The bits of the number nearest to a double; those of the default quiet NaN for NaN."""
    if isnan(value):
        ones = ((1 << format.exponent_bits) - 1) << format.mantissa_bits
        return ones | 1 << (format.mantissa_bits - 1)
    return encode_double(value, format)
