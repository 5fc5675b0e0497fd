"""stablehlo operations that multiply and sum: dot, dot_general, einsum."""

from __future__ import annotations

from sdyopt.dialects.quant import QuantizedType, UniformQuantized, UniformQuantizedPerAxis
from sdyopt.dialects.stablehlo.asm import string_attr
from sdyopt.dialects.stablehlo.bounds import spell_size
from sdyopt.dialects.stablehlo.dialect import stablehlo
from sdyopt.dialects.stablehlo.dimensions import are_shapes_compatible
from sdyopt.dialects.stablehlo.dot_dimensions import (
    DOT_DIMENSIONS,
    check_dot_dimensions,
    dot_dimensions_piece,
    dot_result_shape,
)
from sdyopt.dialects.stablehlo.precision import (
    DOT_ALGORITHM,
    PRECISION_CONFIG,
    algorithm_problem,
    check_precision,
    precision_and_algorithm_piece,
    precision_piece,
)
from sdyopt.dialects.stablehlo.types import TENSOR, TENSOR_OR_PER_AXIS
from sdyopt.ir import fields
from sdyopt.ir.constraints import STRING_ATTR
from sdyopt.ir.form import Form
from sdyopt.ir.operation import Op
from sdyopt.ir.shape_traits import are_compatible_sizes
from sdyopt.ir.traits import NO_MEMORY_EFFECT, PURE
from sdyopt.ir.types import RankedTensor, Type
from sdyopt.syntax.assembly import AttrDict, FunctionalType, Operand, assembly
from sdyopt.syntax.spell import plain_type


@stablehlo.op("dot", PURE)
class DotOp(Op):
    """Product of vectors and matrices: out[m, n] = sum over k of lhs[m, k] * rhs[k, n]."""

    __slots__ = ()

    lhs = fields.operand(TENSOR)
    rhs = fields.operand(TENSOR_OR_PER_AXIS)
    precision_config = fields.optional_attr(PRECISION_CONFIG)
    out = fields.result(TENSOR_OR_PER_AXIS)

    assembly = assembly(
        Operand("lhs"), ",", Operand("rhs"), precision_piece(), AttrDict(), ":", FunctionalType()
    )

    @staticmethod
    def verify_form(form: Form) -> None:
        check_precision(form)
        lhs, rhs = form.lhs, form.rhs
        if not {lhs.rank, rhs.rank} <= {1, 2} or not are_compatible_sizes(lhs.shape[-1], rhs.shape[0]):
            raise form.located_error("expected both lhs/rhs ranks to be either 1 or 2")
        check_result_shape(form, [*lhs.shape[:-1], *rhs.shape[1:]])


@stablehlo.op("dot_general", NO_MEMORY_EFFECT)
class DotGeneralOp(Op):
    """Batched matrix product: out[b, m, n] = sum over k of lhs[b, m, k] * rhs[b, k, n]."""

    __slots__ = ()

    lhs = fields.operand(TENSOR)
    rhs = fields.operand(TENSOR_OR_PER_AXIS)
    dot_dimension_numbers = fields.attr(DOT_DIMENSIONS)
    precision_config = fields.optional_attr(PRECISION_CONFIG)
    algorithm = fields.optional_attr(DOT_ALGORITHM)
    out = fields.result(TENSOR_OR_PER_AXIS)

    assembly = assembly(
        *(Operand("lhs"), ",", Operand("rhs"), ",", dot_dimensions_piece()),
        *(precision_and_algorithm_piece(), AttrDict(), ":", FunctionalType()),
    )

    @staticmethod
    def verify_form(form: Form) -> None:
        algorithm = form.algorithm
        if algorithm is not None and (problem := algorithm_problem(algorithm)) is not None:
            raise form.error(problem)
        check_precision(form)  # dot_general_c11
        check_dot_dimensions(form, form.lhs, form.rhs, form.dot_dimension_numbers)
        check_result_shape(form, dot_result_shape(form, form.lhs, form.rhs, form.dot_dimension_numbers))
        precision = form.precision_config or ()
        if algorithm is not None and any(p.value != "DEFAULT" for p in precision):  # dot_general_c21
            raise form.located_error("must specify DEFAULT precision config when algorithm is set.")
        if any(isinstance(type.element, QuantizedType) for type in (form.lhs, form.rhs, form.out)):
            _check_quantized_dot(form)


