"""Operations that work on each element alone; smaller operands are stretched to the result's shape."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from sdyopt.asm.format.assembly_format import AttrDict, Operand, assembly
from sdyopt.asm.format.typed_operands import OperandsAndResultsType
from sdyopt.dialects.arith.folding import splat_of
from sdyopt.dialects.tosa.dialect import BOOLEANS, BROADCASTABLE, NUMBERS, tosa
from sdyopt.ir.attribute import Attribute
from sdyopt.ir.constraints import BOOL_ATTR, I64_ATTR, of_class
from sdyopt.ir.numeric_attributes import FloatAttr, IntegerAttr
from sdyopt.ir.op_fields import attr, operand, optional_attr, result
from sdyopt.ir.operation import Op
from sdyopt.ir.shape_traits import SAME_ELEMENT_TYPE
from sdyopt.ir.traits import COMMUTATIVE, PURE, Trait
from sdyopt.ir.value import Value

Folded = Sequence[Value | Attribute] | None

_FLOAT = of_class(FloatAttr, "arbitrary float attribute")
_I8 = of_class(IntegerAttr, "8-bit signless integer attribute")


class ElementwiseOp(Op):
    """Base of all that works element by element."""

    __slots__ = ()


class UnaryOp(ElementwiseOp):
    """Base of those with one operand."""

    __slots__ = ()

    input1 = operand(NUMBERS)
    output = result(NUMBERS)

    assembly = assembly(Operand("input1"), AttrDict(), ":", OperandsAndResultsType())


class BinaryOp(ElementwiseOp):
    """Base of those with two operands."""

    __slots__ = ()

    input1 = operand(NUMBERS)
    input2 = operand(NUMBERS)
    output = result(NUMBERS)

    assembly = assembly(Operand("input1"), ",", Operand("input2"), AttrDict(), ":", OperandsAndResultsType())


class ComparisonOp(BinaryOp):
    """Base of those that give a truth value."""

    __slots__ = ()

    output = result(BOOLEANS)


def _define(base: type[Op], mnemonic: str, meaning: str, *traits: Trait, **members: Any) -> type[Op]:
    """Registers an operation that differs from others in its meaning only."""
    name = "".join(part.capitalize() for part in mnemonic.split("_")) + "Op"
    cls = type(name, (base,), {"__slots__": (), "__doc__": meaning, "__module__": __name__, **members})
    return tosa.op(mnemonic, *traits)(cls)


def _folds_to(inner: str) -> Callable[[Any, Sequence[Attribute | None]], Folded]:
    """What undoes the operation before it leaves nothing."""

    def fold(op: Any, constants: Sequence[Attribute | None]) -> Folded:
        before = op.operand_at(0).defining_op
        return [before.operand_at(0)] if before is not None and before.name == inner else None

    return fold


def _fold_twice(op: Any, constants: Sequence[Attribute | None]) -> Folded:
    """Doing it twice is doing it once."""
    before = op.operand_at(0).defining_op
    return [op.operand_at(0)] if before is not None and type(before) is type(op) else None


_SAME = (PURE, BROADCASTABLE, SAME_ELEMENT_TYPE)
_COMMUTES = (*_SAME, COMMUTATIVE)

_define(UnaryOp, "abs", "The value without its sign.", *_SAME, fold=_fold_twice)
_define(UnaryOp, "bitwise_not", "Every bit the other way.", *_SAME)
_define(UnaryOp, "ceil", "The nearest whole number above.", *_SAME)
_define(UnaryOp, "clz", "The number of leading zero bits.", *_SAME)
_define(UnaryOp, "exp", "e to the power of the value.", *_SAME, fold=_folds_to("tosa.log"))
_define(UnaryOp, "floor", "The nearest whole number below.", *_SAME)
_define(UnaryOp, "log", "The natural logarithm.", *_SAME, fold=_folds_to("tosa.exp"))
_define(UnaryOp, "logical_not", "Not.", *_SAME)
_define(UnaryOp, "reciprocal", "One over the value.", *_SAME)
_define(UnaryOp, "rsqrt", "One over the square root.", *_SAME)
_define(UnaryOp, "sigmoid", "One over one plus e to the power of minus the value.", *_SAME)
_define(UnaryOp, "tanh", "The hyperbolic tangent.", *_SAME)
_define(
    UnaryOp,
    "negate",
    "The value with the other sign.",
    *_SAME,
    fold=_folds_to("tosa.negate"),
    quantization_info=optional_attr(of_class(Attribute, "Attribute for UnaryOp quantization information.")),
)

_define(BinaryOp, "add", "The sum.", *_COMMUTES)
_define(BinaryOp, "bitwise_and", "The bits set in both.", *_COMMUTES)
_define(BinaryOp, "bitwise_or", "The bits set in one or both.", *_COMMUTES)
_define(BinaryOp, "bitwise_xor", "The bits set in one only.", *_COMMUTES)
_define(BinaryOp, "int_div", "The quotient, without what is left over.", *_SAME)
_define(BinaryOp, "logical_and", "Both.", *_COMMUTES)
_define(BinaryOp, "logical_left_shift", "Bits moved up.", *_SAME)
_define(BinaryOp, "logical_or", "One or both.", *_COMMUTES)
_define(BinaryOp, "logical_right_shift", "Bits moved down, zeros following.", *_SAME)
_define(BinaryOp, "logical_xor", "One only.", *_COMMUTES)
_define(BinaryOp, "maximum", "The greater value.", *_COMMUTES)
_define(BinaryOp, "minimum", "The lesser value.", *_COMMUTES)
_define(BinaryOp, "pow", "One value to the power of the other.", *_SAME)
_define(BinaryOp, "sub", "The difference.", *_SAME)
_define(
    BinaryOp,
    "arithmetic_right_shift",
    "Bits moved down, the sign following.",
    *_SAME,
    round=attr(BOOL_ATTR),
)
_define(BinaryOp, "mul", "The product, shifted down.", PURE, BROADCASTABLE, COMMUTATIVE, shift=attr(_I8))

_define(ComparisonOp, "equal", "Whether both are equal.", PURE, BROADCASTABLE, COMMUTATIVE)
_define(ComparisonOp, "greater", "Whether the first is greater.", PURE, BROADCASTABLE)
_define(ComparisonOp, "greater_equal", "Whether the first is not less.", PURE, BROADCASTABLE)


@tosa.op("clamp", PURE, SAME_ELEMENT_TYPE)
class ClampOp(ElementwiseOp):
    """The value, or the bound that it is beyond."""

    __slots__ = ()

    input = operand(NUMBERS)
    min_int = attr(I64_ATTR)
    max_int = attr(I64_ATTR)
    min_fp = attr(_FLOAT)
    max_fp = attr(_FLOAT)
    output = result(NUMBERS)

    assembly = assembly(Operand("input"), AttrDict(), ":", OperandsAndResultsType())


@tosa.op("select", PURE, BROADCASTABLE)
class SelectOp(ElementwiseOp):
    """One value or another, as a condition says."""

    __slots__ = ()

    pred = operand(BOOLEANS)
    on_true = operand(NUMBERS)
    on_false = operand(NUMBERS)
    output = result(NUMBERS)

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

    def fold(self, constants: Sequence[Attribute | None]) -> Folded:
        if self.on_true is self.on_false:
            return [self.on_true]
        chosen = splat_of(constants[0])
        return None if chosen is None else [self.on_true if chosen else self.on_false]
