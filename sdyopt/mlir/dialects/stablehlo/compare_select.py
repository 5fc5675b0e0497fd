"""stablehlo.compare, select, clamp, reduce_precision, and operations that convert element types."""

from __future__ import annotations

import re
from collections.abc import Sequence

from sdyopt.base.patterns import constant_pattern
from sdyopt.mlir.asm.format.assembly_format import assembly
from sdyopt.mlir.asm.format.format_elements import custom
from sdyopt.mlir.asm.format.print_template import Template
from sdyopt.mlir.asm.parser.op_parser import OpAsmParser
from sdyopt.mlir.dialects.quant import QuantizedType
from sdyopt.mlir.dialects.stablehlo import types
from sdyopt.mlir.dialects.stablehlo.assembly_directives import (
    real_type,
)
from sdyopt.mlir.dialects.stablehlo.dialect import EnumAttr, enumeration, listing, quoted, stablehlo
from sdyopt.mlir.dialects.stablehlo.elementwise import (
    ELEMENTWISE_TRAITS,
    TYPE_INFERRING_ELEMENTWISE_TRAITS,
    UnaryOp,
)
from sdyopt.mlir.dialects.stablehlo.type_compatibility import (
    BROADCASTING_ELEMENTWISE,
    COMPATIBLE_ELEMENT_TYPES,
    COMPATIBLE_OPERAND_ELEMENT_TYPES,
    COMPATIBLE_TYPES,
    INFERS_COMPATIBLE_TYPES,
    bit_width,
    most_specific_operand_type,
    most_specific_type,
)
from sdyopt.mlir.ir import op_fields
from sdyopt.mlir.ir.attribute import DictAttr
from sdyopt.mlir.ir.block import Region
from sdyopt.mlir.ir.builtin_attributes import integer
from sdyopt.mlir.ir.op_fields import attr, operand, optional_attr, result
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.shape_traits import (
    ELEMENTWISE,
    SAME_SHAPE,
    SAME_SHAPE_REQUIRED,
    are_compatible_shapes,
    are_compatible_sizes,
)
from sdyopt.mlir.ir.traits import I32_ATTR, NO_MEMORY_EFFECT, non_negative, of_class, positive
from sdyopt.mlir.ir.types import DYNAMIC, I1, I32, ComplexType, RankedTensor, Type, tensor


@enumeration(stablehlo, "comparison_direction", "EQ", "NE", "GE", "GT", "LE", "LT")
class ComparisonDirection(EnumAttr):
    """The comparison operator, such as `LE` for "less than or equal to"."""


@enumeration(stablehlo, "comparison_type", "NOTYPE", "FLOAT", "TOTALORDER", "SIGNED", "UNSIGNED")
class ComparisonType(EnumAttr):
    """The comparison of elements: as signed or unsigned integers, or as floats, in IEEE or total order."""


@stablehlo.op(
    "compare",
    NO_MEMORY_EFFECT,
    ELEMENTWISE,
    COMPATIBLE_OPERAND_ELEMENT_TYPES,
    SAME_SHAPE,
    INFERS_COMPATIBLE_TYPES,
)
class CompareOp(Op):
    """Compares lhs and rhs elementwise by `comparison_direction`."""

    lhs = operand(types.TENSOR)
    rhs = operand(types.TENSOR)
    out = result(types.PRED_TENSOR)
    comparison_direction = attr(of_class(ComparisonDirection, "Which comparison operation to perform."))
    compare_type = optional_attr(of_class(ComparisonType, "Which comparison type to use."))

    assembly = assembly(
        "$comparison_direction `,` $lhs `,` $rhs (`,` $compare_type^)? attr-dict `:` "
        "functional-type(operands, results)"
    )

    @staticmethod
    def infer_result_types(signature: OpSignature, regions: Sequence[Region]) -> list[Type]:
        lhs = signature[CompareOp.lhs]
        return [RankedTensor(lhs.shape, I1, lhs.encoding)]


@stablehlo.op("select", NO_MEMORY_EFFECT, BROADCASTING_ELEMENTWISE, INFERS_COMPATIBLE_TYPES)
class SelectOp(Op):
    """Selects each element from on_true or on_false by `pred`, which may be a scalar."""

    pred = operand(types.PRED_TENSOR)
    on_true = operand(types.TENSOR)
    on_false = operand(types.TENSOR)
    out = result(types.TENSOR)

    assembly = assembly("operands attr-dict `:` custom<SelectOpType>")

    @staticmethod
    def infer_result_types(signature: OpSignature, regions: Sequence[Region]) -> list[Type]:
        on_true, on_false = signature[SelectOp.on_true], signature[SelectOp.on_false]
        pred = signature[SelectOp.pred]
        # select_c2
        if not are_compatible_shapes([on_true, on_false]) or on_true.element is not on_false.element:
            raise signature.error_without_op_note("requires compatible types for non-predicate operands")
        if pred.rank and not are_compatible_shapes([pred, on_true]):  # select_c1
            raise signature.error_without_op_note(SAME_SHAPE_REQUIRED(values="operands"))
        return [most_specific_type(signature, [on_true, on_false])]


