"""The type constraints of stablehlo operations, and the bounds of dynamic dimensions.

Only a dynamic dimension can have a bound. `DYNAMIC` denotes a missing bound.

A constraint is named after its element types; `QUANTIZED` alone means per-tensor quantized, and `TENSOR` has
any element type except per-axis quantized types. The description of a constraint appears in diagnostics and
is composed as in StableHLO: "ranked tensor of bool or 2/4/8/16/32/64-bit integer values".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from sdyopt.base.diagnostics.diagnostic import DiagnosticError
from sdyopt.mlir.asm.parser.asm_parser import AsmParser
from sdyopt.mlir.asm.printer.attribute_printer import AttributePrinter
from sdyopt.mlir.dialects.quant import QuantizedType, UniformQuantized, UniformQuantizedPerAxis
from sdyopt.mlir.dialects.stablehlo.dialect import quoted, stablehlo
from sdyopt.mlir.ir.attribute import Attribute
from sdyopt.mlir.ir.traits import TypeConstraint
from sdyopt.mlir.ir.types import (
    DYNAMIC,
    F32,
    F64,
    I1,
    I32,
    INDEX,
    UI32,
    ComplexType,
    FloatType,
    IntegerType,
    MemRefType,
    RankedTensor,
    ShapedType,
    Signedness,
    TupleType,
    Type,
    UnrankedTensor,
)


class Bounds(Attribute):
    """`#stablehlo.bounds<8, ?>`: the encoding of a tensor type with bounded dimensions."""

    bounds: tuple[int, ...]
    dialect = "stablehlo"


def bounds_of(type: Type) -> tuple[int, ...]:
    """The bounds in a tensor type's encoding; empty if it has none."""
    encoding = type.encoding if isinstance(type, RankedTensor) else None
    return encoding.bounds if isinstance(encoding, Bounds) else ()


def verify_bounds(encoding: Attribute, type: RankedTensor) -> str | None:
    """The error message for a tensor type with invalid bounds, or None."""
    if not isinstance(encoding, Bounds):
        return None
    bounds = encoding.bounds
    if len(bounds) != type.rank:
        return f"Bounds length is {len(bounds)}, expected to be equal to rank({type.rank}) of the tensor "
    for index, (bound, size) in enumerate(zip(bounds, type.shape, strict=True)):
        if bound != DYNAMIC and size != DYNAMIC:
            return (
                f"Static dimension {index} cannot have a bound, use ShapedType::kDynamic to indicate a "
                "missing bound in tensor "
            )
    return None


stablehlo.verify_encoding = verify_bounds


def encoding_with(encoding: Attribute | None, bounds: Sequence[int]) -> Attribute | None:
    """The encoding of an inferred result type, from its bounds and the encoding of an operand.

    Empty `bounds` mean that the operands have no bounds: the operand's encoding is kept. If all bounds are
    missing, the result has no encoding.
    """
    if not bounds:
        return encoding
    if all(bound == DYNAMIC for bound in bounds):
        return None
    return (type(encoding) if isinstance(encoding, Bounds) else Bounds)(tuple(bounds))


def has_one_bounded_dimension(type: RankedTensor) -> bool:
    """Whether exactly one dimension is dynamic and it has a bound."""
    bounded = sum(bound != DYNAMIC for bound in bounds_of(type))
    return bounded == 1 and type.shape.count(DYNAMIC) == 1


def parse_dimension_size(parser: AsmParser) -> int:
    """Parses an integer, or `?` as `DYNAMIC`."""
    return DYNAMIC if parser.accept("?") else parser.integer()


def print_dimension_size(size: int) -> str:
    """The size, or `?` if dynamic."""
    return "?" if size == DYNAMIC else str(size)


@stablehlo.attribute("bounds")
def parse(parser: AsmParser) -> Attribute:
    return Bounds(tuple(parser.comma_list(lambda: parse_dimension_size(parser), "<", ">")))


