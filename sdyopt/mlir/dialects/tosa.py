"""The subset of the tosa dialect of LLVM 19 that programs of the mesh dialect use."""

from __future__ import annotations

from sdyopt.mlir.asm.format.assembly_format import assembly
from sdyopt.mlir.dialects.arith.dialect import Constants, FoldResult, splat_of
from sdyopt.mlir.dialects.quant import QuantizedType
from sdyopt.mlir.ir.builtin_attributes import FloatAttr, IntegerAttr
from sdyopt.mlir.ir.cse import constant_value
from sdyopt.mlir.ir.dialect import Dialect
from sdyopt.mlir.ir.op_fields import attr, operand, optional_attr, result
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.shape_traits import SAME_ELEMENT_TYPE
from sdyopt.mlir.ir.traits import (
    BOOL_ATTR,
    COMMUTATIVE,
    I64_ATTR,
    PURE,
    Trait,
    TypeConstraint,
    any_attribute,
    of_class,
)
from sdyopt.mlir.ir.types import (
    DYNAMIC,
    I1,
    FloatType,
    IntegerType,
    RankedTensor,
    Type,
    UnrankedTensor,
)

tosa = Dialect("tosa", is_partial=True)
tosa.is_inlinable = True


def _is_number(type: Type) -> bool:
    return isinstance(type, IntegerType | FloatType | QuantizedType)


NUMBER_TENSOR = TypeConstraint[Type](
    "tensor of number values",
    lambda type: isinstance(type, RankedTensor | UnrankedTensor) and _is_number(type.element),
)
BOOLEAN_TENSOR = TypeConstraint[Type](
    "tensor of 1-bit signless integer values",
    lambda type: isinstance(type, RankedTensor | UnrankedTensor) and type.element is I1,
)
TENSOR_3D = TypeConstraint[RankedTensor](
    "3-d tensor", lambda type: isinstance(type, RankedTensor) and type.rank == 3 and _is_number(type.element)
)


def _broadcast(one: tuple[int, ...], other: tuple[int, ...]) -> tuple[int, ...] | None:
    """The shape that two shapes are broadcast to; None if they are incompatible."""
    rank = max(len(one), len(other))
    sizes = zip((1,) * (rank - len(one)) + one, (1,) * (rank - len(other)) + other, strict=True)
    shape = []
    for a, b in sizes:
        if DYNAMIC in (a, b):
            other_size = b if a == DYNAMIC else a
            shape.append(other_size if other_size > 1 else DYNAMIC)
        elif a == b or 1 in (a, b):
            shape.append(b if a == 1 else a)
        else:
            return None
    return tuple(shape)


def _is_compatible(result: tuple[int, ...], broadcast: tuple[int, ...]) -> bool:
    """Whether the shape of a result matches the broadcast shape; a dynamic size matches any size."""
    if len(result) != len(broadcast):
        return False
    pairs = zip(result, broadcast, strict=True)
    return all(size == expected or DYNAMIC in (size, expected) for size, expected in pairs)


def _check_broadcast(signature: OpSignature) -> None:
    ranked = [type for type in signature.operand_types if isinstance(type, RankedTensor)]
    if len(ranked) != len(signature.operand_types) or not ranked:
        return
    shape: tuple[int, ...] | None = ranked[0].shape
    for type in ranked[1:]:
        shape = None if shape is None else _broadcast(shape, type.shape)
    if shape is None:
        raise signature.op_error("operands don't have broadcast-compatible shapes")
    for result_type in signature.result_types:
        if isinstance(result_type, RankedTensor) and not _is_compatible(result_type.shape, shape):
            raise signature.op_error(
                f"result type '{_text(result_type.shape)}' not broadcast compatible with broadcasted "
                f"operands's shapes '{_text(shape)}'"
            )


def _text(shape: tuple[int, ...]) -> str:
    return "x".join("?" if size == DYNAMIC else str(size) for size in shape)


BROADCASTABLE = Trait("results-broadcastable-shape", _check_broadcast)


_FLOAT = of_class(FloatAttr, "arbitrary float attribute")
_I8 = of_class(IntegerAttr, "8-bit signless integer attribute")


class ElementwiseOp(Op):
    """Base of the elementwise operations."""