@stablehlo.op(
    "clamp", NO_MEMORY_EFFECT, COMPATIBLE_ELEMENT_TYPES, BROADCASTING_ELEMENTWISE, INFERS_COMPATIBLE_TYPES
)
class ClampOp(Op):
    """Clamps each element between min and max, which may be scalars."""

    min = op_fields.operand(types.TENSOR)
    operand = op_fields.operand(types.TENSOR)
    max = op_fields.operand(types.TENSOR)
    out = result(types.TENSOR)

    assembly = assembly("$min `,` $operand `,` $max attr-dict `:` custom<SameOperandsAndResultType>")

    @staticmethod
    def infer_result_types(signature: OpSignature, regions: Sequence[Region]) -> list[Type]:
        operand = signature[ClampOp.operand]
        limits = (("min", signature[ClampOp.min]), ("max", signature[ClampOp.max]))
        for name, type in limits:  # clamp_c1, clamp_c2
            if type.rank and not are_compatible_shapes([type, operand]):
                raise signature.error_without_op_note(
                    f"{name} shape [{listing(type.shape)}] is not scalar and is not compatible to operand "
                    f"shape [{listing(operand.shape)}]"
                )
        return [tensor(operand.shape, operand.element)]


class ComplexPartOp(UnaryOp):
    """Base of real and imag; the result has the element type of the parts, or that of a float operand."""

    operand = operand(types.FLOAT_OR_COMPLEX_TENSOR)
    out = result(types.FLOAT_TENSOR)

    @staticmethod
    def infer_result_types(signature: OpSignature, regions: Sequence[Region]) -> list[Type]:
        return [real_type(signature[ComplexPartOp.operand])]


@stablehlo.op("abs", *TYPE_INFERRING_ELEMENTWISE_TRAITS)
class AbsOp(UnaryOp):
    """The absolute value."""

    operand = operand(types.SIGNED_FLOAT_COMPLEX_OR_QUANTIZED_TENSOR)
    out = result(types.SIGNED_FLOAT_OR_QUANTIZED_TENSOR)

    @staticmethod
    def infer_result_types(signature: OpSignature, regions: Sequence[Region]) -> list[Type]:
        return [real_type(signature[AbsOp.operand])]


@stablehlo.op("real", *TYPE_INFERRING_ELEMENTWISE_TRAITS)
class RealOp(ComplexPartOp):
    """The real part."""


@stablehlo.op("imag", *TYPE_INFERRING_ELEMENTWISE_TRAITS)
class ImagOp(ComplexPartOp):
    """The imaginary part."""


@stablehlo.op("is_finite", *TYPE_INFERRING_ELEMENTWISE_TRAITS)
class IsFiniteOp(Op):
    """Whether each element is neither infinite nor NaN."""

    x = operand(types.FLOAT_OR_QUANTIZED_TENSOR)
    y = result(types.PRED_TENSOR)

    assembly = assembly("operands attr-dict `:` functional-type(operands, results)")

    @staticmethod
    def infer_result_types(signature: OpSignature, regions: Sequence[Region]) -> list[Type]:
        x = signature[IsFiniteOp.x]
        return [RankedTensor(x.shape, I1, x.encoding)]


@stablehlo.op("convert", SAME_SHAPE, *ELEMENTWISE_TRAITS)
class ConvertOp(UnaryOp):
    """Converts each element to another element type."""

    operand = operand(types.NON_QUANTIZED_TENSOR)
    out = result(types.NON_QUANTIZED_TENSOR)


@stablehlo.op("uniform_quantize", *ELEMENTWISE_TRAITS)
class UniformQuantizeOp(UnaryOp):
    """Converts floats, or elements of another quantized type, to a quantized type."""

    operand = operand(types.FLOAT_PER_TENSOR_OR_PER_AXIS_QUANTIZED_TENSOR)
    out = result(types.PER_TENSOR_OR_PER_AXIS_QUANTIZED_TENSOR)

    @staticmethod
    def verify_signature(signature: OpSignature) -> None:
        source, target = (
            signature[UniformQuantizeOp.operand].element,
            signature[UniformQuantizeOp.out].element,
        )
        expected = source.expressed if isinstance(source, QuantizedType) else source
        assert isinstance(target, QuantizedType) and target.expressed is not None and expected is not None
        if target.expressed is not expected:  # uniform_quantize_c2
            raise signature.error_without_op_note(
                f"Expressed type of result expected to be {quoted(expected)}, but got "
                f"{quoted(target.expressed)}"
            )