@stablehlo.attribute("type_extensions")
def parse_type_extensions(parser: AsmParser) -> Attribute:
    """Parses `<bounds = [8, ?]>`, the older syntax, which is never printed."""
    parser.expect("<")
    parser.expect("bounds")
    parser.expect("=")
    bounds = parser.comma_list(lambda: parse_dimension_size(parser), "[", "]")
    parser.expect(">")
    return Bounds(tuple(bounds))


@stablehlo.printer(Bounds)
def _print(attribute: Bounds, attribute_printer: AttributePrinter) -> str:
    return f"bounds<{', '.join(map(print_dimension_size, attribute.bounds))}>"


# --- Types ------------------------------------------------------------------------------


class TokenType(Type):
    """`!stablehlo.token`: orders operations with side effects."""

    dialect = "stablehlo"


class FutureType(Type):
    """`!stablehlo.future<…>`: the pending results of an asynchronous operation."""

    types: tuple[Type, ...]
    dialect = "stablehlo"


TOKEN_TYPE = TokenType()


@stablehlo.type("token")
def parse_token(parser: AsmParser) -> Type:
    return TOKEN_TYPE


@stablehlo.printer(TokenType)
def print_token(type: TokenType, attribute_printer: AttributePrinter) -> str:
    return "token"


@stablehlo.type("future")
def parse_future(parser: AsmParser) -> Type:
    offset = parser.skip_trivia()
    parser.expect("<")
    try:
        types = parser.comma_list(parser.type)
    except DiagnosticError as error:
        owner = "StableHLO_Future parameter 'types' which is to be a `::llvm::ArrayRef<::mlir::Type>`"
        raise error.then(parser.error(f"failed to parse {owner}")) from None
    parser.expect(">")
    for type in types:
        if not isinstance(type, RankedTensor):
            raise parser.error(f"future element type must be a ranked tensor, but got {quoted(type)}", offset)
    return FutureType(tuple(types))


@stablehlo.printer(FutureType)
def print_future(type: FutureType, attribute_printer: AttributePrinter) -> str:
    return f"future<{', '.join(attribute_printer.type(t) for t in type.types)}>"


# --- Element types ----------------------------------------------------------------------

Accepts = Callable[[Type], bool]

_INTEGER_WIDTHS = (2, 4, 8, 16, 32, 64)
_QUANTIZED_WIDTHS = (2, 4, 8, 16, 32)
_FLOAT_NAMES = (
    *("f4E2M1FN", "f6E2M3FN", "f6E3M2FN", "f8E3M4", "f8E4M3", "f8E4M3FN", "f8E4M3FNUZ"),
    *("f8E4M3B11FNUZ", "f8E5M2", "f8E5M2FNUZ", "f8E8M0FNU", "f16", "f32", "f64", "bf16"),
)
_SIGNED = frozenset(IntegerType(width, Signedness.SIGNLESS) for width in _INTEGER_WIDTHS)
_UNSIGNED = frozenset(IntegerType(width, Signedness.UNSIGNED) for width in _INTEGER_WIDTHS)
_INTEGERS = _SIGNED | _UNSIGNED
_FLOATS = frozenset(FloatType(name) for name in _FLOAT_NAMES)
_COMPLEX = frozenset((ComplexType(F32), ComplexType(F64)))


def _quantized(cls: type[QuantizedType]) -> Accepts:
    """Accepts types of `cls` with integer storage, other than `si`, and zero points in the storage range."""

    def accepts(type: Type) -> bool:
        return (
            isinstance(type, cls)
            and isinstance(type.storage, IntegerType)
            and type.storage.signedness is not Signedness.SIGNED
            and type.storage.width in _QUANTIZED_WIDTHS
            and all(type.minimum <= zero_point <= type.maximum for zero_point in type.all_zero_points)
        )

    return accepts


C = TypeVar("C", bound=Type)