class UnaryOp(ElementwiseOp):
    """Base of the unary operations."""

    input1 = operand(NUMBER_TENSOR)
    output = result(NUMBER_TENSOR)

    assembly = assembly("$input1 attr-dict `:` custom<OperandsAndResultsType>")


class BinaryOp(ElementwiseOp):
    """Base of the binary operations."""

    input1 = operand(NUMBER_TENSOR)
    input2 = operand(NUMBER_TENSOR)
    output = result(NUMBER_TENSOR)

    assembly = assembly("$input1 `,` $input2 attr-dict `:` custom<OperandsAndResultsType>")


class ComparisonOp(BinaryOp):
    """Base of the comparisons."""

    output = result(BOOLEAN_TENSOR)


def _define(base: type[Op], mnemonic: str, summary: str, *traits: Trait) -> None:
    """Registers an operation that adds nothing to its base class."""
    name = "".join(part.capitalize() for part in mnemonic.split("_")) + "Op"
    op_class = type(name, (base,), {"__slots__": (), "__doc__": summary, "__module__": __name__})
    tosa.op(mnemonic, *traits)(op_class)


_SAME = (PURE, BROADCASTABLE, SAME_ELEMENT_TYPE)
_SAME_COMMUTATIVE = (*_SAME, COMMUTATIVE)

_define(UnaryOp, "bitwise_not", "Inverts every bit.", *_SAME)
_define(UnaryOp, "ceil", "Rounds up to an integer.", *_SAME)
_define(UnaryOp, "clz", "The number of leading zero bits.", *_SAME)
_define(UnaryOp, "floor", "Rounds down to an integer.", *_SAME)
_define(UnaryOp, "logical_not", "Logical not.", *_SAME)
_define(UnaryOp, "reciprocal", "One over the value.", *_SAME)
_define(UnaryOp, "rsqrt", "One over the square root.", *_SAME)
_define(UnaryOp, "sigmoid", "The logistic function.", *_SAME)
_define(UnaryOp, "tanh", "The hyperbolic tangent.", *_SAME)

_define(BinaryOp, "add", "The sum.", *_SAME_COMMUTATIVE)
_define(BinaryOp, "bitwise_and", "Bitwise and.", *_SAME_COMMUTATIVE)
_define(BinaryOp, "bitwise_or", "Bitwise or.", *_SAME_COMMUTATIVE)
_define(BinaryOp, "bitwise_xor", "Bitwise exclusive or.", *_SAME_COMMUTATIVE)
_define(BinaryOp, "int_div", "The integer quotient.", *_SAME)
_define(BinaryOp, "logical_and", "Logical and.", *_SAME_COMMUTATIVE)
_define(BinaryOp, "logical_left_shift", "Shifts bits left.", *_SAME)
_define(BinaryOp, "logical_or", "Logical or.", *_SAME_COMMUTATIVE)
_define(BinaryOp, "logical_right_shift", "Shifts bits right, filling with zeros.", *_SAME)
_define(BinaryOp, "logical_xor", "Logical exclusive or.", *_SAME_COMMUTATIVE)
_define(BinaryOp, "maximum", "The greater value.", *_SAME_COMMUTATIVE)
_define(BinaryOp, "minimum", "The smaller value.", *_SAME_COMMUTATIVE)
_define(BinaryOp, "pow", "The first operand to the power of the second.", *_SAME)
_define(BinaryOp, "sub", "The difference.", *_SAME)

_define(ComparisonOp, "equal", "Whether the operands are equal.", PURE, BROADCASTABLE, COMMUTATIVE)
_define(ComparisonOp, "greater", "Whether the first operand is greater.", PURE, BROADCASTABLE)
_define(ComparisonOp, "greater_equal", "Whether the first operand is greater or equal.", PURE, BROADCASTABLE)


@tosa.op("abs", *_SAME)
class AbsOp(UnaryOp):
    """The absolute value."""

    def fold(self, constants: Constants) -> FoldResult:
        return [self.input1] if isinstance(self.input1.defining_op, AbsOp) else None


@tosa.op("exp", *_SAME)
class ExpOp(UnaryOp):
    """The exponential function."""

    def fold(self, constants: Constants) -> FoldResult:
        inner = self.input1.defining_op
        return [inner.input1] if isinstance(inner, LogOp) else None


