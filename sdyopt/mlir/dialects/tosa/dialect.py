"""The tosa dialect object, the type constraints of its operations, and the broadcasting trait."""

from __future__ import annotations

from sdyopt.mlir.dialects.quant.types import QuantizedType
from sdyopt.mlir.ir.constraints import TypeConstraint
from sdyopt.mlir.ir.dialect import Dialect
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.traits import Trait
from sdyopt.mlir.ir.types import (
    DYNAMIC,
    I1,
    FloatType,
    IntegerType,
    RankedTensor,
    Type,
    UnrankedTensor,
)

tosa = Dialect("tosa")
tosa.is_inlinable = True


def _is_number(type: Type) -> bool:
    return isinstance(type, IntegerType | FloatType | QuantizedType)


NUMBER_TENSOR = TypeConstraint[Type](
    "tensor of number values",
    lambda type: isinstance(type, RankedTensor | UnrankedTensor) and _is_number(type.element),
)
BOOLEAN_TENSOR = TypeConstraint[Type](
    "tensor of 1-bit signless integer values",
    lambda type: isinstance(type, RankedTensor | UnrankedTensor) and type.element is I1,
)
TENSOR_3D = TypeConstraint[RankedTensor](
    "3-d tensor", lambda type: isinstance(type, RankedTensor) and type.rank == 3 and _is_number(type.element)
)


def _broadcast(one: tuple[int, ...], other: tuple[int, ...]) -> tuple[int, ...] | None:
    """The shape that two shapes are broadcast to; None if they are incompatible."""
    rank = max(len(one), len(other))
    sizes = zip((1,) * (rank - len(one)) + one, (1,) * (rank - len(other)) + other, strict=True)
    shape = []
    for a, b in sizes:
        if DYNAMIC in (a, b):
            other_size = b if a == DYNAMIC else a
            shape.append(other_size if other_size > 1 else DYNAMIC)
        elif a == b or 1 in (a, b):
            shape.append(b if a == 1 else a)
        else:
            return None
    return tuple(shape)


def _is_compatible(result: tuple[int, ...], broadcast: tuple[int, ...]) -> bool:
    """Whether the shape of a result matches the broadcast shape; a dynamic size matches any size."""
    if len(result) != len(broadcast):
        return False
    pairs = zip(result, broadcast, strict=True)
    return all(size == expected or DYNAMIC in (size, expected) for size, expected in pairs)


def _check_broadcast(signature: OpSignature) -> None:
    ranked = [type for type in signature.operand_types if isinstance(type, RankedTensor)]
    if len(ranked) != len(signature.operand_types) or not ranked:
        return
    shape: tuple[int, ...] | None = ranked[0].shape
    for type in ranked[1:]:
        shape = None if shape is None else _broadcast(shape, type.shape)
    if shape is None:
        raise signature.op_error("operands don't have broadcast-compatible shapes")
    for result in signature.result_types:
        if isinstance(result, RankedTensor) and not _is_compatible(result.shape, shape):
            raise signature.op_error(
                f"result type '{_text(result.shape)}' not broadcast compatible with broadcasted operands's "
                f"shapes '{_text(shape)}'"
            )


def _text(shape: tuple[int, ...]) -> str:
    return "x".join("?" if size == DYNAMIC else str(size) for size in shape)


BROADCASTABLE = Trait("results-broadcastable-shape", _check_broadcast)