def check_result_shape(form: Form, inferred: list[int]) -> None:
    """The only result may have the shape that follows from the operands."""
    (type,) = form.result_types
    assert isinstance(type, RankedTensor)
    if not are_shapes_compatible(inferred, type.shape):
        sizes = ", ".join(map(spell_size, inferred))
        raise form.located_error(
            f"inferred shape '[{sizes}]' is incompatible with return type of operation '{plain_type(type)}'"
        )


def _check_quantized_dot(form: Form) -> None:
    element = form.rhs.element
    if isinstance(element, UniformQuantized) and element.zero != 0:  # dot_general_c15
        raise form.located_error("Zero point of rhs should be 0")
    if isinstance(element, UniformQuantizedPerAxis):
        if any(element.zeros):  # dot_general_c15
            raise form.located_error("Zero points of rhs should be 0")
        if element.axis in form.dot_dimension_numbers.rhs_contracting:  # dot_general_c16
            raise form.located_error(
                "Quantization dimension of rhs should not be in the contracting dimension of rhs"
            )
    check_quantized_product(form, form.lhs.element, element, form.out.element)


def check_quantized_product(form: Form, lhs: Type, rhs: Type, out: Type) -> None:
    """Elements of a product in which something is quantised go together."""
    if not isinstance(rhs, QuantizedType) or isinstance(lhs, QuantizedType) != isinstance(
        out, QuantizedType
    ):  # convolution_c28, dot_general_c14
        raise form.located_error(
            "rhs should be quantized for quantized operations and is_quantized(lhs)=is_quantized(result) "
            "should hold"
        )
    if not isinstance(lhs, QuantizedType) or not isinstance(out, QuantizedType):
        if lhs is not rhs.expressed or lhs is not out:  # convolution_c34, dot_general_c20
            raise form.located_error(
                "mismatched rhs quantization expressed type and lhs and result element type"
            )
        return
    if lhs.storage is not rhs.storage:  # convolution_c31, dot_general_c17
        raise form.located_error("mismatched lhs and rhs quantization storage types")
    if not lhs.expressed is rhs.expressed is out.expressed:  # convolution_c32, dot_general_c18
        raise form.located_error("mismatched lhs, rhs and result quantization expressed types")
    if isinstance(rhs, UniformQuantized) and not isinstance(out, UniformQuantized):
        raise form.located_error(  # convolution_c33, dot_general_c19
            "mismatched rhs and result quantization granularity"
        )


@stablehlo.op("einsum", PURE)
class EinsumOp(Op):
    """A product in Einstein's notation, as numpy has it."""

    __slots__ = ()

    lhs = fields.operand(TENSOR)
    rhs = fields.operand(TENSOR)
    einsum_config = fields.attr(STRING_ATTR)
    out = fields.result(TENSOR)

    assembly = assembly(
        *(Operand("lhs"), ",", Operand("rhs"), ",", "config", "=", string_attr("einsum_config")),
        *(AttrDict(), ":", FunctionalType()),
    )


@stablehlo.op("unary_einsum", PURE)
class UnaryEinsumOp(Op):
    """Sums, diagonals and transposes in Einstein's notation."""

    __slots__ = ()

    operand = fields.operand(TENSOR)
    einsum_config = fields.attr(STRING_ATTR)
    out = fields.result(TENSOR)

    assembly = assembly(
        *(Operand("operand"), ",", "config", "=", string_attr("einsum_config")),
        *(AttrDict(), ":", FunctionalType()),
    )