@tosa.op("log", *_SAME)
class LogOp(UnaryOp):
    """The natural logarithm."""

    def fold(self, constants: Constants) -> FoldResult:
        inner = self.input1.defining_op
        return [inner.input1] if isinstance(inner, ExpOp) else None


@tosa.op("negate", *_SAME)
class NegateOp(UnaryOp):
    """The negation."""

    quantization_info = optional_attr(any_attribute("Attribute for UnaryOp quantization information."))

    def fold(self, constants: Constants) -> FoldResult:
        inner = self.input1.defining_op
        return [inner.input1] if isinstance(inner, NegateOp) else None


@tosa.op("arithmetic_right_shift", *_SAME)
class ArithmeticRightShiftOp(BinaryOp):
    """Shifts bits right, filling with the sign bit."""

    round = attr(BOOL_ATTR)


@tosa.op("mul", PURE, BROADCASTABLE, COMMUTATIVE)
class MulOp(BinaryOp):
    """The product, shifted right by `shift` bits."""

    shift = attr(_I8)


@tosa.op("clamp", PURE, SAME_ELEMENT_TYPE)
class ClampOp(ElementwiseOp):
    """Clamps values to a range."""

    input = operand(NUMBER_TENSOR)
    min_int = attr(I64_ATTR)
    max_int = attr(I64_ATTR)
    min_fp = attr(_FLOAT)
    max_fp = attr(_FLOAT)
    output = result(NUMBER_TENSOR)

    assembly = assembly("$input attr-dict `:` custom<OperandsAndResultsType>")


@tosa.op("select", PURE, BROADCASTABLE)
class SelectOp(ElementwiseOp):
    """Selects one of two values by a condition."""

    pred = operand(BOOLEAN_TENSOR)
    on_true = operand(NUMBER_TENSOR)
    on_false = operand(NUMBER_TENSOR)
    output = result(NUMBER_TENSOR)

    assembly = assembly("$pred `,` $on_true `,` $on_false attr-dict `:` custom<OperandsAndResultsType>")

    def fold(self, constants: Constants) -> FoldResult:
        if self.on_true is self.on_false:
            return [self.on_true]
        condition = splat_of(constants[0])
        return None if condition is None else [self.on_true if condition else self.on_false]


@tosa.op("matmul", PURE)
class MatMulOp(Op):
    """The batched matrix product: `c[n, h, w]` is the sum over `k` of `a[n, h, k] * b[n, k, w]`."""

    a = operand(TENSOR_3D)
    b = operand(TENSOR_3D)
    quantization_info = optional_attr(any_attribute("Attribute for MatMulOp quantization information."))
    c = result(TENSOR_3D)

    assembly = assembly("$a `,` $b attr-dict `:` custom<OperandsAndResultsType>")


# --- LLVM 21 --------------------------------------------------------------------------------------

# The dialect of LLVM 21, selected with its mesh dialect: zero points are operands.
tosa21 = Dialect("tosa", is_partial=True)
tosa21.is_inlinable = True


@tosa21.op("negate", PURE)
class Negate21Op(Op):
    """The negation, of numbers with zero points."""

    input1 = operand(NUMBER_TENSOR)
    input1_zp = operand(NUMBER_TENSOR)
    output_zp = operand(NUMBER_TENSOR)
    output = result(NUMBER_TENSOR)

    assembly = assembly("operands attr-dict `:` functional-type(operands, results)")

    def fold(self, constants: Constants) -> FoldResult:
        inner = self.input1.defining_op
        if not isinstance(inner, Negate21Op):
            return None
        values = (*self.operands[1:], *inner.operands[1:])
        points = [splat_of(constant_value(value.defining_op)) for value in values]
        return [inner.input1] if all(point == 0 for point in points) else None


@tosa21.op("matmul", PURE)
class MatMul21Op(Op):
    """The batched matrix product of `MatMulOp`, of numbers with zero points."""

    a = operand(TENSOR_3D)
    b = operand(TENSOR_3D)
    a_zp = operand(NUMBER_TENSOR)
    b_zp = operand(NUMBER_TENSOR)
    c = result(TENSOR_3D)

    assembly = assembly("operands attr-dict `:` functional-type(operands, results)")


for _mnemonic, _op_class in tosa.ops.items():
    tosa21.ops.setdefault(_mnemonic, _op_class)

DIALECT = tosa
