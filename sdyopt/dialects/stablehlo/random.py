"""stablehlo operations that make random numbers: rng, rng_bit_generator."""

from __future__ import annotations

from sdyopt.dialects.stablehlo.asm import enum_attr
from sdyopt.dialects.stablehlo.bodies import quoted
from sdyopt.dialects.stablehlo.compatible import are_compatible
from sdyopt.dialects.stablehlo.dialect import stablehlo
from sdyopt.dialects.stablehlo.dimensions import are_shapes_compatible
from sdyopt.dialects.stablehlo.enums import EnumAttr, enumeration
from sdyopt.dialects.stablehlo.kinds import integers_of
from sdyopt.dialects.stablehlo.types import (
    INT_OR_FLOAT_TENSOR,
    PRED_INT_OR_FLOAT_TENSOR,
    SCALAR_PRED_INT_OR_FLOAT_TENSOR,
    STATIC_DIMENSION_TENSOR,
    STATIC_INT_OR_FLOAT_TENSOR,
)
from sdyopt.ir import fields
from sdyopt.ir.constants import constant_value
from sdyopt.ir.constraints import of_class
from sdyopt.ir.elements import DenseElements
from sdyopt.ir.form import Form
from sdyopt.ir.operation import Op
from sdyopt.ir.shape_traits import same_element_types
from sdyopt.ir.traits import NO_MEMORY_EFFECT
from sdyopt.ir.types import DYNAMIC, FloatType, Type, tensor
from sdyopt.ir.verify_form import compare_types
from sdyopt.syntax.assembly import AttrDict, FunctionalType, Operand, assembly
from sdyopt.syntax.spell import plain_type


@enumeration(stablehlo, "rng_distribution", "UNIFORM", "NORMAL")
class RngDistribution(EnumAttr):
    """How random numbers are spread."""

    __slots__ = ()


@enumeration(stablehlo, "rng_algorithm", "DEFAULT", "THREE_FRY", "PHILOX")
class RngAlgorithm(EnumAttr):
    """How random bits are made."""

    __slots__ = ()


@stablehlo.op("rng", same_element_types("a", "b", "result"))
class RngOp(Op):
    """Random numbers between a and b, or around a with deviation b. Each run gives others."""

    __slots__ = ()

    a = fields.operand(SCALAR_PRED_INT_OR_FLOAT_TENSOR)
    b = fields.operand(SCALAR_PRED_INT_OR_FLOAT_TENSOR)
    shape = fields.operand(STATIC_DIMENSION_TENSOR)
    rng_distribution = fields.attr(of_class(RngDistribution, "XLA PRNG distribution to be used."))
    result = fields.result(PRED_INT_OR_FLOAT_TENSOR)

    assembly = assembly(
        *(Operand("a"), ",", Operand("b"), ",", Operand("shape"), ",", "distribution", "="),
        *(enum_attr("rng_distribution", RngDistribution), AttrDict(), ":", FunctionalType()),
    )

    def verify_place(self) -> None:
        sizes = constant_value(self.shape.defining_op)
        known = integers_of(sizes) if isinstance(sizes, DenseElements) else None
        compare_types(self.form, lambda: _infer_rng(self.form, known), are_compatible, plain_type)


def _infer_rng(form: Form, sizes: list[int] | None) -> list[Type]:
    elements = form.a.element, form.b.element
    is_uniform = form.rng_distribution.value == "UNIFORM"
    if not is_uniform and not all(isinstance(element, FloatType) for element in elements):
        raise form.located_error("mu and sigma must be floats")
    shape = form.shape.shape[0] * (DYNAMIC,) if sizes is None else tuple(sizes)
    return [tensor(shape, elements[1])]


@stablehlo.op("rng_bit_generator", NO_MEMORY_EFFECT)
class RngBitGeneratorOp(Op):
    """Random bits that follow from a state, and the state after them."""

    __slots__ = ()

    rng_algorithm = fields.attr(of_class(RngAlgorithm, "XLA PRNG algorithm to be used."))
    initial_state = fields.operand(INT_OR_FLOAT_TENSOR)
    output_state = fields.result(INT_OR_FLOAT_TENSOR)
    output = fields.result(STATIC_INT_OR_FLOAT_TENSOR)

    assembly = assembly(
        *(Operand("initial_state"), ",", "algorithm", "=", enum_attr("rng_algorithm", RngAlgorithm)),
        *(AttrDict(), ":", FunctionalType()),
    )

    def name_results(self) -> list[tuple[int, str]]:
        return [(0, "output_state"), (1, "output")]

    @staticmethod
    def verify_form(form: Form) -> None:
        initial, output = form.initial_state, form.output_state
        if not are_shapes_compatible(initial.shape, output.shape):
            raise form.located_error(
                "output state shape must be compatible with initial state shape. "
                f"Got: {quoted(initial)} and {quoted(output)}"
            )