SIGNED = TypeConstraint[Type]("2/4/8/16/32/64-bit signless integer", _SIGNED.__contains__)
UINT = TypeConstraint[Type]("2/4/8/16/32/64-bit unsigned integer", _UNSIGNED.__contains__)
INT = TypeConstraint[Type]("2/4/8/16/32/64-bit integer", _INTEGERS.__contains__)
PRED = TypeConstraint[Type]("bool", lambda type: type is I1)
FLOAT = TypeConstraint[Type]("4/6/8/16/32/64-bit float", _FLOATS.__contains__)
FLOAT_32_64 = TypeConstraint[Type]("32/64-bit float", lambda type: type is F32 or type is F64)
COMPLEX = TypeConstraint[Type]("complex type with 32/64-bit float elements", _COMPLEX.__contains__)
QUANTIZED = TypeConstraint[Type]("per-tensor integer quantized", _quantized(UniformQuantized))
PER_AXIS_QUANTIZED = TypeConstraint[Type]("per-axis integer quantized", _quantized(UniformQuantizedPerAxis))
DIMENSION = TypeConstraint[Type](
    "index or 2/4/8/16/32/64-bit integer", lambda type: type is INDEX or type in _INTEGERS
)
I32_ELEMENT = TypeConstraint[Type]("32-bit signless integer", lambda type: type is I32)
UI32_ELEMENT = TypeConstraint[Type]("32-bit unsigned integer", lambda type: type is UI32)
ANY_INTEGER = TypeConstraint[IntegerType]("integer", lambda type: isinstance(type, IntegerType))
INDEX_ELEMENT = TypeConstraint[Type]("index", lambda type: type is INDEX)


# --- Tensor constraints -----------------------------------------------------------------


def any_of(*constraints: TypeConstraint[C]) -> TypeConstraint[C]:
    """The union of type constraints."""
    tests = [constraint.accepts for constraint in constraints]

    def accepts(type: Type) -> bool:
        for test in tests:  # noqa: SIM110  a generator is slower
            if test(type):
                return True
        return False

    return TypeConstraint[C](" or ".join(constraint.description for constraint in constraints), accepts)


def tensor_of(
    *elements: TypeConstraint[Type],
    kind: str = "ranked tensor",
    predicate: Callable[[RankedTensor], bool] | None = None,
) -> TypeConstraint[RankedTensor]:
    """Ranked tensors of these element types that satisfy `predicate`; `kind` starts the description."""
    element = any_of(*elements)
    has_element = element.accepts

    def accepts(type: Type) -> bool:
        return (
            isinstance(type, RankedTensor)
            and has_element(type.element)
            and (predicate is None or predicate(type))
        )

    return TypeConstraint[RankedTensor](f"{kind} of {element.description} values", accepts)


def shaped_of(
    kind: str, classes: type | tuple[type, ...], element: TypeConstraint[Type]
) -> TypeConstraint[ShapedType]:
    """Types of these classes with this element type and valid scales; `kind` starts the description."""

    def accepts(type: Type) -> bool:
        return (
            isinstance(type, classes)
            and isinstance(type, ShapedType)
            and element.accepts(type.element)
            and has_valid_quantized_dimension(type)
        )

    return TypeConstraint[ShapedType](f"{kind} of {element.description} values", accepts)


def _nested_tuple_of(*leaves: TypeConstraint[Type]) -> TypeConstraint[TupleType]:
    leaf = any_of(*leaves)

    def are_leaves(type: Type) -> bool:
        return all(map(are_leaves, type.types)) if isinstance(type, TupleType) else leaf.accepts(type)

    return TypeConstraint[TupleType](
        f"nested tuple with any combination of {leaf.description} values",
        lambda type: isinstance(type, TupleType) and are_leaves(type),
    )


def has_valid_quantized_dimension(type: Type) -> bool:
    """Whether a per-axis quantized tensor has its quantization dimension, with one scale per index.

    True for all other types.
    """
    element = type.element if isinstance(type, RankedTensor) else None
    if not isinstance(element, UniformQuantizedPerAxis):
        return True
    assert isinstance(type, RankedTensor)
    axis = element.axis
    return axis < type.rank and type.shape[axis] in (DYNAMIC, len(element.scales))


def _is_static(type: RankedTensor) -> bool:
    return DYNAMIC not in type.shape


def _is_static_and_valid(type: RankedTensor) -> bool:
    return DYNAMIC not in type.shape and has_valid_quantized_dimension(type)


