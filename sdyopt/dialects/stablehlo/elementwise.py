"""stablehlo operations that compute each element of the result from those in its place."""

from __future__ import annotations

import re
from collections.abc import Sequence

from sdyopt.dialects.quant import QuantizedType, UniformQuantizedPerAxis
from sdyopt.dialects.stablehlo import types
from sdyopt.dialects.stablehlo.asm import (
    AllOperands,
    ComplexOpType,
    SameOperandsAndResultType,
    SelectOpType,
    enum_attr,
)
from sdyopt.dialects.stablehlo.compatible import most_specific_type
from sdyopt.dialects.stablehlo.dialect import stablehlo
from sdyopt.dialects.stablehlo.enums import EnumAttr, enumeration
from sdyopt.dialects.stablehlo.traits import (
    BROADCASTING_ELEMENTWISE,
    COMPATIBLE_ELEMENT_TYPES,
    COMPATIBLE_OPERAND_ELEMENT_TYPES,
    COMPATIBLE_TYPES,
    HLO_COMMUTATIVE,
    INFERS_COMPATIBLE_TYPES,
)
from sdyopt.ir import fields
from sdyopt.ir.attribute import DictAttr
from sdyopt.ir.block import Region
from sdyopt.ir.constraints import I32_ATTR, non_negative, of_class, positive
from sdyopt.ir.fields import attr, operand, optional_attr, result
from sdyopt.ir.form import Form
from sdyopt.ir.numbers import integer
from sdyopt.ir.operation import Op
from sdyopt.ir.shape_traits import (
    ELEMENTWISE,
    SAME_OPERAND_ELEMENT_TYPE,
    SAME_SHAPE,
    are_compatible_shapes,
)
from sdyopt.ir.traits import NO_MEMORY_EFFECT
from sdyopt.ir.types import I1, I32, ComplexType, RankedTensor, Type, element_of, tensor
from sdyopt.syntax.assembly import (
    AttrDict,
    Custom,
    FunctionalType,
    Operand,
    Optional,
    assembly,
)
from sdyopt.syntax.spell import plain_type
from sdyopt.syntax.statement import Statement
from sdyopt.syntax.template import Template

_INFERRED = (INFERS_COMPATIBLE_TYPES, SAME_SHAPE, ELEMENTWISE, NO_MEMORY_EFFECT)
_SAME = (COMPATIBLE_TYPES, *_INFERRED)


# --- Two operands ---------------------------------------------------------------------------


class BinaryOp(Op):
    """Base of the operations on two operands of one type, which is the result's, too."""

    __slots__ = ()

    assembly = assembly(Operand("lhs"), ",", Operand("rhs"), AttrDict(), ":", SameOperandsAndResultType())

    @staticmethod
    def infer_result_types(form: Form, regions: Sequence[Region]) -> list[Type]:
        return [most_specific_type(form, form.operand_types)]


class AnyBinaryOp(BinaryOp):
    """Base of those on elements of any type."""

    __slots__ = ()

    lhs = operand(types.TENSOR)
    rhs = operand(types.TENSOR)
    out = result(types.TENSOR)


class NumberBinaryOp(BinaryOp):
    """Base of those that are not for bools."""

    __slots__ = ()

    lhs = operand(types.INT_FLOAT_COMPLEX_OR_QUANTIZED_TENSOR)
    rhs = operand(types.INT_FLOAT_COMPLEX_OR_QUANTIZED_TENSOR)
    out = result(types.INT_FLOAT_COMPLEX_OR_QUANTIZED_TENSOR)


class ShiftOp(BinaryOp):
    """Base of those that move bits."""

    __slots__ = ()

    lhs = operand(types.INT_TENSOR)
    rhs = operand(types.INT_TENSOR)
    out = result(types.INT_TENSOR)


class LogicalOp(BinaryOp):
    """Base of those on bools, or on the bits of integers."""

    __slots__ = ()

    lhs = operand(types.PRED_OR_INT_TENSOR)
    rhs = operand(types.PRED_OR_INT_TENSOR)
    out = result(types.TENSOR)


