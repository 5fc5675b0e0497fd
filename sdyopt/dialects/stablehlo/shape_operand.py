"""Operands that hold a shape: where they are constants, their values are checked."""

from __future__ import annotations

from sdyopt.asm.printer.attribute_printer import plain_type
from sdyopt.dialects.stablehlo.attribute_kinds import integers_of
from sdyopt.dialects.stablehlo.type_compatibility import is_compatible_shape
from sdyopt.ir.elements_attributes import DenseElements
from sdyopt.ir.folding import constant_value
from sdyopt.ir.operation import Op
from sdyopt.ir.types import IndexType, IntegerType, Type
from sdyopt.ir.value import Value


def constant_integers(value: Value) -> list[int] | None:
    """The elements of a constant tensor of integers, as signed numbers; None if it is none."""
    elements = constant_value(value.defining_op)
    if not isinstance(elements, DenseElements) or not isinstance(
        elements.type.element, IntegerType | IndexType
    ):
        return None
    return integers_of(elements)


def check_shape_operand(op: Op, shape: Value, type: Type) -> None:
    """If the shape is known, the result must be able to have it."""
    sizes = constant_integers(shape)
    if sizes is not None and not is_compatible_shape(sizes, type):
        raise op.signature.located_error(
            f"output shape [{', '.join(map(str, sizes))}] is incompatible with return type of operation "
            f"'{plain_type(type)}'"
        )