def _is_static_or_bounded(type: RankedTensor) -> bool:
    is_sized = DYNAMIC not in type.shape or has_one_bounded_dimension(type)
    return is_sized and has_valid_quantized_dimension(type)


def _has_rank(rank: int) -> Callable[[RankedTensor], bool]:
    return lambda type: len(type.shape) == rank


def _is_static_with_rank(rank: int) -> Callable[[RankedTensor], bool]:
    return lambda type: len(type.shape) == rank and DYNAMIC not in type.shape


_NON_QUANTIZED = (FLOAT, PRED, INT, COMPLEX)
_ALL_BUT_PER_AXIS_QUANTIZED = (*_NON_QUANTIZED, QUANTIZED)
_ALL = (*_ALL_BUT_PER_AXIS_QUANTIZED, PER_AXIS_QUANTIZED)

TENSOR = tensor_of(*_ALL_BUT_PER_AXIS_QUANTIZED)
TENSOR_OR_PER_AXIS_QUANTIZED_TENSOR = tensor_of(*_ALL, predicate=has_valid_quantized_dimension)
NON_QUANTIZED_TENSOR = tensor_of(*_NON_QUANTIZED)
INT_TENSOR = tensor_of(INT)
FLOAT_TENSOR = tensor_of(FLOAT)
FLOAT_32_64_TENSOR = tensor_of(FLOAT_32_64)
PRED_TENSOR = tensor_of(PRED)
COMPLEX_TENSOR = tensor_of(COMPLEX)
PRED_OR_INT_TENSOR = tensor_of(PRED, INT)
INT_OR_FLOAT_TENSOR = tensor_of(INT, FLOAT)
PRED_INT_OR_FLOAT_TENSOR = tensor_of(PRED, INT, FLOAT)
FLOAT_OR_COMPLEX_TENSOR = tensor_of(FLOAT, COMPLEX)
FLOAT_OR_QUANTIZED_TENSOR = tensor_of(FLOAT, QUANTIZED)
FLOAT_COMPLEX_OR_QUANTIZED_TENSOR = tensor_of(FLOAT, COMPLEX, QUANTIZED)
INT_FLOAT_COMPLEX_OR_QUANTIZED_TENSOR = tensor_of(INT, FLOAT, COMPLEX, QUANTIZED)
SIGNED_FLOAT_COMPLEX_OR_QUANTIZED_TENSOR = tensor_of(SIGNED, FLOAT, COMPLEX, QUANTIZED)
SIGNED_FLOAT_OR_QUANTIZED_TENSOR = tensor_of(SIGNED, FLOAT, QUANTIZED)
FLOAT_PER_TENSOR_OR_PER_AXIS_QUANTIZED_TENSOR = tensor_of(
    FLOAT, QUANTIZED, PER_AXIS_QUANTIZED, predicate=has_valid_quantized_dimension
)
PER_TENSOR_OR_PER_AXIS_QUANTIZED_TENSOR = tensor_of(
    QUANTIZED, PER_AXIS_QUANTIZED, predicate=has_valid_quantized_dimension
)
PER_AXIS_QUANTIZED_TENSOR = tensor_of(PER_AXIS_QUANTIZED, predicate=has_valid_quantized_dimension)
UI32_TENSOR = tensor_of(UI32_ELEMENT)
I32_TENSOR = tensor_of(I32_ELEMENT)
INTEGER_OR_INDEX_TENSOR = tensor_of(ANY_INTEGER, INDEX_ELEMENT)

_0D = _has_rank(0)
SCALAR_TENSOR = tensor_of(*_ALL_BUT_PER_AXIS_QUANTIZED, kind="0D tensor", predicate=_0D)
SCALAR_INT_TENSOR = tensor_of(INT, kind="0D tensor", predicate=_0D)
SCALAR_PRED_INT_OR_FLOAT_TENSOR = tensor_of(PRED, INT, FLOAT, kind="0D tensor", predicate=_0D)
FLOAT_OR_QUANTIZED_VECTOR = tensor_of(FLOAT, QUANTIZED, kind="1D tensor", predicate=_has_rank(1))
DIMENSION_TENSOR = tensor_of(DIMENSION, kind="1D tensor", predicate=_has_rank(1))
STATIC_DIMENSION_TENSOR = tensor_of(
    DIMENSION, kind="statically shaped 1-dimensional tensor", predicate=_is_static_with_rank(1)
)
STATIC_1D_INT_TENSOR = tensor_of(
    INT, kind="statically shaped 1-dimensional integer tensor", predicate=_is_static_with_rank(1)
)
STATIC_2D_INT_TENSOR = tensor_of(
    INT, kind="statically shaped 2-dimensional integer tensor", predicate=_is_static_with_rank(2)
)

