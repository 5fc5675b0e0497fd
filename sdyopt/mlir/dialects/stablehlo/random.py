"""stablehlo.rng and rng_bit_generator."""

from __future__ import annotations

from sdyopt.mlir.asm.format.assembly_format import assembly
from sdyopt.mlir.asm.printer.attribute_printer import plain_type
from sdyopt.mlir.dialects.stablehlo.dialect import (
    EnumAttr,
    are_shapes_compatible,
    enumeration,
    integers_of,
    quoted,
    stablehlo,
)
from sdyopt.mlir.dialects.stablehlo.type_compatibility import are_compatible
from sdyopt.mlir.dialects.stablehlo.types import (
    INT_OR_FLOAT_TENSOR,
    PRED_INT_OR_FLOAT_TENSOR,
    SCALAR_PRED_INT_OR_FLOAT_TENSOR,
    STATIC_DIMENSION_TENSOR,
    STATIC_INT_OR_FLOAT_TENSOR,
)
from sdyopt.mlir.ir import op_fields
from sdyopt.mlir.ir.builtin_attributes import DenseElements
from sdyopt.mlir.ir.constraints import of_class
from sdyopt.mlir.ir.folding import constant_value
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.shape_traits import same_element_types
from sdyopt.mlir.ir.traits import NO_MEMORY_EFFECT
from sdyopt.mlir.ir.types import DYNAMIC, FloatType, Type, tensor
from sdyopt.mlir.ir.verify_signature import infer_and_compare_types


@enumeration(stablehlo, "rng_distribution", "UNIFORM", "NORMAL")
class RngDistribution(EnumAttr):
    """The distribution of rng."""


@enumeration(stablehlo, "rng_algorithm", "DEFAULT", "THREE_FRY", "PHILOX")
class RngAlgorithm(EnumAttr):
    """The algorithm of rng_bit_generator."""


@stablehlo.op("rng", same_element_types("a", "b", "result"))
class RngOp(Op):
    """Random numbers: uniform in [a, b), or normal with mean a and standard deviation b."""

    a = op_fields.operand(SCALAR_PRED_INT_OR_FLOAT_TENSOR)
    b = op_fields.operand(SCALAR_PRED_INT_OR_FLOAT_TENSOR)
    shape = op_fields.operand(STATIC_DIMENSION_TENSOR)
    rng_distribution = op_fields.attr(of_class(RngDistribution, "XLA PRNG distribution to be used."))
    result = op_fields.result(PRED_INT_OR_FLOAT_TENSOR)

    assembly = assembly(
        "$a `,` $b `,` $shape `,` `distribution` `=` $rng_distribution attr-dict `:` "
        "functional-type(operands, results)"
    )

    def verify_in_context(self) -> None:
        constant = constant_value(self.shape.defining_op)
        sizes = integers_of(constant) if isinstance(constant, DenseElements) else None
        infer_and_compare_types(
            self.signature, lambda: _infer_rng(self.signature, sizes), are_compatible, plain_type
        )


def _infer_rng(signature: OpSignature, sizes: list[int] | None) -> list[Type]:
    elements = signature[RngOp.a].element, signature[RngOp.b].element
    is_uniform = signature[RngOp.rng_distribution].value == "UNIFORM"
    if not is_uniform and not all(isinstance(element, FloatType) for element in elements):
        raise signature.error_without_op_note("mu and sigma must be floats")
    shape = signature[RngOp.shape].shape[0] * (DYNAMIC,) if sizes is None else tuple(sizes)
    return [tensor(shape, elements[1])]


@stablehlo.op("rng_bit_generator", NO_MEMORY_EFFECT)
class RngBitGeneratorOp(Op):
    """Generates pseudo-random bits from a state; returns the updated state and the bits."""

    rng_algorithm = op_fields.attr(of_class(RngAlgorithm, "XLA PRNG algorithm to be used."))
    initial_state = op_fields.operand(INT_OR_FLOAT_TENSOR)
    output_state = op_fields.result(INT_OR_FLOAT_TENSOR)
    output = op_fields.result(STATIC_INT_OR_FLOAT_TENSOR)

    assembly = assembly(
        "$initial_state `,` `algorithm` `=` $rng_algorithm attr-dict `:` functional-type(operands, results)"
    )

    def name_results(self) -> list[tuple[int, str]]:
        return [(0, "output_state"), (1, "output")]

    @staticmethod
    def verify_signature(signature: OpSignature) -> None:
        initial = signature[RngBitGeneratorOp.initial_state]
        output = signature[RngBitGeneratorOp.output_state]
        if not are_shapes_compatible(initial.shape, output.shape):
            raise signature.error_without_op_note(
                "output state shape must be compatible with initial state shape. "
                f"Got: {quoted(initial)} and {quoted(output)}"
            )
