"""Elementwise operations, whose operands are broadcast to the result shape."""

from __future__ import annotations

from sdyopt.mlir.asm.format.assembly_format import AttrDict, Operand, assembly
from sdyopt.mlir.asm.format.directives import OperandsAndResultsType
from sdyopt.mlir.dialects.arith.folding import Constants, FoldResult, splat_of
from sdyopt.mlir.dialects.tosa.dialect import BOOLEAN_TENSOR, BROADCASTABLE, NUMBER_TENSOR, tosa
from sdyopt.mlir.ir.attribute import Attribute
from sdyopt.mlir.ir.builtin_attributes import FloatAttr, IntegerAttr
from sdyopt.mlir.ir.constraints import BOOL_ATTR, I64_ATTR, of_class
from sdyopt.mlir.ir.op_fields import attr, operand, optional_attr, result
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.shape_traits import SAME_ELEMENT_TYPE
from sdyopt.mlir.ir.traits import COMMUTATIVE, PURE, Trait

_FLOAT = of_class(FloatAttr, "arbitrary float attribute")
_I8 = of_class(IntegerAttr, "8-bit signless integer attribute")


class ElementwiseOp(Op):
    """Base of the elementwise operations."""

    __slots__ = ()


class UnaryOp(ElementwiseOp):
    """Base of the unary operations."""

    __slots__ = ()

    input1 = operand(NUMBER_TENSOR)
    output = result(NUMBER_TENSOR)

    assembly = assembly(Operand("input1"), AttrDict(), ":", OperandsAndResultsType())


class BinaryOp(ElementwiseOp):
    """Base of the binary operations."""

    __slots__ = ()

    input1 = operand(NUMBER_TENSOR)
    input2 = operand(NUMBER_TENSOR)
    output = result(NUMBER_TENSOR)

    assembly = assembly(Operand("input1"), ",", Operand("input2"), AttrDict(), ":", OperandsAndResultsType())


class ComparisonOp(BinaryOp):
    """Base of the comparisons."""

    __slots__ = ()

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

    __slots__ = ()

    def fold(self, constants: Constants) -> FoldResult:
        return [self.input1] if isinstance(self.input1.defining_op, AbsOp) else None


@tosa.op("exp", *_SAME)
class ExpOp(UnaryOp):
    """The exponential function."""

    __slots__ = ()

    def fold(self, constants: Constants) -> FoldResult:
        inner = self.input1.defining_op
        return [inner.input1] if isinstance(inner, LogOp) else None


@tosa.op("log", *_SAME)
class LogOp(UnaryOp):
    """The natural logarithm."""

    __slots__ = ()

    def fold(self, constants: Constants) -> FoldResult:
        inner = self.input1.defining_op
        return [inner.input1] if isinstance(inner, ExpOp) else None


@tosa.op("negate", *_SAME)
class NegateOp(UnaryOp):
    """The negation."""

    __slots__ = ()

    quantization_info = optional_attr(of_class(Attribute, "Attribute for UnaryOp quantization information."))

    def fold(self, constants: Constants) -> FoldResult:
        inner = self.input1.defining_op
        return [inner.input1] if isinstance(inner, NegateOp) else None


@tosa.op("arithmetic_right_shift", *_SAME)
class ArithmeticRightShiftOp(BinaryOp):
    """Shifts bits right, filling with the sign bit."""

    __slots__ = ()

    round = attr(BOOL_ATTR)


@tosa.op("mul", PURE, BROADCASTABLE, COMMUTATIVE)
class MulOp(BinaryOp):
    """The product, shifted right by `shift` bits."""

    __slots__ = ()

    shift = attr(_I8)


@tosa.op("clamp", PURE, SAME_ELEMENT_TYPE)
class ClampOp(ElementwiseOp):
    """Clamps values to a range."""

    __slots__ = ()

    input = operand(NUMBER_TENSOR)
    min_int = attr(I64_ATTR)
    max_int = attr(I64_ATTR)
    min_fp = attr(_FLOAT)
    max_fp = attr(_FLOAT)
    output = result(NUMBER_TENSOR)

    assembly = assembly(Operand("input"), AttrDict(), ":", OperandsAndResultsType())


@tosa.op("select", PURE, BROADCASTABLE)
class SelectOp(ElementwiseOp):
    """Selects one of two values by a condition."""

    __slots__ = ()

    pred = operand(BOOLEAN_TENSOR)
    on_true = operand(NUMBER_TENSOR)
    on_false = operand(NUMBER_TENSOR)
    output = result(NUMBER_TENSOR)

    assembly = assembly(
        Operand("pred"),
        ",",
        Operand("on_true"),
        ",",
        Operand("on_false"),
        AttrDict(),
        ":",
        OperandsAndResultsType(),
    )

    def fold(self, constants: Constants) -> FoldResult:
        if self.on_true is self.on_false:
            return [self.on_true]
        condition = splat_of(constants[0])
        return None if condition is None else [self.on_true if condition else self.on_false]
