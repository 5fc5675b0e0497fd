"""stablehlo.convolution and dynamic_conv."""

from __future__ import annotations

from sdyopt.mlir.asm.format.assembly_format import AttrDict, FunctionalType, Operand, assembly
from sdyopt.mlir.dialects.quant import QuantizedType, UniformQuantizedPerAxis
from sdyopt.mlir.dialects.stablehlo.attribute_constraints import I64_ELEMENTS, POSITIVE_I64
from sdyopt.mlir.dialects.stablehlo.contraction import check_quantized_product, check_result_shape
from sdyopt.mlir.dialects.stablehlo.conv_dimensions import (
    CONV_DIMENSIONS,
    ConvDimensions,
    conv_dimensions_attr,
)
from sdyopt.mlir.dialects.stablehlo.diagnostic_text import listing, quoted
from sdyopt.mlir.dialects.stablehlo.dialect import stablehlo
from sdyopt.mlir.dialects.stablehlo.dimensions import is_unique
from sdyopt.mlir.dialects.stablehlo.precision import PRECISION_CONFIG, check_precision
from sdyopt.mlir.dialects.stablehlo.type_compatibility import have_compatible_element_types
from sdyopt.mlir.dialects.stablehlo.types import (
    STATIC_2D_INT_TENSOR,
    TENSOR,
    TENSOR_OR_PER_AXIS_QUANTIZED_TENSOR,
)
from sdyopt.mlir.dialects.stablehlo.window import (
    Padding,
    checked_window,
    padding_pairs,
    pairs_of,
    window_result_shape,
)
from sdyopt.mlir.dialects.stablehlo.window_assembly import window_directive
from sdyopt.mlir.ir import op_fields
from sdyopt.mlir.ir.builtin_attributes import DenseElements
from sdyopt.mlir.ir.constraints import BOOL_ARRAY, I64_ARRAY
from sdyopt.mlir.ir.folding import constant_value
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.traits import NO_MEMORY_EFFECT
from sdyopt.mlir.ir.types import DYNAMIC, RankedTensor


class ConvolutionBaseOp(Op):
    """Base of convolution, where `padding` is an attribute, and dynamic_conv, where it is an operand."""

    __slots__ = ()

    lhs = op_fields.operand(TENSOR)
    rhs = op_fields.operand(TENSOR_OR_PER_AXIS_QUANTIZED_TENSOR)
    window_strides = op_fields.optional_attr(I64_ARRAY)
    lhs_dilation = op_fields.optional_attr(I64_ARRAY)
    rhs_dilation = op_fields.optional_attr(I64_ARRAY)
    window_reversal = op_fields.optional_attr(BOOL_ARRAY)
    dimension_numbers = op_fields.attr(CONV_DIMENSIONS)
    feature_group_count = op_fields.attr(POSITIVE_I64)
    batch_group_count = op_fields.attr(POSITIVE_I64)
    precision_config = op_fields.optional_attr(PRECISION_CONFIG)
    out = op_fields.result(TENSOR_OR_PER_AXIS_QUANTIZED_TENSOR)


@stablehlo.op("convolution", NO_MEMORY_EFFECT)
class ConvolutionOp(ConvolutionBaseOp):
    """Slides a kernel over the spatial dimensions of a tensor and sums the products."""

    __slots__ = ()

    padding = op_fields.optional_attr(I64_ELEMENTS)

    assembly = assembly(
        *("(", Operand("lhs"), ",", Operand("rhs"), ")"),
        *("dim_numbers", "=", conv_dimensions_attr("dimension_numbers"), ","),
        *("window", "=", "{", window_directive(), "}", AttrDict(), ":", FunctionalType()),
    )

    @staticmethod
    def verify_signature(signature: OpSignature) -> None:
        _check_operands(signature)
        padding = padding_pairs(signature, signature[ConvolutionOp.padding])
        check_result_shape(signature, _result_shape(signature, padding))
        _check_quantized(signature)