_STATIC = "statically shaped tensor"
STATIC_TENSOR = tensor_of(*_ALL_BUT_PER_AXIS_QUANTIZED, kind=_STATIC, predicate=_is_static)
STATIC_TENSOR_OR_PER_AXIS_QUANTIZED_TENSOR = tensor_of(*_ALL, kind=_STATIC, predicate=_is_static_and_valid)
STATIC_INT_OR_FLOAT_TENSOR = tensor_of(INT, FLOAT, kind=_STATIC, predicate=_is_static)
STATIC_INT_FLOAT_COMPLEX_OR_QUANTIZED_TENSOR = tensor_of(
    INT, FLOAT, COMPLEX, QUANTIZED, kind=_STATIC, predicate=_is_static
)
STATIC_OR_BOUNDED_TENSOR = tensor_of(
    *_ALL,
    kind="statically shaped or single bounded dimension tensor",
    predicate=_is_static_or_bounded,
)

# --- Tokens, tuples, buffers ------------------------------------------------------------

TOKEN = TypeConstraint[TokenType]("token", lambda type: type is TOKEN_TYPE)
FUTURE = TypeConstraint[FutureType]("future", lambda type: isinstance(type, FutureType))
BUFFER = shaped_of("memref", MemRefType, any_of(*_ALL_BUT_PER_AXIS_QUANTIZED))
ANY_TENSOR = shaped_of("tensor", (RankedTensor, UnrankedTensor), any_of(*_ALL))
TUPLE = _nested_tuple_of(TENSOR, BUFFER, PER_AXIS_QUANTIZED_TENSOR, TOKEN)
TENSOR_OR_TOKEN = any_of(TENSOR, TOKEN)
TENSOR_OR_PER_AXIS_QUANTIZED_TENSOR_OR_TOKEN = any_of(TENSOR, PER_AXIS_QUANTIZED_TENSOR, TOKEN)
TENSOR_OR_PER_AXIS_QUANTIZED_TENSOR_OR_TOKEN_OR_BUFFER = any_of(
    TENSOR_OR_PER_AXIS_QUANTIZED_TENSOR_OR_TOKEN, BUFFER
)
TENSOR_OR_PER_AXIS_QUANTIZED_TENSOR_OR_TOKEN_OR_TUPLE = any_of(
    TENSOR, PER_AXIS_QUANTIZED_TENSOR, TOKEN, TUPLE
)
TENSOR_OR_PER_AXIS_QUANTIZED_TENSOR_OR_TOKEN_OR_TUPLE_OR_BUFFER = any_of(
    TENSOR_OR_PER_AXIS_QUANTIZED_TENSOR_OR_TOKEN_OR_TUPLE, BUFFER
)
STATIC_TENSOR_OR_PER_AXIS_QUANTIZED_TENSOR_OR_TOKEN = any_of(
    STATIC_TENSOR, STATIC_TENSOR_OR_PER_AXIS_QUANTIZED_TENSOR, TOKEN
)
CUSTOM_CALL_TUPLE = _nested_tuple_of(ANY_TENSOR, BUFFER, TOKEN)
CUSTOM_CALL_VALUE = any_of(ANY_TENSOR, BUFFER, TOKEN, CUSTOM_CALL_TUPLE, FUTURE)


def tuple_element_type(type: Type, indices: Sequence[int]) -> Type | None:
    """The type at these indices of nested tuples, or None if there is none."""
    for index in indices:
        if not isinstance(type, TupleType) or not 0 <= index < len(type.types):
            return None
        type = type.types[index]
    return type
