"""Constant operands, and the check of constant operands that specify a result shape."""

from __future__ import annotations

from sdyopt.mlir.dialects.stablehlo.attribute_constraints import integers_of
from sdyopt.mlir.dialects.stablehlo.diagnostic_text import listing, quoted
from sdyopt.mlir.dialects.stablehlo.type_compatibility import is_compatible_shape
from sdyopt.mlir.ir.builtin_attributes import DenseElements
from sdyopt.mlir.ir.folding import constant_value
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.types import IndexType, IntegerType, Type
from sdyopt.mlir.ir.value import Value


def constant_integers(value: Value) -> list[int] | None:
    """The elements of an integer constant, read as signed; None for any other value."""
    elements = constant_value(value.defining_op)
    if not isinstance(elements, DenseElements) or not isinstance(
        elements.type.element, IntegerType | IndexType
    ):
        return None
    return integers_of(elements)


def check_shape_operand(op: Op, shape: Value, type: Type) -> None:
    """Checks that a shape operand, if constant, is compatible with the result type."""
    sizes = constant_integers(shape)
    if sizes is not None and not is_compatible_shape(sizes, type):
        raise op.signature.error_without_op_note(
            f"output shape [{listing(sizes)}] is incompatible with return type of operation {quoted(type)}"
        )
