"""stablehlo's contractions: dot, dot_general, einsum and unary_einsum."""

from __future__ import annotations

from sdyopt.mlir.asm.format.assembly_format import AttrDict, FunctionalType, Operand, assembly
from sdyopt.mlir.dialects.quant import QuantizedType, UniformQuantized, UniformQuantizedPerAxis
from sdyopt.mlir.dialects.stablehlo.assembly_directives import string_attr
from sdyopt.mlir.dialects.stablehlo.bounds import print_dimension_size
from sdyopt.mlir.dialects.stablehlo.diagnostic_text import quoted
from sdyopt.mlir.dialects.stablehlo.dialect import stablehlo
from sdyopt.mlir.dialects.stablehlo.dimensions import are_shapes_compatible
from sdyopt.mlir.dialects.stablehlo.dot_dimensions import (
    DOT_DIMENSIONS,
    check_dot_dimensions,
    dot_dimensions_directive,
    dot_result_shape,
)
from sdyopt.mlir.dialects.stablehlo.precision import (
    DOT_ALGORITHM,
    PRECISION_CONFIG,
    check_precision,
    precision_and_algorithm_directive,
    precision_directive,
    verify_algorithm,
)
from sdyopt.mlir.dialects.stablehlo.types import TENSOR, TENSOR_OR_PER_AXIS_QUANTIZED_TENSOR
from sdyopt.mlir.ir import op_fields
from sdyopt.mlir.ir.constraints import STRING_ATTR
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.shape_traits import are_compatible_sizes
from sdyopt.mlir.ir.traits import NO_MEMORY_EFFECT, PURE
from sdyopt.mlir.ir.types import RankedTensor, Type


@stablehlo.op("dot", PURE)
class DotOp(Op):
    """Vector and matrix products: out[m, n] = sum over k of lhs[m, k] * rhs[k, n]."""

    __slots__ = ()

    lhs = op_fields.operand(TENSOR)
    rhs = op_fields.operand(TENSOR_OR_PER_AXIS_QUANTIZED_TENSOR)
    precision_config = op_fields.optional_attr(PRECISION_CONFIG)
    out = op_fields.result(TENSOR_OR_PER_AXIS_QUANTIZED_TENSOR)

    assembly = assembly(
        Operand("lhs"), ",", Operand("rhs"), precision_directive(), AttrDict(), ":", FunctionalType()
    )

    @staticmethod
    def verify_signature(signature: OpSignature) -> None:
        check_precision(signature, signature[DotOp.precision_config])
        lhs, rhs = signature[DotOp.lhs], signature[DotOp.rhs]
        if not {lhs.rank, rhs.rank} <= {1, 2} or not are_compatible_sizes(lhs.shape[-1], rhs.shape[0]):
            raise signature.error_without_op_note("expected both lhs/rhs ranks to be either 1 or 2")
        check_result_shape(signature, [*lhs.shape[:-1], *rhs.shape[1:]])


@stablehlo.op("dot_general", NO_MEMORY_EFFECT)
class DotGeneralOp(Op):
    """Computes dot products over the contracting dimensions, for each index of the batching dimensions.

    For batches of matrices: out[b, m, n] = sum over k of lhs[b, m, k] * rhs[b, k, n].
    """

    __slots__ = ()

    lhs = op_fields.operand(TENSOR)
    rhs = op_fields.operand(TENSOR_OR_PER_AXIS_QUANTIZED_TENSOR)
    dot_dimension_numbers = op_fields.attr(DOT_DIMENSIONS)
    precision_config = op_fields.optional_attr(PRECISION_CONFIG)
    algorithm = op_fields.optional_attr(DOT_ALGORITHM)
    out = op_fields.result(TENSOR_OR_PER_AXIS_QUANTIZED_TENSOR)

    assembly = assembly(
        *(Operand("lhs"), ",", Operand("rhs"), ",", dot_dimensions_directive()),
        *(precision_and_algorithm_directive(), AttrDict(), ":", FunctionalType()),
    )

    @staticmethod
    def verify_signature(signature: OpSignature) -> None:
        algorithm = signature[DotGeneralOp.algorithm]
        if algorithm is not None and (message := verify_algorithm(algorithm)) is not None:
            raise signature.error(message)
        precision = signature[DotGeneralOp.precision_config]
        check_precision(signature, precision)  # dot_general_c11
        lhs, rhs, out = signature[DotGeneralOp.lhs], signature[DotGeneralOp.rhs], signature[DotGeneralOp.out]
        dims = signature[DotGeneralOp.dot_dimension_numbers]
        check_dot_dimensions(signature, lhs, rhs, dims)
        check_result_shape(signature, dot_result_shape(signature, lhs, rhs, dims))
        if algorithm is not None and any(p.value != "DEFAULT" for p in precision or ()):  # dot_general_c21
            raise signature.error_without_op_note(
                "must specify DEFAULT precision config when algorithm is set."
            )
        if any(isinstance(type.element, QuantizedType) for type in (lhs, rhs, out)):
            _check_quantized_dot(signature)