@stablehlo.op("uniform_dequantize", *TYPE_INFERRING_ELEMENTWISE_TRAITS)
class UniformDequantizeOp(UnaryOp):
    """Converts quantized elements to their expressed type."""

    operand = operand(types.PER_TENSOR_OR_PER_AXIS_QUANTIZED_TENSOR)
    out = result(types.FLOAT_TENSOR)

    @staticmethod
    def infer_result_types(signature: OpSignature, regions: Sequence[Region]) -> list[Type]:
        operand = signature[UniformDequantizeOp.operand]
        assert isinstance(operand.element, QuantizedType) and operand.element.expressed is not None
        return [RankedTensor(operand.shape, operand.element.expressed, None)]


@stablehlo.op("bitcast_convert", NO_MEMORY_EFFECT)
class BitcastConvertOp(Op):
    """Reinterprets the bits as another element type.

    If the widths differ, the tensor with the narrower element type has an extra minor-most dimension.
    """

    operand = operand(types.TENSOR_OR_PER_AXIS_QUANTIZED_TENSOR)
    out = result(types.TENSOR_OR_PER_AXIS_QUANTIZED_TENSOR)

    assembly = assembly("operands attr-dict `:` functional-type(operands, results)")

    @staticmethod
    def verify_signature(signature: OpSignature) -> None:
        source, target = signature[BitcastConvertOp.operand], signature[BitcastConvertOp.out]
        got = f"{quoted(source)} and {quoted(target)}"
        if isinstance(source.element, ComplexType) != isinstance(target.element, ComplexType):
            raise signature.error_without_op_note(  # bitcast_convert_c2
                f"cannot convert between real and complex types, but got: {got}"
            )
        widths = [bit_width(source.element), bit_width(target.element)]
        (narrow_width, narrow), (wide_width, wide) = (
            ((widths[0], source.shape), (widths[1], target.shape))
            if widths[0] < widths[1]
            else ((widths[1], target.shape), (widths[0], source.shape))
        )
        if narrow_width != wide_width:  # bitcast_convert_c1
            if len(narrow) != len(wide) + 1:
                raise signature.error_without_op_note(
                    f"rank of smaller element type ({len(narrow)}) should be 1 more than rank of larger "
                    f"element type ({len(wide)}), but {len(narrow)} != {len(wide)} + 1."
                )
            last = narrow[-1]
            if last != DYNAMIC and last * narrow_width != wide_width:
                raise signature.error_without_op_note(
                    f"requires compatible bit widths. Got: {got}, but {narrow_width} * {last} != "
                    f"{wide_width}."
                )
            narrow = narrow[:-1]
        if not all(map(are_compatible_sizes, narrow, wide)):  # bitcast_convert_c1
            raise signature.error_without_op_note(
                "operand and result shapes must match except for the innermost dimension of the shape with "
                f"the smaller element type. Got: {got}."
            )


_FORMAT = constant_pattern(r"e(\d+)m(\d+)", re.ASCII)


@stablehlo.op("reduce_precision", NO_MEMORY_EFFECT, ELEMENTWISE, COMPATIBLE_TYPES, INFERS_COMPATIBLE_TYPES)
class ReducePrecisionOp(Op):
    """Rounds to the given numbers of exponent and mantissa bits; the element type is unchanged."""

    operand = operand(types.FLOAT_OR_QUANTIZED_TENSOR)
    out = result(types.FLOAT_OR_QUANTIZED_TENSOR)
    exponent_bits = attr(positive(I32_ATTR))
    mantissa_bits = attr(non_negative(I32_ATTR))

    @staticmethod
    def _parse_format(op_parser: OpAsmParser) -> None:
        """Parses a format such as `e5m10`."""
        offset = op_parser.skip_trivia()
        word = op_parser.keyword()
        match = _FORMAT.fullmatch(word)
        if match is None:
            raise op_parser.error(f"expected exponent mantissa in format e#m#, saw {word}", offset)
        for name, field, digits in (
            ("exponent", "exponent_bits", match[1]),
            ("mantissa", "mantissa_bits", match[2]),
        ):
            if len(digits) > 10 or int(digits) > 0x7FFFFFFF:
                raise op_parser.error(f"unable to parse {name} '{digits}'", offset)
            op_parser.attributes[field] = integer(int(digits), I32)

    @staticmethod
    def _write_format(out: Template, signature: OpSignature, attributes: DictAttr) -> None:
        out.word(
            f"e{signature[ReducePrecisionOp.exponent_bits]}m{signature[ReducePrecisionOp.mantissa_bits]}"
        )

    assembly = assembly(
        "$operand `,` `format` `=` custom<format>($exponent_bits, $mantissa_bits) attr-dict `:` "
        "custom<SameOperandsAndResultType>",
        format=custom(_parse_format, _write_format),
    )

    infer_result_types = staticmethod(most_specific_operand_type)