@stablehlo.op("add", HLO_COMMUTATIVE, *_INFERRED)
class AddOp(BinaryOp):
    """x + y; for bools, or."""

    __slots__ = ()

    lhs = operand(types.TENSOR_OR_PER_AXIS)
    rhs = operand(types.TENSOR_OR_PER_AXIS)
    out = result(types.TENSOR_OR_PER_AXIS)

    @staticmethod
    def verify_form(form: Form) -> None:
        elements = [element_of(type) for type in (form.lhs, form.rhs, form.out)]
        if any(isinstance(element, QuantizedType) for element in elements):
            _check_quantized_add(form, elements)
        elif any(element is not elements[0] for element in elements):
            raise form.located_error("op requires the same element type for all operands and results")


def _check_quantized_add(form: Form, elements: Sequence[Type]) -> None:
    quantized = [element for element in elements if isinstance(element, QuantizedType)]
    if len(quantized) != len(elements):  # add_c2
        raise form.located_error("expects  all operands and results to be either quantized or non-quantized")
    if any(element.storage is not quantized[0].storage for element in quantized):  # add_c3
        raise form.located_error("mismatched operands and result quantization storage types")
    if any(element.expressed is not quantized[0].expressed for element in quantized):  # add_c4
        raise form.located_error("mismatched operands and result quantization expressed types")
    *operands, total = elements
    is_per_axis = any(isinstance(element, UniformQuantizedPerAxis) for element in operands)
    if not isinstance(total, UniformQuantizedPerAxis):
        if is_per_axis:  # add_c5
            raise form.located_error("result is not per_axis quantized but lhs or rhs are")
        return
    if not is_per_axis:
        raise form.located_error("result per_axis quantized but none from rhs and lhs are per_axis quantized")
    for name, element in zip(("lhs", "rhs"), operands, strict=True):  # add_c6, add_c7
        if isinstance(element, UniformQuantizedPerAxis) and element.axis != total.axis:
            raise form.located_error(
                f"quantization_dimension of {name} and result are not same '{plain_type(element)}' vs "
                f"'{plain_type(total)}'"
            )


@stablehlo.op("subtract", *_SAME)
class SubtractOp(NumberBinaryOp):
    """x - y."""

    __slots__ = ()


@stablehlo.op("multiply", HLO_COMMUTATIVE, *_SAME)
class MulOp(AnyBinaryOp):
    """x * y; for bools, and."""

    __slots__ = ()


@stablehlo.op("divide", *_SAME)
class DivOp(NumberBinaryOp):
    """x / y, towards zero for integers."""

    __slots__ = ()


@stablehlo.op("remainder", *_SAME)
class RemOp(NumberBinaryOp):
    """What dividing x by y leaves, with the sign of x."""

    __slots__ = ()


@stablehlo.op("power", *_SAME)
class PowOp(NumberBinaryOp):
    """x to the power of y."""

    __slots__ = ()


@stablehlo.op("maximum", HLO_COMMUTATIVE, *_SAME)
class MaxOp(AnyBinaryOp):
    """The greater of two; for bools, or."""

    __slots__ = ()


@stablehlo.op("minimum", HLO_COMMUTATIVE, *_SAME)
class MinOp(AnyBinaryOp):
    """The lesser of two; for bools, and."""

    __slots__ = ()


@stablehlo.op("atan2", *_SAME)
class Atan2Op(BinaryOp):
    """The angle of the point (y, x)."""

    __slots__ = ()

    lhs = operand(types.FLOAT_COMPLEX_OR_QUANTIZED_TENSOR)
    rhs = operand(types.FLOAT_COMPLEX_OR_QUANTIZED_TENSOR)
    out = result(types.FLOAT_COMPLEX_OR_QUANTIZED_TENSOR)


