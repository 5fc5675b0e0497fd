"""Identities of reductions: the element that leaves the other operand unchanged."""

from __future__ import annotations

from collections.abc import Callable

from sdyopt.mlir.dialects.sdy.ops import ConstantOp as SdyConstantOp
from sdyopt.mlir.dialects.stablehlo.broadcast import BroadcastInDimOp
from sdyopt.mlir.dialects.stablehlo.elementwise import AddOp, AndOp, MaxOp, MinOp, MulOp, OrOp, XorOp
from sdyopt.mlir.dialects.stablehlo.shapes import ReshapeOp
from sdyopt.mlir.ir.builtin_attributes import DenseElements, can_be_negative, element_size
from sdyopt.mlir.ir.floats import encode_double, extreme_bits
from sdyopt.mlir.ir.folding import constant_value
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.types import ComplexType, FloatType, IntegerType, Type
from sdyopt.mlir.ir.value import Value

# Reductions whose result changes if the initial value counts once for each device. A maximum does not change.
COUNTS_EACH = (AddOp, MulOp, XorOp)


def identity_of(combiner: type[Op], element: Type) -> bytes | None:
    """The bytes of the identity of a binary operation on an element type; None if it has none."""
    make = _IDENTITIES.get(combiner)
    return None if make is None else make(element)


def exact_sum_identity(element: Type) -> bytes:
    """The bytes of an element whose sum with any other is this other one, even if it is -0.0."""
    if isinstance(element, ComplexType):
        return 2 * exact_sum_identity(element.element)
    if isinstance(element, FloatType):
        return _little_endian(encode_double(-0.0, element.format), element)
    return bytes(element_size(element))


def _zero(element: Type) -> bytes | None:
    return bytes(element_size(element))


def _one(element: Type) -> bytes | None:
    if isinstance(element, ComplexType):
        one = _one(element.element)
        return None if one is None else one + bytes(element_size(element.element))
    if isinstance(element, FloatType):
        return _little_endian(encode_double(1.0, element.format), element)
    return _little_endian(1, element)


def _all_ones(element: Type) -> bytes | None:
    if not isinstance(element, IntegerType):
        return None
    return _integer(_all_bits(element) if not can_be_negative(element) else -1, element)


def _smallest(element: Type) -> bytes | None:
    if isinstance(element, FloatType):
        return _little_endian(extreme_bits(True, element.format), element)
    if isinstance(element, IntegerType):
        return _integer(-(1 << (element.width - 1)) if can_be_negative(element) else 0, element)
    return None


def _largest(element: Type) -> bytes | None:
    if isinstance(element, FloatType):
        return _little_endian(extreme_bits(False, element.format), element)
    if isinstance(element, IntegerType):
        return _integer(_all_bits(element) >> can_be_negative(element), element)
    return None


_IDENTITIES: dict[type[Op], Callable[[Type], bytes | None]] = {
    AddOp: _zero,
    OrOp: _zero,
    XorOp: _zero,
    MulOp: _one,
    AndOp: _all_ones,
    MaxOp: _smallest,
    MinOp: _largest,
}


def _all_bits(element: IntegerType) -> int:
    return (1 << element.width) - 1


def _integer(value: int, element: Type) -> bytes:
    return _little_endian(value & ((1 << 8 * element_size(element)) - 1), element)


def _little_endian(bits: int, element: Type) -> bytes:
    return bits.to_bytes(element_size(element), "little")


def is_identity(combiner: type[Op], value: Value) -> bool:
    """Whether a value is a constant, or broadcast from one, that is the identity of a binary operation."""
    constant = constant_of(value)
    return constant is not None and constant.data == identity_of(combiner, constant.type.element)


def constant_of(value: Value) -> DenseElements | None:
    """The constant that a value is, or is broadcast from; None for other values."""
    op = value.defining_op
    while isinstance(op, BroadcastInDimOp | ReshapeOp):
        op = op.operand_at(0).defining_op
    constant = op.value if isinstance(op, SdyConstantOp) else constant_value(op)
    return constant if isinstance(constant, DenseElements) else None