@stablehlo.op("dynamic_conv", NO_MEMORY_EFFECT)
class DynamicConvOp(ConvolutionBaseOp):
    """A convolution with padding given by an operand."""

    __slots__ = ()

    rhs = op_fields.operand(TENSOR)
    padding = op_fields.operand(STATIC_2D_INT_TENSOR)
    out = op_fields.result(TENSOR)

    @staticmethod
    def verify_signature(signature: OpSignature) -> None:
        _check_operands(signature)
        shape = list(signature[DynamicConvOp.padding].shape)
        expected = [signature[DynamicConvOp.lhs].rank - 2, 2]
        if shape != expected:  # dynamic_conv_c4
            raise signature.error_without_op_note(
                f"expects padding to be of shape {expected}, but got {shape}"
            )

    def verify_in_context(self) -> None:
        padding = constant_value(self.padding.defining_op)
        if isinstance(padding, DenseElements):
            # Checks the window. As in StableHLO's C++ verifier, the result may have another shape.
            _result_shape(self.signature, pairs_of(padding))
        _check_quantized(self.signature)


# --- Operands -------------------------------------------------------------------------------------


def _check_operands(signature: OpSignature) -> None:
    """Checks ranks, element types, dimension numbers, group counts and precision."""
    lhs, rhs = signature[ConvolutionBaseOp.lhs], signature[ConvolutionBaseOp.rhs]
    got = f"Got: {quoted(lhs)} and {quoted(rhs)}."
    if lhs.rank < 2:  # convolution_c13
        raise signature.error_without_op_note(f"expects convolution arguments to have >= 2 dimensions. {got}")
    if lhs.rank != rhs.rank:  # convolution_c1
        raise signature.error_without_op_note(
            f"expects convolution arguments to have same number of dimensions. {got}"
        )
    is_quantized = any(isinstance(type.element, QuantizedType) for type in (lhs, rhs))
    if not is_quantized and not have_compatible_element_types(lhs.element, rhs.element):  # convolution_c27
        raise signature.error_without_op_note(
            "expects lhs and rhs to have compatible element type. "
            f"Got: {quoted(lhs.element)} and {quoted(rhs.element)}"
        )
    dims = signature[ConvolutionBaseOp.dimension_numbers]
    _check_dimension_numbers(signature, dims, lhs.rank)
    _check_groups(signature, lhs, rhs, dims)
    check_precision(signature, signature[ConvolutionBaseOp.precision_config])  # convolution_c24
    if lhs.rank != len(dims.input_spatial) + 2:  # convolution_c12
        raise signature.error_without_op_note(
            f"expects convolution arguments to have {len(dims.input_spatial) + 2} dimensions. Got: {lhs.rank}"
        )


def _check_dimension_numbers(signature: OpSignature, dims: ConvDimensions, rank: int) -> None:
    spatial = dims.input_spatial, dims.kernel_spatial, dims.output_spatial
    counts = [len(dimensions) for dimensions in spatial]
    if len(set(counts)) > 1:  # convolution_c17, convolution_c19
        raise signature.error_without_op_note(
            "expects the same size for input, kernel and output spatial-dimensions, but got "
            f"{counts[0]}, {counts[1]}, and {counts[2]} resp."
        )
    lists = {"input": dims.input, "kernel": dims.kernel, "output": dims.output}
    # convolution_c13, convolution_c18, convolution_c20
    if not all(0 <= dimension < rank for dimensions in lists.values() for dimension in dimensions):
        raise signature.error_without_op_note(
            f"expects input, kernel, and output dimension-numbers to be in-range [0, {rank})."
        )
    for name, dimensions in lists.items():
        if not is_unique(dimensions):
            raise signature.error_without_op_note(
                f"expects {name} dimension-numbers to be unique, got {{{listing(dimensions)}}}."
            )