def check_result_shape(signature: OpSignature, inferred: list[int]) -> None:
    """Checks that the single result type is ranked and compatible with the inferred shape."""
    (type,) = signature.result_types
    if not isinstance(type, RankedTensor) or not are_shapes_compatible(inferred, type.shape):
        sizes = ", ".join(map(print_dimension_size, inferred))
        raise signature.error_without_op_note(
            f"inferred shape '[{sizes}]' is incompatible with return type of operation {quoted(type)}"
        )


def _check_quantized_dot(signature: OpSignature) -> None:
    element = signature[DotGeneralOp.rhs].element
    if isinstance(element, UniformQuantized) and element.zero_point != 0:  # dot_general_c15
        raise signature.error_without_op_note("Zero point of rhs should be 0")
    if isinstance(element, UniformQuantizedPerAxis):
        if any(element.all_zero_points):  # dot_general_c15
            raise signature.error_without_op_note("Zero points of rhs should be 0")
        if element.axis in signature[DotGeneralOp.dot_dimension_numbers].rhs_contracting:  # dot_general_c16
            raise signature.error_without_op_note(
                "Quantization dimension of rhs should not be in the contracting dimension of rhs"
            )
    lhs, out = signature[DotGeneralOp.lhs], signature[DotGeneralOp.out]
    check_quantized_product(signature, lhs.element, element, out.element)


def check_quantized_product(signature: OpSignature, lhs: Type, rhs: Type, out: Type) -> None:
    """Checks the element types of a product, at least one of which is quantized."""
    if not isinstance(rhs, QuantizedType) or isinstance(lhs, QuantizedType) != isinstance(
        out, QuantizedType
    ):  # convolution_c28, dot_general_c14
        raise signature.error_without_op_note(
            "rhs should be quantized for quantized operations and is_quantized(lhs)=is_quantized(result) "
            "should hold"
        )
    if not isinstance(lhs, QuantizedType) or not isinstance(out, QuantizedType):
        if lhs is not rhs.expressed or lhs is not out:  # convolution_c34, dot_general_c20
            raise signature.error_without_op_note(
                "mismatched rhs quantization expressed type and lhs and result element type"
            )
        return
    if lhs.storage is not rhs.storage:  # convolution_c31, dot_general_c17
        raise signature.error_without_op_note("mismatched lhs and rhs quantization storage types")
    if not lhs.expressed is rhs.expressed is out.expressed:  # convolution_c32, dot_general_c18
        raise signature.error_without_op_note("mismatched lhs, rhs and result quantization expressed types")
    if isinstance(rhs, UniformQuantized) and not isinstance(out, UniformQuantized):
        raise signature.error_without_op_note(  # convolution_c33, dot_general_c19
            "mismatched rhs and result quantization granularity"
        )


@stablehlo.op("einsum", PURE)
class EinsumOp(Op):
    """A product in Einstein summation notation, as in numpy.einsum."""

    __slots__ = ()

    lhs = op_fields.operand(TENSOR)
    rhs = op_fields.operand(TENSOR)
    einsum_config = op_fields.attr(STRING_ATTR)
    out = op_fields.result(TENSOR)

    assembly = assembly(
        *(Operand("lhs"), ",", Operand("rhs"), ",", "config", "=", string_attr("einsum_config")),
        *(AttrDict(), ":", FunctionalType()),
    )


@stablehlo.op("unary_einsum", PURE)
class UnaryEinsumOp(Op):
    """Einstein summation on a single operand: sums, diagonals and transposes."""

    __slots__ = ()

    operand = op_fields.operand(TENSOR)
    einsum_config = op_fields.attr(STRING_ATTR)
    out = op_fields.result(TENSOR)

    assembly = assembly(
        *(Operand("operand"), ",", "config", "=", string_attr("einsum_config")),
        *(AttrDict(), ":", FunctionalType()),
    )