@stablehlo.op("and", HLO_COMMUTATIVE, *_SAME)
class AndOp(LogicalOp):
    """Bits that are one in both."""

    __slots__ = ()


@stablehlo.op("or", HLO_COMMUTATIVE, *_SAME)
class OrOp(LogicalOp):
    """Bits that are one in any."""

    __slots__ = ()


@stablehlo.op("xor", HLO_COMMUTATIVE, *_SAME)
class XorOp(LogicalOp):
    """Bits that are one in just one."""

    __slots__ = ()


@stablehlo.op("shift_left", *_SAME)
class ShiftLeftOp(ShiftOp):
    """Bits moved to higher places, zeros behind them."""

    __slots__ = ()


@stablehlo.op("shift_right_arithmetic", *_SAME)
class ShiftRightArithmeticOp(ShiftOp):
    """Bits moved to lower places, the sign before them."""

    __slots__ = ()


@stablehlo.op("shift_right_logical", *_SAME)
class ShiftRightLogicalOp(ShiftOp):
    """Bits moved to lower places, zeros before them."""

    __slots__ = ()


@stablehlo.op("complex", SAME_OPERAND_ELEMENT_TYPE, *_INFERRED)
class ComplexOp(Op):
    """A complex number of its parts."""

    __slots__ = ()

    lhs = operand(types.FLOAT_32_64_TENSOR)
    rhs = operand(types.FLOAT_32_64_TENSOR)
    out = result(types.COMPLEX_TENSOR)

    assembly = assembly(AllOperands(), AttrDict(), ":", ComplexOpType())

    @staticmethod
    def infer_result_types(form: Form, regions: Sequence[Region]) -> list[Type]:
        return [RankedTensor(form.lhs.shape, ComplexType(form.lhs.element), form.lhs.encoding)]


# --- Comparing and choosing -----------------------------------------------------------------


@enumeration(stablehlo, "comparison_direction", "EQ", "NE", "GE", "GT", "LE", "LT")
class ComparisonDirection(EnumAttr):
    """Which comparison it is."""

    __slots__ = ()


@enumeration(stablehlo, "comparison_type", "NOTYPE", "FLOAT", "TOTALORDER", "SIGNED", "UNSIGNED")
class ComparisonType(EnumAttr):
    """How the elements are read, and whether all floats have an order."""

    __slots__ = ()


@stablehlo.op(
    "compare",
    NO_MEMORY_EFFECT,
    ELEMENTWISE,
    COMPATIBLE_OPERAND_ELEMENT_TYPES,
    SAME_SHAPE,
    INFERS_COMPATIBLE_TYPES,
)
class CompareOp(Op):
    """Whether two elements are equal, or the first is less, and so on."""

    __slots__ = ()

    lhs = operand(types.TENSOR)
    rhs = operand(types.TENSOR)
    out = result(types.PRED_TENSOR)
    comparison_direction = attr(of_class(ComparisonDirection, "Which comparison operation to perform."))
    compare_type = optional_attr(of_class(ComparisonType, "Which comparison type to use."))

    assembly = assembly(
        enum_attr("comparison_direction", ComparisonDirection),
        ",",
        Operand("lhs"),
        ",",
        Operand("rhs"),
        Optional(",", enum_attr("compare_type", ComparisonType), anchor="compare_type"),
        AttrDict(),
        ":",
        FunctionalType(),
    )

    @staticmethod
    def infer_result_types(form: Form, regions: Sequence[Region]) -> list[Type]:
        return [RankedTensor(form.lhs.shape, I1, form.lhs.encoding)]