def _check_groups(signature: OpSignature, lhs: RankedTensor, rhs: RankedTensor, dims: ConvDimensions) -> None:
    """Checks the group counts against each other and against the batch and feature dimensions."""
    feature_groups = signature[ConvolutionBaseOp.feature_group_count]
    batch_groups = signature[ConvolutionBaseOp.batch_group_count]
    if batch_groups > 1 and feature_groups > 1:  # convolution_c23
        raise signature.error_without_op_note(
            "expects batch_group_count and feature_group_count not to be both greater than 1. "
            f"Got {batch_groups} and {feature_groups} resp."
        )
    input_batch, input_feature = lhs.shape[dims.input_batch], lhs.shape[dims.input_feature]
    kernel_input = rhs.shape[dims.kernel_input_feature]
    kernel_output = rhs.shape[dims.kernel_output_feature]
    if input_batch != DYNAMIC and input_batch % batch_groups:  # convolution_c10
        raise signature.error_without_op_note(
            f"expects input batch dimension ({input_batch}) to be divisible by batch_group_count. "
            f"Got batch_group_count = {batch_groups}."
        )
    if input_feature != DYNAMIC and input_feature % feature_groups:  # convolution_c11
        raise signature.error_without_op_note(
            f"expects input feature dimension ({input_feature}) to be a multiple of feature_group_count. "
            f"Got feature_group_count = {feature_groups}."
        )
    if DYNAMIC not in (input_feature, kernel_input) and input_feature // feature_groups != kernel_input:
        raise signature.error_without_op_note(  # convolution_c14
            f"expects input feature dimension ({input_feature}) / feature_group_count = kernel input "
            f"feature dimension ({kernel_input}). Got feature_group_count = {feature_groups}."
        )
    if kernel_output == DYNAMIC:
        return
    if kernel_output % batch_groups:  # convolution_c15
        raise signature.error_without_op_note(
            f"expects output feature dimension size ({kernel_output}) to be a multiple of "
            f"batch_group_count. Got batch_group_count = {batch_groups}."
        )
    if kernel_output % feature_groups:  # convolution_c16
        raise signature.error_without_op_note(
            f"expects kernel output feature dimension ({kernel_output}) to be divisible by "
            f"feature_group_count. For feature_group_count = {feature_groups}."
        )


# --- Result ---------------------------------------------------------------------------------------


def _result_shape(signature: OpSignature, padding: Padding) -> list[int]:
    """Checks the window and infers the shape of the result."""
    lhs, rhs = signature[ConvolutionBaseOp.lhs], signature[ConvolutionBaseOp.rhs]
    dims = signature[ConvolutionBaseOp.dimension_numbers]
    window = checked_window(
        signature,
        [rhs.shape[dimension] for dimension in dims.kernel_spatial],
        signature[ConvolutionBaseOp.window_strides],
        padding,
        signature[ConvolutionBaseOp.lhs_dilation],
        signature[ConvolutionBaseOp.rhs_dilation],
        signature[ConvolutionBaseOp.window_reversal],
    )
    positions = window_result_shape([lhs.shape[dimension] for dimension in dims.input_spatial], window)
    shape = [DYNAMIC] * lhs.rank
    for dimension, size in zip(dims.output_spatial, positions, strict=True):
        shape[dimension] = size
    batch, batch_groups = lhs.shape[dims.input_batch], signature[ConvolutionBaseOp.batch_group_count]
    shape[dims.output_batch] = DYNAMIC if batch == DYNAMIC else batch // batch_groups
    shape[dims.output_feature] = rhs.shape[dims.kernel_output_feature]
    return shape


def _check_quantized(signature: OpSignature) -> None:
    lhs, rhs = signature[ConvolutionBaseOp.lhs].element, signature[ConvolutionBaseOp.rhs].element
    out = signature[ConvolutionBaseOp.out].element
    if not any(isinstance(element, QuantizedType) for element in (lhs, rhs, out)):
        return
    dims = signature[ConvolutionBaseOp.dimension_numbers]
    if isinstance(rhs, UniformQuantizedPerAxis) and rhs.axis != dims.kernel_output_feature:
        raise signature.error_without_op_note(  # convolution_c29
            "quantization dimension of rhs should be same with kernel_output_feature_dimension"
        )
    if isinstance(out, UniformQuantizedPerAxis) and out.axis != dims.output_feature:  # convolution_c30
        raise signature.error_without_op_note(
            "quantization dimension of result should be same with output_feature_dimension"
        )
    check_quantized_product(signature, lhs, rhs, out)