@stablehlo.op("select", NO_MEMORY_EFFECT, BROADCASTING_ELEMENTWISE, INFERS_COMPATIBLE_TYPES)
class SelectOp(Op):
    """One of two elements, as a bool says; a single bool may speak for all."""

    __slots__ = ()

    pred = operand(types.PRED_TENSOR)
    on_true = operand(types.TENSOR)
    on_false = operand(types.TENSOR)
    out = result(types.TENSOR)

    assembly = assembly(AllOperands(), AttrDict(), ":", SelectOpType())

    @staticmethod
    def infer_result_types(form: Form, regions: Sequence[Region]) -> list[Type]:
        values = [form.on_true, form.on_false]
        if not are_compatible_shapes(values) or form.on_true.element is not form.on_false.element:
            raise form.located_error("requires compatible types for non-predicate operands")  # select_c2
        if form.pred.rank and not are_compatible_shapes([form.pred, form.on_true]):  # select_c1
            raise form.located_error("requires the same shape for all operands")
        return [most_specific_type(form, values)]


@stablehlo.op(
    "clamp", NO_MEMORY_EFFECT, COMPATIBLE_ELEMENT_TYPES, BROADCASTING_ELEMENTWISE, INFERS_COMPATIBLE_TYPES
)
class ClampOp(Op):
    """An element, or the limit that it is beyond; limits may be the same for all."""

    __slots__ = ()

    min = fields.operand(types.TENSOR)
    operand = fields.operand(types.TENSOR)
    max = fields.operand(types.TENSOR)
    out = result(types.TENSOR)

    assembly = assembly(
        Operand("min"),
        ",",
        Operand("operand"),
        ",",
        Operand("max"),
        AttrDict(),
        ":",
        SameOperandsAndResultType(),
    )

    @staticmethod
    def infer_result_types(form: Form, regions: Sequence[Region]) -> list[Type]:
        for name, type in (("min", form.min), ("max", form.max)):  # clamp_c1, clamp_c2
            if type.rank and not are_compatible_shapes([type, form.operand]):
                raise form.located_error(
                    f"{name} shape [{_shape(type)}] is not scalar and is not compatible to operand shape "
                    f"[{_shape(form.operand)}]"
                )
        return [tensor(form.operand.shape, form.operand.element)]


def _shape(type: RankedTensor) -> str:
    return ", ".join(map(str, type.shape))


# --- Precision ------------------------------------------------------------------------------


_FORMAT = re.compile(r"e(\d+)m(\d+)", re.ASCII)


def _parse_format(statement: Statement) -> None:
    """Reads `e5m10`."""
    offset = statement.skip()
    word = statement.word()
    match = _FORMAT.fullmatch(word)
    if match is None:
        raise statement.error(f"expected exponent mantissa in format e#m#, saw {word}", offset)
    for name, field, digits in (
        ("exponent", "exponent_bits", match[1]),
        ("mantissa", "mantissa_bits", match[2]),
    ):
        if len(digits) > 10 or int(digits) > 0x7FFFFFFF:
            raise statement.error(f"unable to parse {name} '{digits}'", offset)
        statement.attributes[field] = integer(int(digits), I32)


def _write_format(out: Template, form: Form, attributes: DictAttr) -> None:
    out.word(f"e{form.exponent_bits}m{form.mantissa_bits}")


@stablehlo.op("reduce_precision", NO_MEMORY_EFFECT, ELEMENTWISE, COMPATIBLE_TYPES, INFERS_COMPATIBLE_TYPES)
class ReducePrecisionOp(Op):
    """A float rounded to fewer bits, and back."""

    __slots__ = ()

    operand = operand(types.FLOAT_OR_QUANTIZED_TENSOR)
    out = result(types.FLOAT_OR_QUANTIZED_TENSOR)
    exponent_bits = attr(positive(I32_ATTR))
    mantissa_bits = attr(non_negative(I32_ATTR))

    assembly = assembly(
        Operand("operand"),
        ",",
        "format",
        "=",
        Custom(_parse_format, _write_format, elides=["exponent_bits", "mantissa_bits"]),
        AttrDict(),
        ":",
        SameOperandsAndResultType(),
    )

    @staticmethod
    def infer_result_types(form: Form, regions: Sequence[Region]) -> list[Type]:
        return [most_specific_type(form, form.operand_types)]
